// What the log adds up to: each type of row once, how its totals are written down, and a bound on kinds.
import { describe, expect, test } from 'vitest';
import type { LogRow, StoredType } from '../domain/events.js';
import { LIMITS } from '../domain/limits.js';
import { addRow, endedLeases, noTotals, recoveries, type LogTotals } from './log-totals.js';
import { readCheckpoint, writeCheckpoint } from './totals-text.js';

function rowOf(type: StoredType, data: Record<string, unknown> = {}, more: Partial<LogRow> = {}): LogRow {
  return { id: 'p', type, at: 5_000, wallAt: 5_000, namespace: 'default', resource: 'secret/name', data, ...more };
}
function totalsOf(...rows: LogRow[]): LogTotals {
  const totals = noTotals();
  for (const row of rows) addRow(totals, row);
  return totals;
}
const acquired = rowOf('lease.acquired', { waitedMs: 0 }, { to: 'active' });
const queued = rowOf('lease.queued', {}, { to: 'pending' });

describe('O2: leases', () => {
  test('O2: grants and ends keep the number of active leases', () => {
    const released = rowOf('lease.released', { heldMs: 400 }, { from: 'active', to: 'released' });
    const expired = rowOf('lease.expired', { expiresAt: 1_000, overrunMs: 4_000, heldMs: 30_000 }, { from: 'active' });
    const revoked = rowOf('lease.revoked', { revocationEpoch: 3 }, { from: 'active', to: 'revoked' });
    const lifted = rowOf('lease.revoked', { lifted: true }, { from: 'released', to: 'released' });
    const totals = totalsOf(acquired, acquired, acquired, acquired, released, expired, revoked, lifted);
    expect(totals).toMatchObject({ acquired: 4, active: 1, released: 1, revoked: 1, expired: 1 });
    expect(endedLeases(totals)).toBe(3);
    expect(totals.hold).toEqual({ counts: [0, 1, 0, 1, 0, 0, 0, 0, 0, 0], sumMs: 30_400 });
    expect(totals.kinds.get('lease')).toMatchObject({ expired: { none: 1 }, overrun: { sumMs: 4_000 } });
  });

  test('O2: the queue empties by grant, timeout, cancel, deadlock, death, upgrade and revocation', () => {
    const leaving = { from: 'pending' } as const;
    const totals = totalsOf(
      ...new Array<LogRow>(7).fill(queued),
      rowOf('lease.acquired', { waitedMs: 5 }, { ...leaving, to: 'active' }),
      rowOf('lease.failed', {}, { ...leaving, reason: 'timeout' }),
      rowOf('lease.failed', {}, { ...leaving, reason: 'cancelled' }),
      rowOf('lease.failed', {}, { ...leaving, reason: 'died' }),
      rowOf('deadlock.detected', {}, leaving),
      rowOf('lease.upgraded', { waitedMs: 12 }, { from: 'active', to: 'active' }),
    );
    expect(totals).toMatchObject({ pending: 1, acquired: 1, timeouts: 1, aborted: 2, deadlocks: 1, active: 1 });
    addRow(totals, rowOf('lease.revoked', {}, leaving));
    expect(totals).toMatchObject({ pending: 0, aborted: 3, revoked: 0 });
  });

  test('O2: what had lapsed when leases were counted is not taken away again', () => {
    const totals = { ...noTotals(), active: 3, countedAt: 1_000 };
    addRow(totals, rowOf('lease.expired', { expiresAt: 1_000 }));
    expect(totals).toMatchObject({ active: 3, expired: 1 });
    addRow(totals, rowOf('lease.expired', { expiresAt: 1_001 }));
    expect(totals).toMatchObject({ active: 2, expired: 2 });
  });
});

describe('O2: recovery', () => {
  const of = (method: string, outcome: string): Record<string, unknown> => ({
    kind: 'order',
    method,
    outcome,
    overrunMs: 9,
  });
  test('O2: each expired number counts once, by how it was dealt with', () => {
    const totals = totalsOf(
      rowOf('recovery.succeeded', of('partial_work', 'moved')),
      rowOf('recovery.succeeded', of('recommitted', 'committed')),
      rowOf('sequence.gap', of('gap', 'gap')),
      rowOf('recovery.succeeded', of('gap', 'gap')),
      rowOf('recovery.succeeded', of('recommitted', 'filled')), // the gap from before, now with its operation
      rowOf('recovery.failed', of('failed', 'retry')),
      rowOf('sequence.gap', of('manual', 'gap')),
      rowOf('recovery.failed', of('manual', 'manual')),
      rowOf('recovery.failed', { kind: 'order', method: 'manual', outcome: 'discarded' }),
    );
    const none = { none: 0, failed: 0 };
    expect(totals.kinds.get('order')).toMatchObject({
      expired: { ...none, partial_work: 1, recommitted: 1, gap: 1, manual: 1 },
      recovered: { ...none, partial_work: 1, recommitted: 2, gap: 1, manual: 0 },
      failures: 2,
      overrun: { sumMs: 36 },
    });
    expect(totals.expired).toBe(4);
    expect(recoveries(totals)).toEqual({ succeeded: 4, failed: 2 });
  });

  test('O2, S18: many kinds, and long ones, are counted together', () => {
    const rows = Array.from({ length: 100 }, (_, i) => rowOf('recovery.failed', { kind: `kind-${i}` }));
    const totals = totalsOf(...rows, rowOf('recovery.failed', { kind: 'k'.repeat(49) }), rowOf('recovery.failed'));
    expect(totals.kinds.size).toBeLessThanOrEqual(17);
    expect(recoveries(totals).failed).toBe(102);
    expect(totals.kinds.get('other')?.failures).toBe(87);
  });
});

describe('O2: the checkpoint', () => {
  test('O2: totals come back as they were written, and say no resource', () => {
    const totals = totalsOf(acquired, queued, rowOf('recovery.failed', { kind: '__proto__' }));
    totals.hold.sumMs = 123_456;
    const text = JSON.stringify(writeCheckpoint({ base: 'b', position: 'p', totals }));
    expect(readCheckpoint(JSON.parse(text))).toEqual({ base: 'b', position: 'p', totals });
    expect(text).not.toContain('secret');
  });

  test('O2, S18: the largest one fits into the metadata of a lease', () => {
    const names = Array.from({ length: 40 }, (_, i) => `${i}${'ü'.repeat(23)}`);
    const totals = totalsOf(...names.map((kind) => rowOf('recovery.failed', { kind })));
    for (const kind of totals.kinds.values()) {
      kind.overrun.counts.fill(1_000_000);
      Object.assign(kind.expired, { partial_work: 1e6, recommitted: 1e6, gap: 1e6, manual: 1e6 });
      Object.assign(kind.recovered, { partial_work: 1e6, recommitted: 1e6, gap: 1e6, manual: 1e6 });
      kind.overrun.sumMs = 1e12;
    }
    const checkpoint = { base: 'abcdefgh', position: 'x'.repeat(300), totals };
    expect(Buffer.byteLength(JSON.stringify(writeCheckpoint(checkpoint)))).toBeLessThanOrEqual(LIMITS.metadataBytes);
  });

  test.each([undefined, null, 3, {}, { v: 2 }, { v: 1, base: 'a', position: 'b', plain: '1', hold: '', kinds: [] }])(
    '%j is no checkpoint',
    (value) => {
      expect(readCheckpoint(value)).toBeUndefined();
    },
  );
});
