// Expected noes in words: what a caller reads when it did not get its lease, and the facts that go with it.
import { expect, test } from 'vitest';
import { exclusive, leaseRow } from '../../test/support/domain-values.js';
import type { StoreRefusal } from '../domain/decide.js';
import { leaseAt } from '../domain/lease.js';
import { aborted, deadlocked, endedElsewhere, heldBySelf, nameOf, notInTime, toRefusal } from './refusals.js';

const holder = leaseAt(leaseRow({ owner: 'bob', epoch: 41, expiresAt: Date.UTC(2026, 0, 1) }), 0);
const held: StoreRefusal = { reason: 'held', holders: [holder], holderCount: 1, queueLength: 0, retryAfterMs: 900 };
const parts = [exclusive('orders/0')];

test('A1: a refusal carries its holders as records', () => {
  const refusal = toRefusal(held);
  expect(refusal).toMatchObject({ reason: 'held', holderCount: 1, queueLength: 0, retryAfterMs: 900 });
  expect(refusal.holders[0]).toMatchObject({ owner: 'bob', epoch: 41, expiresAt: '2026-01-01T00:00:00.000Z' });
});

test('one name, or the first and how many more', () => {
  expect(nameOf(parts)).toBe('orders/0');
  expect(nameOf([...parts, exclusive('b'), exclusive('c')])).toBe('orders/0 and 2 more');
  expect(nameOf([])).toBe('');
});

test('A1, A11: not in time says what stood in the way, and until when', () => {
  const error = notInTime(parts, 5_000, held);
  expect(error).toMatchObject({ code: 'ACQUIRE_TIMEOUT', retryable: true });
  expect(error.message).toBe('orders/0 was not free within 5s: held by bob (epoch 41) until 2026-01-01T00:00:00.000Z');
  expect(error.details['refusal']).toEqual(toRefusal(held));
});

test('A1: the words for no wait, for others, for a queue and for a block', () => {
  const crowd = { ...held, holderCount: 3, queueLength: 2 };
  expect(notInTime(parts, 0, crowd).message).toBe(
    'orders/0 is not free: held by bob and 2 more (epoch 41) until 2026-01-01T00:00:00.000Z; 2 ahead in the queue',
  );
  const block: StoreRefusal = { ...held, reason: 'min_hold', holders: [], holderCount: 0, retryAfterMs: 90_000 };
  expect(notInTime(parts, 0, block).message).toBe('orders/0 is not free: min_hold, for 1m30s at least');
  const silence = notInTime(parts, 1_000, undefined);
  expect(silence.message).toBe('orders/0 was not free within 1s: the store did not answer in time');
  expect(silence.details).toEqual({});
});

test('A11: an abort keeps the reason its signal was given', () => {
  const reason = new Error('the user left');
  expect(aborted(parts, reason)).toMatchObject({ code: 'ACQUIRE_ABORTED', retryable: false, cause: reason });
});

test('Q4: a deadlock names the cycle in words and in details', () => {
  const cycle = [
    { ticketId: 't1', owner: 'alice', resource: 'b', heldBy: 'bob' },
    { ticketId: 't2', owner: 'bob', resource: 'a', heldBy: 'alice' },
  ];
  const error = deadlocked(parts, cycle);
  expect(error).toMatchObject({ code: 'DEADLOCK', retryable: true, details: { cycle } });
  expect(error.message).toContain('alice waits for b held by bob, bob waits for a held by alice');
  expect(heldBySelf(parts, held)).toMatchObject({ code: 'DEADLOCK', retryable: false });
  expect(heldBySelf(parts, held).message).toContain('nested in');
});

test('A11: ended by others says how', () => {
  expect(endedElsewhere(parts, 'revoked', 'maintenance')).toMatchObject({
    code: 'ACQUIRE_ABORTED',
    details: { status: 'revoked', reason: 'maintenance' },
  });
  expect(endedElsewhere(parts, 'failed', 'lease_lost')).toMatchObject({ code: 'LEASE_LOST' });
  expect(endedElsewhere(parts, 'failed', undefined).message).toContain('failed, no reason');
});
