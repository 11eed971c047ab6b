// Why a lease is gone, in one error each: its code, its words, and the facts that say which lease it was.
import { expect, test } from 'vitest';
import { leaseRow } from '../../test/support/domain-values.js';
import { leaseAt } from '../domain/lease.js';
import { lostByAnswer, lostByDeadline, noLongerHeld } from './loss.js';

const lease = leaseAt(leaseRow({ epoch: 41, maxRenewals: 3, expiresAt: Date.UTC(2026, 0, 1) }), 0);
const facts = {
  leaseId: lease.id,
  epoch: 41,
  owner: 'someone',
  resource: 'orders/0',
  expiresAt: '2026-01-01T00:00:00.000Z',
};

test('S7, S12: the deadline passed', () => {
  const error = lostByDeadline(lease, undefined);
  expect(error).toMatchObject({ code: 'LEASE_LOST', retryable: false });
  expect(error.message).toBe('Lost lease for orders/0 (expired at 2026-01-01T00:00:00.000Z)');
  expect(error.details).toEqual({ ...facts, how: 'expired' });
});

test('A5: at maxRenewals and maxHold the code says so', () => {
  expect(lostByDeadline(lease, 'MAX_RENEWALS')).toMatchObject({ code: 'MAX_RENEWALS' });
  expect(lostByDeadline(lease, 'MAX_RENEWALS').message).toContain('used up its 3 renewals');
  expect(lostByDeadline(lease, 'MAX_HOLD')).toMatchObject({ code: 'MAX_HOLD', details: { how: 'expired' } });
});

test('A4, A6: without progress, or abandoned', () => {
  expect(lostByDeadline(lease, 'no_progress').message).toContain('no progress was reported in time');
  expect(lostByDeadline(lease, 'abandoned')).toMatchObject({ code: 'LEASE_LOST', details: { cause: 'abandoned' } });
});

test.each([
  [{ status: 'revoked' }, 'revoked', 'the store says: revoked'],
  [{ status: 'expired' }, 'expired', 'the store says: expired'],
  [{ status: 'unknown' }, 'unknown', 'the store says: unknown'],
  [{ status: 'active', epoch: 42 }, 'superseded', 'superseded by epoch 42'],
  [{ status: 'released', epoch: 43 }, 'superseded', 'superseded by epoch 43'],
  [{ status: 'active' }, 'unknown', 'the store says: active'],
] as const)('S15: a definite no, %o', (answer, how, words) => {
  const error = lostByAnswer(lease, { outcome: 'notHeld', ...answer });
  expect(error).toMatchObject({ code: 'LEASE_LOST', details: { how, status: answer.status } });
  expect(error.message).toContain(words);
  const current = 'epoch' in answer ? { current: answer.epoch, attempted: 41 } : {};
  expect(error.details).toEqual({ ...facts, how, status: answer.status, ...current });
});

test('S7: in doubt is no loss yet; let go is none at all', () => {
  expect(noLongerHeld(lease, 'inDoubt')).toMatchObject({
    code: 'LEASE_LOST',
    retryable: true,
    details: { inDoubt: true },
  });
  expect(noLongerHeld(lease, 'left')).toMatchObject({ code: 'NOT_HELD', details: facts });
});
