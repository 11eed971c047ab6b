// Times in words and columns.
import { expect, test } from 'vitest';
import { ago, momentOf, span, utc } from './times.js';

test.each([
  [0, '0ms'],
  [999, '999ms'],
  [1_000, '1s'],
  [59_999, '59s'],
  [65_000, '1m05s'],
  [3_600_000, '1h00m'],
  [7_380_000, '2h03m'],
  [86_400_000 * 9 + 3_600_000 * 4, '9d04h'],
  [-5, '0ms'],
])('%i ms is %s, in six columns', (ms, text) => {
  expect(span(ms)).toBe(text);
  expect(text.length).toBeLessThanOrEqual(6);
});

test('how long ago, to the second', () => {
  expect([ago(0), ago(999), ago(61_000)]).toEqual(['0s', '0s', '1m01s']);
});

test('C1: times are UTC', () => {
  expect(utc('2026-01-31T12:00:00.123Z')).toBe('2026-01-31 12:00:00Z');
});

test.each([
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2026-01-31T12:00', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31 12:00:01', '2026-01-31T12:00:01.000Z'],
  ['2026-01-31T12:00:00+02:00', '2026-01-31T10:00:00.000Z'],
  ['ago', '2026-01-31T11:59:59.000Z'],
])('%s is %s, UTC unless it says otherwise', (text, time) => {
  expect(momentOf(text, '--since', '2026-01-31T12:00:00.000Z', (one) => (one === 'ago' ? 1_000 : undefined))).toBe(
    time,
  );
});

test.each(['yesterday', '2026-13-01', '12:00', ''])('%j is no time', (text) => {
  expect(() => momentOf(text, '--since', '2026-01-31T12:00:00Z', () => undefined)).toThrow(/--since is how long ago/);
});
