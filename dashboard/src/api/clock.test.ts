// The store's clock, fixed to one that only runs on.
import { expect, test } from 'vitest';
import { betterFix, fixOf } from './clock.js';

test('the answer was made in the middle of its way, give or take half of it', () => {
  expect(fixOf(100, 300, '1970-01-01T00:00:10.000Z')).toEqual({ offsetMs: 9_800, errorMs: 100 });
});

test('the quicker answer counts, a slower one only when it contradicts: time went on without us', () => {
  const quick = { offsetMs: 1_000, errorMs: 5 };
  expect(betterFix(undefined, quick)).toBe(quick);
  expect(betterFix(quick, { offsetMs: 1_040, errorMs: 60 })).toBe(quick);
  const better = { offsetMs: 1_001, errorMs: 2 };
  expect(betterFix(quick, better)).toBe(better);
  const afterSuspend = { offsetMs: 3_600_000, errorMs: 400 };
  expect(betterFix(quick, afterSuspend)).toBe(afterSuspend);
});
