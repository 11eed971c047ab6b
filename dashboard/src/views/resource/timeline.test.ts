// Spans of ownership out of events and holders, and the bars that are drawn for them.
import { describe, expect, test } from 'vitest';
import type { LeaseEvent, LeaseRecord } from '../../api/types.js';
import { barsOf, spansOf } from './timeline.js';

const at = (seconds: number): string => new Date(seconds * 1_000).toISOString();
function event(type: string, seconds: number, more: Partial<LeaseEvent> = {}): LeaseEvent {
  return {
    ...{ id: `${type} ${seconds}`, type, at: at(seconds), namespace: 'n', resource: 'a', leaseId: 'l1', owner: 'ann' },
    ...{ epoch: 1, actor: 'ann', sentence: '', data: {}, ...more },
  };
}
const holder = (more: Partial<LeaseRecord> = {}): LeaseRecord => ({
  ...{ id: 'l1', parts: [], owner: 'ann', epoch: 1, status: 'active', ttlMs: 30_000, skewMs: 0, renewals: 0 },
  ...{ acquiredAt: at(1), renewedAt: at(1), expiresAt: at(31), maxRenewals: -1, ...more },
});
const told = (events: LeaseEvent[], holders: LeaseRecord[] = []) =>
  spansOf(events, holders).map(({ owner, epoch, from, to, end }) => [owner, epoch, from, to, end]);

describe('who had it', () => {
  test('one after the other, newest first, the present one on top', () => {
    const events = [
      event('lease.acquired', 1),
      event('lease.released', 4),
      event('lease.acquired', 5, { leaseId: 'l2', owner: 'bob', epoch: 2 }),
    ];
    expect(told(events, [holder({ id: 'l2', owner: 'bob', epoch: 2, acquiredAt: at(5) })])).toEqual([
      ['bob', 2, 5_000, undefined, 'held'],
      ['ann', 1, 1_000, 4_000, 'released'],
    ]);
  });

  test('a log that is ahead of the holders is believed: who was revoked holds nothing, who came after holds', () => {
    const events = [
      event('lease.acquired', 1),
      event('lease.revoked', 4, { actor: 'ops', from: 'active' }),
      event('lease.acquired', 4, { leaseId: 'l2', owner: 'bob', epoch: 2, data: { expiresAt: 34_000 } }),
    ];
    expect(told(events, [holder()])).toEqual([
      ['bob', 2, 4_000, undefined, 'held'],
      ['ann', 1, 1_000, 4_000, 'revoked'],
    ]);
  });

  test('an expiry ends when it ran out, not when it was written down', () => {
    const events = [event('lease.acquired', 1), event('lease.expired', 90, { data: { expiresAt: 31_000 } })];
    expect(told(events)).toEqual([['ann', 1, 1_000, 31_000, 'expired']]);
  });

  test('handing on begins a span of the next owner, and the first owner keeps its own', () => {
    const events = [
      event('lease.acquired', 1),
      event('lease.delegated', 3, { owner: 'bob', epoch: 2, data: { fromOwner: 'ann' } }),
      event('lease.revoked', 6, { owner: 'bob', epoch: 2, actor: 'ops', reason: 'stuck', from: 'active' }),
    ];
    expect(spansOf(events, [])).toMatchObject([
      { owner: 'bob', epoch: 2, from: 3_000, to: 6_000, end: 'revoked', by: 'ops', reason: 'stuck' },
      { owner: 'ann', epoch: 1, from: 1_000, to: 3_000, end: 'delegated', toOwner: 'bob' },
    ]);
  });

  test('a beginning that is further back is open, a ticket that ended is no span', () => {
    const events = [
      event('lease.released', 4, { from: 'active' }),
      event('lease.revoked', 5, { leaseId: 't1', owner: 'tim', from: 'pending' }),
      event('lease.failed', 5, { leaseId: 't2', owner: 'tom' }),
    ];
    expect(told(events)).toEqual([['ann', 1, undefined, 4_000, 'released']]);
  });

  test('a holder whose beginning was not read comes from its record; what nobody holds has lapsed', () => {
    expect(told([], [holder()])).toEqual([['ann', 1, 1_000, undefined, 'held']]);
    const lapsed = event('lease.acquired', 1, { data: { expiresAt: 31_000 } });
    expect(told([lapsed])).toEqual([['ann', 1, 1_000, 31_000, 'unknown']]);
  });

  test('events of one moment are in order whatever order they come in', () => {
    const events = [event('lease.released', 1), event('lease.acquired', 1)];
    expect(told(events)).toEqual([['ann', 1, 1_000, 1_000, 'released']]);
  });
});

test('bars lie between the first beginning and now', () => {
  const spans = spansOf(
    [event('lease.acquired', 0), event('lease.released', 5), event('lease.acquired', 5, { leaseId: 'l2', epoch: 2 })],
    [holder({ id: 'l2', epoch: 2, acquiredAt: at(5) })],
  );
  expect([...barsOf(spans, 10_000).values()]).toEqual([
    { start: 0.5, width: 0.5 },
    { start: 0, width: 0.5 },
  ]);
});
