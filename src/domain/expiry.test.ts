// Expiry arithmetic: the instant a lease is over, and how far a grant or a renewal reaches.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { grantedUntil, isLive, isWaiting, renewedUntil, statusAt, type LeaseStatus } from './expiry.js';

const STATUSES: readonly LeaseStatus[] = ['pending', 'active', 'released', 'expired', 'revoked', 'failed'];
const status = fc.constantFrom(...STATUSES);
const time = fc.oneof(fc.nat(20), fc.nat(1e13));
const ttl = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 2_592_000_000 }));

describe('S3: the instant of expiry', () => {
  test('a lease is live before expiresAt and over at it', () => {
    expect(isLive({ status: 'active', expiresAt: 100 }, 99)).toBe(true);
    expect(isLive({ status: 'active', expiresAt: 100 }, 100)).toBe(false);
    expect(isWaiting({ status: 'pending', expiresAt: 100 }, 99)).toBe(true);
    expect(isWaiting({ status: 'pending', expiresAt: 100 }, 100)).toBe(false);
  });

  test('only active is live, only pending waits', () => {
    for (const one of STATUSES) {
      expect(isLive({ status: one, expiresAt: 100 }, 0)).toBe(one === 'active');
      expect(isWaiting({ status: one, expiresAt: 100 }, 0)).toBe(one === 'pending');
    }
  });

  test('a reader sees it from that instant, written down or not; what has ended stays as it ended', () => {
    const late: Record<LeaseStatus, LeaseStatus> = {
      pending: 'failed',
      active: 'expired',
      released: 'released',
      expired: 'expired',
      revoked: 'revoked',
      failed: 'failed',
    };
    for (const one of STATUSES) {
      expect(statusAt({ status: one, expiresAt: 100 }, 99)).toBe(one);
      expect(statusAt({ status: one, expiresAt: 100 }, 100)).toBe(late[one]);
    }
  });

  test('live, waiting and what is seen agree at every moment', () => {
    fc.assert(
      fc.property(status, time, time, (one, expiresAt, now) => {
        const lease = { status: one, expiresAt };
        expect(isLive(lease, now)).toBe(statusAt(lease, now) === 'active');
        expect(isWaiting(lease, now)).toBe(statusAt(lease, now) === 'pending');
      }),
    );
  });
});

describe('S4: renewal', () => {
  /** A lease as grants and renewals leave it: never beyond its maxHold. */
  const renewable = fc
    .record({ acquiredAt: time, held: ttl, maxHoldMs: fc.option(ttl, { nil: undefined }) })
    .map(({ acquiredAt, held, maxHoldMs }) => ({
      acquiredAt,
      maxHoldMs,
      expiresAt: acquiredAt + Math.min(held, maxHoldMs ?? Infinity),
    }));

  test('a grant reaches as far as its ttl, or its maxHold if that is less', () => {
    expect(grantedUntil(1_000, 500, undefined)).toBe(1_500);
    expect(grantedUntil(1_000, 500, 600)).toBe(1_500);
    expect(grantedUntil(1_000, 500, 400)).toBe(1_400);
  });

  test.each([
    ['reaches a ttl from now', { acquiredAt: 0, expiresAt: 100 }, 50, 100, 150],
    ['never shortens', { acquiredAt: 0, expiresAt: 100 }, 50, 10, 100],
    ['is cut by maxHold', { acquiredAt: 0, expiresAt: 100, maxHoldMs: 120 }, 50, 100, 120],
    ['may reach exactly maxHold', { acquiredAt: 0, expiresAt: 100, maxHoldMs: 150 }, 50, 100, 150],
    ['with nothing to add says so', { acquiredAt: 0, expiresAt: 120, maxHoldMs: 120 }, 50, 100, undefined],
    ['that asks for no more than it has is granted', { acquiredAt: 0, expiresAt: 120, maxHoldMs: 120 }, 20, 100, 120],
  ])('S4: a renewal %s', (_what, lease, now, ttlMs, until) => {
    expect(renewedUntil(lease, now, ttlMs)).toBe(until);
  });

  test('S4: a renewal never shortens, never goes beyond maxHold, and otherwise gives the whole ttl', () => {
    fc.assert(
      fc.property(renewable, fc.double({ min: 0, max: 0.999, noNaN: true }), ttl, (lease, share, ttlMs) => {
        const now = lease.acquiredAt + Math.floor((lease.expiresAt - lease.acquiredAt) * share);
        const end = lease.acquiredAt + (lease.maxHoldMs ?? Infinity);
        const until = renewedUntil(lease, now, ttlMs);
        if (until === undefined) {
          expect(lease.expiresAt).toBe(end);
          expect(now + ttlMs).toBeGreaterThan(end);
          return;
        }
        expect(until).toBeGreaterThanOrEqual(lease.expiresAt);
        expect(until).toBeLessThanOrEqual(end);
        expect(until).toBe(Math.min(Math.max(lease.expiresAt, now + ttlMs), end));
      }),
      { numRuns: 2_000 },
    );
  });

  test('S4: however often it is renewed, a lease ends at maxHold at the latest', () => {
    fc.assert(
      fc.property(ttl, ttl, fc.array(ttl, { maxLength: 20 }), (first, maxHoldMs, ttls) => {
        let lease = { acquiredAt: 0, expiresAt: grantedUntil(0, first, maxHoldMs), maxHoldMs };
        for (const ttlMs of ttls) {
          lease = { ...lease, expiresAt: renewedUntil(lease, lease.expiresAt - 1, ttlMs) ?? lease.expiresAt };
        }
        expect(lease.expiresAt).toBeLessThanOrEqual(maxHoldMs);
      }),
    );
  });
});
