// Figures in words: units, alerts in theirs, and which pages are shipped.
import { expect, test } from 'vitest';
import type { Alert, Finding } from '../../api/types.js';
import { alertText, byUrgency, countFindings, figureText, runbookHref, summaryText } from './figure-text.js';

test('a busy rate is a second, a slow one a minute', () => {
  const texts = [12.34, 1_234.5, 0.05, 0].map((value) => figureText(value, 'rate'));
  expect(texts).toEqual(['12 /s', '1,235 /s', '3 /min', '0 /s']);
  expect([3, 2.25].map((value) => figureText(value, 'count'))).toEqual(['3', '2.3']);
  expect([0, 0.0421, 12.7].map((value) => figureText(value, 'span'))).toEqual(['0 s', '42 ms', '12 s']);
});

test('the plot in a sentence', () => {
  expect(summaryText('granted', { present: 2, least: 0, most: 4, mean: 1.5 }, 'rate', '15 min')).toBe(
    'granted: 2 /s now; in the last 15 min between 0 /s and 4 /s, 1.5 /s on average.',
  );
  expect(summaryText('late by', { present: undefined, least: 1, most: 1, mean: 1 }, 'span', 'hour')).toMatch(
    /nothing just now/,
  );
  expect(summaryText('late by', undefined, 'span', 'hour')).toBe('late by: nothing in the last hour.');
});

test('alerts in their own units, what fires first', () => {
  expect(alertText('expiration-rate', 0.0523)).toBe('5.2 %');
  expect(alertText('conflicts', 0.01)).toBe('0.01 /s');
  expect(alertText('clock-skew', 5)).toBe('5 s');
  expect(alertText('sequence-gaps', 120)).toBe('120');
  const alerts = ['ok critical', 'firing warning', 'pending warning', 'firing critical'].map((words) => {
    const [state, severity] = words.split(' ');
    return { state, severity } as Alert;
  });
  expect(byUrgency(alerts).map(({ state, severity }) => `${state} ${severity}`)).toEqual([
    'firing critical',
    'firing warning',
    'pending warning',
    'ok critical',
  ]);
});

test('findings are counted by how bad they are', () => {
  const found = (['wrong', 'note', 'note', 'warning'] as const).map((severity) => ({ severity }) as Finding);
  expect(countFindings(found)).toBe('1 wrong, 1 warning, 2 notes');
  expect(countFindings([])).toBe('');
});

test('only pages of this project have an address', () => {
  expect(runbookHref('docs/runbooks/conflicts.md')).toBe('/runbook?page=runbooks%2Fconflicts');
  expect(runbookHref('docs/guide/deadlock.md')).toBe('/runbook?page=guide%2Fdeadlock');
  for (const path of ['javascript:alert(1)', 'https://example.com/x.md', 'docs/../etc.md', 'docs/runbooks/a/b.md'])
    expect(runbookHref(path), path).toBeUndefined();
});
