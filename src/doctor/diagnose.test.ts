// The whole of a diagnosis, and its figures in words.
import { expect, test } from 'vitest';
import { facts, lease } from '../../test/support/doctor-facts.js';
import { judge } from './diagnose.js';
import { finding } from './finding.js';
import { bytes, duration, percentile, typed } from './words.js';

test('C9: the worst comes first, and only wrong is wrong', () => {
  expect(judge(facts({})).verdict).toBe('well');
  const streams = [
    {
      name: 's',
      leased: 9,
      open: 0,
      watermark: 9,
      seal: 2,
      trimmedBefore: 1,
      gaps: 1,
      moved: 0,
      manual: 0,
      readers: [],
    },
  ];
  expect(judge(facts({ streams })).verdict).toBe('well');
  const both = judge(facts({ streams, tickets: [lease({ skewMs: 9_000 })] }));
  expect([both.verdict, both.findings.map(({ severity }) => severity)]).toEqual(['wrong', ['wrong', 'note']]);
  const cut = finding(
    'old-leases',
    'note',
    'many',
    Array.from({ length: 20 }, (_, i) => String(i)),
    'x',
  );
  expect(cut.evidence).toHaveLength(9);
});

test('figures in words', () => {
  expect([40, 2_500, 240_000, 10_800_000, -9_000].map(duration)).toEqual(['40 ms', '2.5 s', '4 min', '3 h', '-9 s']);
  expect([1024 * 512, 70 * 1024 * 1024, 3 * 1024 ** 3].map(bytes)).toEqual(['0.5 MiB', '70 MiB', '3 GiB']);
  expect(['orders/0', "o'clock", '-x y'].map(typed)).toEqual(['orders/0', `'o'\\''clock'`, `'-x y'`]);
  expect([percentile([], 50), percentile([3, 1, 2], 50), percentile([3, 1, 2], 100)]).toEqual([0, 2, 3]);
});
