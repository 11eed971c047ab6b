// The lease as readers see it, and the public record.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exclusive, leaseRow, ticketRow } from '../../test/support/domain-values.js';
import { isoTime, leaseAt, toRecord } from './lease.js';

describe('S3: a row as it is read', () => {
  test('before its end it is what it is', () => {
    expect(leaseAt(leaseRow(), 1_999)).toMatchObject({ status: 'active', endedAt: undefined, reason: undefined });
    expect(leaseAt(ticketRow(), 1_999)).toMatchObject({ status: 'pending', endedAt: undefined, reason: undefined });
  });

  test('from its end on it is over as of that instant, written down or not', () => {
    expect(leaseAt(leaseRow(), 2_000)).toMatchObject({ status: 'expired', endedAt: 2_000, reason: undefined });
    expect(leaseAt(leaseRow(), 9_000)).toMatchObject({ status: 'expired', endedAt: 2_000 });
    expect(leaseAt(ticketRow(), 9_000)).toMatchObject({ status: 'failed', endedAt: 2_000, reason: 'died' });
    const written = leaseRow({ status: 'expired', endedAt: 2_000 });
    expect(leaseAt(written, 9_000)).toEqual(leaseAt(leaseRow(), 9_000));
  });

  test('what ended before stays as it ended', () => {
    const row = leaseRow({ status: 'released', endedAt: 1_500, reason: 'reclaimed' });
    for (const now of [1_500, 9_000]) {
      expect(leaseAt(row, now)).toMatchObject({ status: 'released', endedAt: 1_500, reason: 'reclaimed' });
    }
  });

  test('nothing a store keeps for itself is handed out', () => {
    const seen = Object.keys(leaseAt(leaseRow({ lastRequest: 'r', cycle: [] }), 1_500));
    for (const inner of [
      'content',
      'grantEpoch',
      'lastRequest',
      'rank',
      'arrival',
      'blockedUntil',
      'blockEpoch',
      'cycle',
      'holding',
    ]) {
      expect(seen).not.toContain(inner);
    }
  });
});

test('A10: the record has these fields and no empty ones, times as UTC text', () => {
  expect(toRecord(leaseAt(leaseRow(), 1_500))).toStrictEqual({
    id: 'lease-0123456789',
    parts: [exclusive('orders/0')],
    owner: 'someone',
    epoch: 7,
    status: 'active',
    ttlMs: 1_000,
    acquiredAt: '1970-01-01T00:00:01.000Z',
    renewedAt: '1970-01-01T00:00:01.000Z',
    expiresAt: '1970-01-01T00:00:02.000Z',
    renewals: 0,
    maxRenewals: -1,
    skewMs: 0,
  });
});

test('A10: what is known of an ended lease is there', () => {
  const row = leaseRow({ status: 'revoked', reason: 'stuck', endedAt: 1_500, operationId: 'op', metadata: null });
  expect(toRecord(leaseAt(row, 1_600))).toMatchObject({
    status: 'revoked',
    reason: 'stuck',
    endedAt: '1970-01-01T00:00:01.500Z',
    operationId: 'op',
    metadata: null,
  });
});

test('times are written in UTC with milliseconds', () => {
  expect(isoTime(Date.UTC(2026, 0, 2, 3, 4, 5, 6))).toBe('2026-01-02T03:04:05.006Z');
});

describe('isoTime', () => {
  test('is what Date says, for every time a store can have', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1, max: 8.64e15 }), fc.nat(70_000), (ms, later) => {
        for (const at of [ms, Math.min(ms + later, 8.64e15)]) expect(isoTime(at)).toBe(new Date(at).toISOString());
      }),
    );
    for (const at of [0, 59_999, 60_000, 253_402_300_799_999, 253_402_300_800_000, 1_794_748_366_816, 0.5]) {
      expect(isoTime(at)).toBe(new Date(at).toISOString());
    }
    for (const bad of [NaN, Infinity, 8.64e15 + 1]) expect(() => isoTime(bad)).toThrow(RangeError);
  });
});
