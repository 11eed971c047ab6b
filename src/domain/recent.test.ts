// A map that forgets what is oldest.
import { expect, test } from 'vitest';
import { Recent } from './recent.js';

test('S18: what is remembered is bounded, and the oldest is forgotten first', () => {
  const recent = new Recent<number>(2);
  expect(recent.isEmpty).toBe(true);
  for (const [i, key] of ['a', 'b', 'c'].entries()) recent.set(key, i);
  expect(['a', 'b', 'c'].map((key) => recent.take(key))).toEqual([undefined, 1, 2]);
  expect(recent.isEmpty).toBe(true);
});

test('what was taken is gone, and what is set again is as old as it was', () => {
  const recent = new Recent<string>(2);
  recent.set('a', 'x');
  recent.set('b', 'y');
  recent.set('a', 'z');
  recent.set('c', 'w');
  expect([recent.take('a'), recent.take('b'), recent.take('b'), recent.take('c')]).toEqual([
    undefined,
    'y',
    undefined,
    'w',
  ]);
});
