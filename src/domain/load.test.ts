// Load in one word: the table of bounds, and what an unknown figure does.
import { expect, test } from 'vitest';
import { classifyLoad, type Load } from './load.js';

test.each<[number, number, number, Load]>([
  [0, 0, 0, 'low'],
  [49.9, 99.9, 99, 'low'],
  [50, 0, 0, 'medium'],
  [0, 100, 0, 'medium'],
  [0, 0, 100, 'medium'],
  [199, 499, 999, 'medium'],
  [200, 0, 0, 'high'],
  [0, 500, 0, 'high'],
  [0, 0, 1_000, 'high'],
  [200, 100, 0, 'high'],
  [50, 0, 1_000, 'high'],
  [Infinity, 0, 0, 'high'],
  [-1, 0, 0, 'low'], // a timer that fired a hair early is no load
])('V3: lag %d ms, store %d ms, backlog %d is %s', (loopLagMs, storeLatencyMs, expiredBacklog, load) => {
  expect(classifyLoad({ loopLagMs, storeLatencyMs, expiredBacklog })).toBe(load);
});

test.each(['loopLagMs', 'storeLatencyMs', 'expiredBacklog'])(
  'V3: without %s the load is unknown, whatever the others say',
  (missing) => {
    for (const others of [0, 1_000_000]) {
      const figures = { loopLagMs: others, storeLatencyMs: others, expiredBacklog: others };
      expect(classifyLoad({ ...figures, [missing]: undefined })).toBe('unknown');
      expect(classifyLoad({ ...figures, [missing]: NaN })).toBe('unknown');
    }
    expect(classifyLoad({})).toBe('unknown');
  },
);
