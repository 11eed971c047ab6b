// The trust window: the margin, the deadline, doubt, and whether two attempts to renew fit before the deadline.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { invalidMessage } from '../../test/support/invalid-message.js';
import type { LeaseError } from './errors.js';
import { LIMITS } from './limits.js';
import {
  backoffMs,
  checkTiming,
  defaultRequestTimeoutMs,
  isInDoubt,
  marginMs,
  trustedUntil,
  type Timing,
} from './trust-window.js';

const ttl = fc.oneof(fc.integer({ min: 100, max: 1_000 }), fc.integer({ min: 100, max: LIMITS.ttlMs }));

describe('S7: the margin', () => {
  test.each([
    [100, 26], // at least 25, and the drift rounded up
    [250, 26],
    [260, 27],
    [1_000, 101],
    [10_000, 1_005],
    [30_000, 3_015],
    [50_000, 5_025], // at most 5 s from here on, plus the drift
    [60_000, 5_030],
    [3_600_000, 6_800],
    [LIMITS.ttlMs, 1_301_000],
  ])('S7: of a ttl of %d ms the margin is %d ms', (ttlMs, margin) => {
    expect(marginMs(ttlMs)).toBe(margin);
  });

  test('S7: it is never below 10 % (25 ms to 5 s) plus 500 ppm, and at most a millisecond above', () => {
    fc.assert(
      fc.property(ttl, (ttlMs) => {
        const exactTimes10000 = Math.min(Math.max(ttlMs * 1_000, 250_000), 50_000_000) + ttlMs * 5;
        expect(marginMs(ttlMs) * 10_000).toBeGreaterThanOrEqual(exactTimes10000);
        expect(marginMs(ttlMs) * 10_000).toBeLessThanOrEqual(exactTimes10000 + 10_000);
        expect(Number.isInteger(marginMs(ttlMs))).toBe(true);
        expect(marginMs(ttlMs)).toBeLessThan(ttlMs);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('S7: the deadline', () => {
  test('counts from when the answered request was sent', () => {
    expect(trustedUntil(5_000, 30_000, 30_000)).toBe(5_000 + 30_000 - 3_015);
  });

  test('is at least the margin before the end the store saw, however long the request was on its way', () => {
    fc.assert(
      fc.property(ttl, fc.nat(1e12), fc.nat(60_000), (ttlMs, sentAt, onItsWay) => {
        const endsAt = sentAt + onItsWay + ttlMs; // the store decided on arrival
        expect(trustedUntil(sentAt, ttlMs, ttlMs)).toBe(endsAt - onItsWay - marginMs(ttlMs));
      }),
    );
  });

  test('S7: where more than the ttl remains, the margin is of what remains: clocks drift for that long', () => {
    const [ttlMs, remainingMs] = [1_000, 7_200_000]; // two hours, renewed by hand with a ttl of a second (S4)
    expect(trustedUntil(5_000, remainingMs, ttlMs)).toBe(5_000 + remainingMs - 8_600);
    fc.assert(
      fc.property(ttl, fc.integer({ min: 0, max: LIMITS.ttlMs }), (ofTtl, remains) => {
        const room = remains - trustedUntil(0, remains, ofTtl);
        expect(room).toBe(Math.max(marginMs(ofTtl), marginMs(remains)));
      }),
    );
  });

  test('a grant with less than the margin left is past it when it arrives', () => {
    expect(trustedUntil(5_000, 3_014, 30_000)).toBeLessThan(5_000);
    expect(trustedUntil(5_000, 3_015, 30_000)).toBe(5_000);
  });
});

describe('S7: in doubt', () => {
  test.each([
    ['both clocks went on alike', 10_000, 10_000, false],
    ['wall time ran ahead by 10 % of the ttl', 13_000, 10_000, false],
    ['wall time ran ahead by more', 13_001, 10_000, true],
    ['suspended for an hour', 3_610_000, 10_000, true],
    ['the wall clock was set back', 1_000, 10_000, false],
  ])('%s', (_what, wallPassed, monotonicPassed, doubt) => {
    expect(isInDoubt(wallPassed, monotonicPassed, 30_000)).toBe(doubt);
  });
});

describe('S14: settings are checked together', () => {
  const timing = (changes: Partial<Timing>): Timing => ({
    ttlMs: 30_000,
    renewAt: 0.6,
    requestTimeoutMs: 3_000,
    ...changes,
  });

  test('S14: requestTimeout defaults to 10 % of the ttl, at most 5 s', () => {
    expect(defaultRequestTimeoutMs(250)).toBe(25);
    expect(defaultRequestTimeoutMs(30_000)).toBe(3_000);
    expect(defaultRequestTimeoutMs(50_000)).toBe(5_000);
    expect(defaultRequestTimeoutMs(LIMITS.ttlMs)).toBe(5_000);
  });

  test('the pause between attempts is 2 % of the ttl, from 5 ms to 1 s', () => {
    expect([100, 250, 30_000, 50_000, LIMITS.ttlMs].map(backoffMs)).toEqual([5, 5, 600, 1_000, 1_000]);
  });

  test('S14: the defaults fit for every ttl an auto-renewed lease may have', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 250, max: 2_000 }), fc.integer({ min: 250, max: LIMITS.ttlMs })),
        (ttlMs) => {
          checkTiming({ ttlMs, renewAt: 0.6, requestTimeoutMs: defaultRequestTimeoutMs(ttlMs) });
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('S14: what does not fit is refused with the arithmetic', () => {
    expect(invalidMessage(() => checkTiming(timing({ renewAt: 0.7 })))).toBe(
      'two renewal attempts do not fit: renewal point 21000 + 2 × requestTimeout 3000 + backoff 600 + margin 3015' +
        ' = 30615 ms > ttl 30000 ms; raise the ttl, or lower renewAt or requestTimeout',
    );
    let thrown: unknown;
    try {
      checkTiming(timing({ requestTimeoutMs: 5_000 }));
    } catch (error) {
      thrown = error;
    }
    expect((thrown as LeaseError).details).toEqual({
      point: 18_000,
      requestTimeoutMs: 5_000,
      backoff: 600,
      margin: 3_015,
      needed: 31_615,
      ttlMs: 30_000,
    });
  });

  test('S14: it fits exactly up to the ttl and not a millisecond further', () => {
    const room = 30_000 - 18_000 - 600 - 3_015;
    checkTiming(timing({ requestTimeoutMs: room / 2 }));
    expect(invalidMessage(() => checkTiming(timing({ requestTimeoutMs: room / 2 + 0.5 })))).toMatch(
      /= 30001 ms > ttl 30000/,
    );
  });

  test('S14: accepted if and only if the sum is within the ttl', () => {
    const share = fc.double({ min: 0.3, max: 0.8, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: 250, max: 100_000 }),
        share,
        fc.integer({ min: 1, max: 20_000 }),
        (ttlMs, renewAt, timeout) => {
          const sum = Math.ceil(ttlMs * renewAt) + 2 * timeout + backoffMs(ttlMs) + marginMs(ttlMs);
          const check = (): void => checkTiming({ ttlMs, renewAt, requestTimeoutMs: timeout });
          if (sum <= ttlMs) check();
          else expect(invalidMessage(check)).toContain(`= ${sum} ms > ttl ${ttlMs} ms`);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test.each([
    [
      { ttlMs: 249, requestTimeoutMs: 5 },
      undefined,
      'ttl of an auto-renewed lease is at least 250 ms here, got 249 ms',
    ],
    [{ ttlMs: 999 }, 1_000, 'ttl of an auto-renewed lease is at least 1000 ms here, got 999 ms'],
    [{ renewAt: 0.29 }, undefined, 'renewAt is from 0.3 to 0.8 of the ttl, got 0.29'],
    [{ renewAt: 0.81 }, undefined, 'renewAt is from 0.3 to 0.8 of the ttl, got 0.81'],
    [{ renewAt: NaN }, undefined, 'renewAt is from 0.3 to 0.8 of the ttl, got NaN'],
    [{ requestTimeoutMs: 0 }, undefined, 'requestTimeout must be above 0 ms, got 0'],
    [{ requestTimeoutMs: -1 }, undefined, 'requestTimeout must be above 0 ms, got -1'],
    [{ requestTimeoutMs: NaN }, undefined, 'requestTimeout must be above 0 ms, got NaN'],
  ])('S14: %j is refused', (changes, minTtlMs, message) => {
    expect(invalidMessage(() => checkTiming(timing(changes), minTtlMs))).toBe(message);
  });

  test.each([{ ttlMs: NaN }, { requestTimeoutMs: Infinity }])('S14: so is %j', (changes) => {
    expect(invalidMessage(() => checkTiming(timing(changes)))).not.toBe('');
  });

  test('S14: a store may state a higher least ttl, and the least itself passes', () => {
    checkTiming({ ttlMs: 250, renewAt: 0.6, requestTimeoutMs: 25 });
    checkTiming(timing({ ttlMs: 1_000, requestTimeoutMs: 100 }), 1_000);
  });
});
