// The adaptive ttl: twice the mean, the load, the bounds; and that it forgets.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Load } from '../domain/load.js';
import { DEFAULT_SETTINGS } from '../domain/settings.js';
import { AdaptiveTtl } from './adaptive-ttl.js';

const settings = DEFAULT_SETTINGS; // 10 s to 900 s, 30 s for what is held

test('O1: nothing observed: held_ttl_seconds, within the bounds', () => {
  const ttl = new AdaptiveTtl();
  expect(ttl.ttlMs('orders', settings, 'high')).toBe(30_000);
  expect(ttl.ttlMs('orders', { ...settings, held_ttl_seconds: 1 }, 'low')).toBe(10_000);
  expect(ttl.ttlMs('orders', { ...settings, held_ttl_seconds: 5_000 }, 'low')).toBe(900_000);
});

test.each<[Load, number]>([
  ['low', 40_000],
  ['medium', 60_000],
  ['high', 80_000],
  ['unknown', 80_000],
])('O1: at %s load twice the mean becomes %d ms', (load, expected) => {
  const ttl = new AdaptiveTtl();
  for (const heldMs of [10_000, 20_000, 30_000]) ttl.observe('orders', heldMs);
  expect(ttl.ttlMs('orders', settings, load)).toBe(expected);
  expect(ttl.ttlMs('other', settings, load)).toBe(30_000);
});

test('O1: always whole and within the bounds, whatever was observed', () => {
  const load = fc.constantFrom<Load>('low', 'medium', 'high', 'unknown');
  fc.assert(
    fc.property(fc.array(fc.double()), load, (durations, at) => {
      const ttl = new AdaptiveTtl();
      for (const heldMs of durations) ttl.observe('orders', heldMs);
      const ms = ttl.ttlMs('orders', settings, at);
      expect(Number.isSafeInteger(ms)).toBe(true);
      expect(ms).toBeGreaterThanOrEqual(10_000);
      expect(ms).toBeLessThanOrEqual(900_000);
    }),
  );
});

test('O1: only the last fifty count', () => {
  const ttl = new AdaptiveTtl();
  for (let i = 0; i < 50; i += 1) ttl.observe('orders', 400_000);
  for (let i = 0; i < 50; i += 1) ttl.observe('orders', 10_000);
  expect(ttl.ttlMs('orders', settings, 'low')).toBe(20_000);
});

test('S18: of a thousand keys the one unused for longest is forgotten', () => {
  const ttl = new AdaptiveTtl();
  for (let i = 0; i < 1_000; i += 1) ttl.observe(`key-${i}`, 100_000);
  expect(ttl.ttlMs('key-0', settings, 'low')).toBe(200_000); // used again
  ttl.observe('one more', 100_000);
  expect(ttl.ttlMs('key-0', settings, 'low')).toBe(200_000);
  expect(ttl.ttlMs('key-1', settings, 'low')).toBe(30_000);
});
