// Times in words.
import { expect, test } from 'vitest';
import { exactText, relativeText, spanText } from './time-text.js';

test.each([
  [0, '0.0 s'],
  [450, '0.5 s'],
  [12_900, '12 s'],
  [119_999, '119 s'],
  [120_000, '2 min'],
  [3_600_000, '1 h'],
  [7_500_000, '2 h 5 min'],
  [90_000_000, '1 d 1 h'],
  [-5, '0.0 s'],
])('a span of %d ms is %s', (ms, text) => {
  expect(spanText(ms)).toBe(text);
});

test('the past is ago, the future is in', () => {
  expect(relativeText(1_000, 13_500)).toBe('12 s ago');
  expect(relativeText(13_500, 1_000)).toBe('in 12 s');
  expect(relativeText(1_000, 1_500)).toBe('now');
});

test('the exact time says the time zone and UTC; what is no time is shown as it is', () => {
  expect(exactText('2026-01-31T12:00:00.123Z')).toContain('(2026-01-31T12:00:00.123Z)');
  expect(exactText('nonsense')).toBe('nonsense');
});
