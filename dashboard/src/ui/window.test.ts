// Which rows of a long table exist.
import { expect, test } from 'vitest';
import { windowOf } from './window.js';

const sight = { count: 10_000, rowPx: 44, heightPx: 700 };

test('the rows in sight and a few around them exist, wherever the table is scrolled to', () => {
  for (const scrollTop of [0, 43, 44, 5_000, 219_999, 440_000 - 700]) {
    const { first, end, totalPx } = windowOf({ ...sight, scrollTop });
    expect(first * 44).toBeLessThanOrEqual(scrollTop);
    expect(end * 44).toBeGreaterThanOrEqual(scrollTop + 700);
    expect(end - first).toBeLessThan(60);
    expect(totalPx).toBe(440_000);
  }
});

test('it never leaves the rows there are', () => {
  expect(windowOf({ ...sight, count: 0, scrollTop: 900 })).toEqual({ first: 0, end: 0, totalPx: 0 });
  expect(windowOf({ ...sight, count: 3, scrollTop: 900 })).toMatchObject({ first: 0, end: 3 });
  expect(windowOf({ ...sight, scrollTop: 9e9 }).end).toBe(10_000);
  expect(windowOf({ ...sight, scrollTop: -50 }).first).toBe(0);
});

test('a table that believes to be endlessly tall still has few rows', () => {
  const { first, end } = windowOf({ ...sight, heightPx: 1e9, scrollTop: 0 });
  expect(end - first).toBeLessThan(200);
});
