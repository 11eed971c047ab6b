// What a bounded caller is shown, and what is not to be found in it.
import { describe, expect, test } from 'vitest';
import { LeaseError } from '../../domain/errors.js';
import type { LeaseEvent } from '../../domain/events.js';
import type { Caller } from '../context.js';
import { redactError, redactRefusal, visibleEvent, visibleGraph, visibleLease } from './redact.js';

const bound: Caller = { tokenId: 'a1', name: 'ci', role: 'write', prefix: 'orders/eu', owner: undefined };
const whole: Caller = { ...bound, prefix: undefined };
const part = (name: string) => ({ name, scope: 'node', mode: 'exclusive' }) as const;
const holder = (name: string, ...more: string[]) => ({
  id: 'lease-1',
  owner: 'secret-owner',
  parts: [name, ...more].map(part),
  metadata: { 'holdfast:token': 'b2', 'holdfast:metadata': { note: name } },
});

describe('W3: what a caller may see', () => {
  test('W3: a lease outside is not shown, one partly outside by its parts inside', () => {
    expect(visibleLease(bound, holder('orders/us'))).toBeUndefined();
    const partly = visibleLease(bound, holder('orders/us', 'orders/eu/1'));
    expect(partly).toMatchObject({ parts: [part('orders/eu/1')] });
    expect(JSON.stringify(partly)).not.toMatch(/orders\/us|note|holdfast:/);
    expect(visibleLease(bound, holder('orders/eu'))?.metadata).toEqual({ note: 'orders/eu' });
    expect(visibleLease(whole, holder('x'))?.metadata).toEqual({ note: 'x' });
  });

  test('W3: a holder outside is told as held, without names, in facts and sentence', () => {
    const refusal = { reason: 'held', holders: [holder('orders')], holderCount: 1, queueLength: 2, retryAfterMs: 5 };
    expect(redactRefusal(bound, refusal)).toEqual({ ...refusal, holders: [] });
    const error = new LeaseError('ACQUIRE_TIMEOUT', 'orders/eu/1 is not free: held by secret-owner (epoch 7)', {
      details: { refusal },
    });
    const told = redactError(bound, error);
    expect(told).toMatchObject({ code: 'ACQUIRE_TIMEOUT', retryable: true, message: 'not free: held' });
    expect(JSON.stringify(told.details)).not.toContain('secret-owner');
    expect(redactError(whole, error).message).toBe(error.message);
    const inside = new LeaseError('ACQUIRE_TIMEOUT', 'held by it', {
      details: { refusal: { ...refusal, holders: [holder('orders/eu')] } },
    });
    expect(redactError(bound, inside).message).toBe('held by it');
  });

  test('W3: of a deadlock the steps outside are hidden', () => {
    const steps = ['orders/eu/1', 'orders/us'].map((resource) => ({
      ticketId: `t-${resource}`,
      owner: `o-${resource}`,
      resource,
      heldBy: `h-${resource}`,
    }));
    const error = new LeaseError('DEADLOCK', 'o-orders/us waits', { details: { cycle: steps } });
    const told = redactError(bound, error);
    expect(JSON.stringify([told.message, told.details])).not.toContain('orders/us');
    expect(told.details['cycle']).toHaveLength(2);
  });

  test('W3: events are bounded by name, sentence included', () => {
    const event = (given: object): LeaseEvent => ({
      id: 'p',
      type: 'lease.acquired',
      at: '2026-01-01T00:00:00.000Z',
      namespace: 'default',
      actor: 'w',
      epoch: 7,
      sentence: 'Acquired orders/us, epoch 7',
      data: {},
      ...given,
    });
    expect(visibleEvent('orders/eu', event({ resource: 'orders/us' }))).toBeUndefined();
    expect(visibleEvent('orders/eu', event({ type: 'alert.raised' }))).toBeUndefined();
    expect(visibleEvent('orders/eu', event({ type: 'events.lost' }))).toBeDefined();
    const inside = event({ resource: 'orders/eu/1' });
    expect(visibleEvent('orders/eu', inside)).toBe(inside);
    const several = event({
      resource: 'orders/us',
      resources: ['orders/us', 'orders/eu/1'],
      data: { parts: [part('orders/us'), part('orders/eu/1')] },
    });
    expect(visibleEvent('orders/eu', several)).toEqual({
      ...event({ resource: 'orders/eu/1', sentence: 'Acquired orders/eu/1, epoch 7' }),
      data: { parts: [part('orders/eu/1')] },
    });
    expect(visibleEvent(undefined, several)).toBe(several);
  });

  test('W3: the wait graph is bounded on both ends of a wait', () => {
    const ticket = (id: string, resource: string) => ({
      id,
      owner: 'o',
      resource,
      arrival: 1,
      holding: [],
      waitsForLeases: [{ id: 'l', owner: 'secret-owner', resource: 'orders/us' }],
      waitsForTickets: ['t1', 't2'],
      waitsForOneOf: { leases: [], tickets: ['t2'] },
    });
    const seen = visibleGraph(bound, { tickets: [ticket('t1', 'orders/eu/1'), ticket('t2', 'orders/us')] });
    expect(seen.tickets).toEqual([
      {
        ...ticket('t1', 'orders/eu/1'),
        waitsForLeases: [],
        waitsForTickets: ['t1'],
        waitsForOneOf: { leases: [], tickets: [] },
      },
    ]);
  });
});
