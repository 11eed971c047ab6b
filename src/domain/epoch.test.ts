// The epoch counter: it only grows, also across incarnations, and stops rather than leave the safe integers.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { invalidMessage } from '../../test/support/invalid-message.js';
import { isEpoch, liftedEpoch, nextEpoch } from './epoch.js';

const TOP = Number.MAX_SAFE_INTEGER;
const epoch = fc.oneof(fc.nat(), fc.maxSafeNat(), fc.integer({ min: TOP - 1_000, max: TOP - 1 }));

test('S2: a new incarnation starts at the wall time in microseconds', () => {
  expect(liftedEpoch(0, Date.UTC(2026, 0, 1))).toBe(1_767_225_600_000_000);
  expect(liftedEpoch(0, 1_000.9)).toBe(1_000_000);
});

test('S2: a clock that went back lifts nothing below the last epoch + 1', () => {
  const last = liftedEpoch(0, Date.UTC(2026, 0, 1)) + 500;
  expect(liftedEpoch(last, Date.UTC(2025, 0, 1))).toBe(last + 1);
  expect(liftedEpoch(last, 0)).toBe(last + 1);
  expect(liftedEpoch(last, -1)).toBe(last + 1);
});

test('S2: lifted is at least last + 1 and at least the wall time, and no more than the greater of the two', () => {
  fc.assert(
    fc.property(
      epoch.filter((last) => last < TOP),
      fc.double({ min: -1e12, max: 9e12, noNaN: true }),
      (last, wallMs) => {
        const lifted = liftedEpoch(last, wallMs);
        const wallMicros = Math.floor(wallMs) * 1_000;
        expect(lifted).toBeGreaterThan(last);
        expect(lifted).toBeGreaterThanOrEqual(wallMicros);
        expect(lifted === last + 1 || lifted === wallMicros).toBe(true);
        expect(Number.isSafeInteger(lifted)).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

test('S2, S17: each epoch drawn is one above the last, up to the last safe integer', () => {
  fc.assert(
    fc.property(
      epoch.filter((last) => last < TOP),
      (last) => {
        expect(BigInt(nextEpoch(last))).toBe(BigInt(last) + 1n);
      },
    ),
  );
  expect(nextEpoch(TOP - 1)).toBe(TOP);
});

test('S17: past the safe integers the counter refuses instead of repeating an epoch', () => {
  for (const last of [TOP, TOP + 1, 2 ** 60, liftedEpoch(TOP, 0), liftedEpoch(0, 1e15)]) {
    expect(invalidMessage(() => nextEpoch(last))).toBe('the epoch counter has left the range of safe integers');
  }
});

test('S17: an epoch is a positive safe integer', () => {
  for (const value of [1, 42, TOP]) expect(isEpoch(value)).toBe(true);
  for (const value of [0, -1, 1.5, NaN, Infinity, TOP + 1, '1', 1n, null, undefined, {}])
    expect(isEpoch(value)).toBe(false);
});
