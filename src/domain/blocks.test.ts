// Blocks: until when an ended lease keeps others out, whom, and from what.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exclusive, leaseRow, shared } from '../../test/support/domain-values.js';
import { blockedUntilAfter, blocksOf } from './blocks.js';
import type { LeaseRow } from './lease.js';

describe('Q6: until when', () => {
  const row = { acquiredAt: 1_000, expiresAt: 2_000, minHoldMs: 5_000, lockDelayMs: 300 };

  test.each([
    ['released', 6_000], // acquiredAt + minHold
    ['expired', 2_300], // expiresAt + lockDelay, however late it is noticed
    ['revoked', 1_800], // the moment of revocation + lockDelay
  ] as const)('Q6: after it was %s', (how, until) => {
    expect(blockedUntilAfter(row, how, 1_500)).toBe(until);
  });

  test.each(['released', 'expired', 'revoked'] as const)('Q6: not at all without one (%s)', (how) => {
    expect(blockedUntilAfter({ ...row, minHoldMs: 0, lockDelayMs: 0 }, how, 1_500)).toBe(0);
  });

  test('Q6: minHold is for releases only, lockDelay for the other two', () => {
    expect(blockedUntilAfter({ ...row, lockDelayMs: 0 }, 'expired', 1_500)).toBe(0);
    expect(blockedUntilAfter({ ...row, lockDelayMs: 0 }, 'revoked', 1_500)).toBe(0);
    expect(blockedUntilAfter({ ...row, minHoldMs: 0 }, 'released', 1_500)).toBe(0);
  });
});

describe('Q6: what stands at a moment', () => {
  const at = (row: LeaseRow, now: number, owner = 'stranger') => blocksOf(row, now, owner);

  test('Q6: a release with minHold blocks up to its end, and says why', () => {
    const row = leaseRow({ status: 'released', blockedUntil: 5_000 });
    expect(at(row, 4_999)).toEqual([{ parts: row.parts, reason: 'min_hold', until: 5_000 }]);
    expect(at(row, 5_000)).toEqual([]);
  });

  test.each(['expired', 'revoked'] as const)('Q6: a lease that was %s blocks by its lockDelay', (status) => {
    const row = leaseRow({ status, blockedUntil: 5_000 });
    expect(at(row, 4_999)).toEqual([{ parts: row.parts, reason: 'lock_delay', until: 5_000 }]);
    expect(at(row, 5_000)).toEqual([]);
  });

  test('Q6, S3: an expiry nobody wrote down blocks all the same', () => {
    const row = leaseRow({ expiresAt: 2_000, lockDelayMs: 300 });
    expect(at(row, 1_999)).toEqual([]); // still live: no block
    expect(at(row, 2_000)).toEqual([{ parts: row.parts, reason: 'lock_delay', until: 2_300 }]);
    expect(at(row, 2_300)).toEqual([]);
    const written = { ...row, status: 'expired' as const, blockedUntil: blockedUntilAfter(row, 'expired', 2_100) };
    for (const now of [2_000, 2_299, 2_300]) expect(at(written, now)).toEqual(at(row, now));
  });

  test('Q6: a block conflicts as the lease did: shared stays shared', () => {
    const row = leaseRow({
      status: 'released',
      blockedUntil: 5_000,
      parts: [shared('a', 2), exclusive('b', 'subtree')],
    });
    expect(at(row, 0)[0]?.parts).toEqual([shared('a', 2), exclusive('b', 'subtree')]);
  });

  test('Q6: keepOut bars only the old owner, from everything that overlaps', () => {
    const row = leaseRow({ status: 'revoked', keepOutUntil: 5_000, parts: [shared('a', 2)] });
    expect(at(row, 4_999)).toEqual([]);
    expect(at(row, 4_999, 'someone')).toEqual([{ parts: [exclusive('a')], reason: 'lock_delay', until: 5_000 }]);
    expect(at(row, 5_000, 'someone')).toEqual([]);
  });

  test('Q6: both can stand at once', () => {
    const row = leaseRow({ status: 'revoked', blockedUntil: 3_000, keepOutUntil: 5_000 });
    expect(at(row, 2_000, 'someone').map((block) => block.until)).toEqual([3_000, 5_000]);
    expect(at(row, 2_000).map((block) => block.until)).toEqual([3_000]);
  });

  test('a ticket and a live lease block nobody', () => {
    expect(at(leaseRow({ status: 'pending', expiresAt: 1, lockDelayMs: 300 }), 2)).toEqual([]);
    expect(at(leaseRow({ lockDelayMs: 300, minHoldMs: 9_000 }), 1_500)).toEqual([]);
  });

  test('Q6: no block stands at or after its own end', () => {
    const row = fc.record({
      status: fc.constantFrom('pending', 'active', 'released', 'expired', 'revoked', 'failed'),
      expiresAt: fc.nat(20),
      lockDelayMs: fc.nat(10),
      blockedUntil: fc.nat(20),
      keepOutUntil: fc.nat(20),
    });
    fc.assert(
      fc.property(row, fc.nat(25), fc.constantFrom('someone', 'stranger'), (changes, now, owner) => {
        for (const block of blocksOf(leaseRow(changes), now, owner)) expect(block.until).toBeGreaterThan(now);
      }),
      { numRuns: 500 },
    );
  });
});
