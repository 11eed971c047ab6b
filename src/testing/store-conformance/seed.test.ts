// The seed of a random test: asked for, fresh, or refused.
import { expect, test } from 'vitest';
import { chooseSeed } from './seed.js';

test('a seed that was asked for is taken, and a fresh one is made otherwise', () => {
  expect(chooseSeed('0')).toBe(0);
  expect(chooseSeed('2147483647')).toBe(2_147_483_647);
  const fresh = chooseSeed('');
  expect(Number.isInteger(fresh) && fresh > 0).toBe(true);
  expect(new Set(Array.from({ length: 5 }, () => chooseSeed(''))).size).toBeGreaterThan(1);
});

test.each(['abc', '1.5', '-1', '2147483648', '1e3', ' 7', 'NaN'])('SEED=%j is refused with what is allowed', (text) => {
  expect(() => chooseSeed(text)).toThrow(/^SEED is a whole number from 0 to 2147483647, got /);
});
