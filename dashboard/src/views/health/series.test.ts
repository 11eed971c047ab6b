// From running sums to lines: rates, holes, another server, a count that begins anew.
import { describe, expect, test } from 'vitest';
import type { Figures, FigureSample } from '../../api/types.js';
import { gaugeOf, joinFigures, latenessOf, rateOf, summaryOf, timesOf, withHoles } from './series.js';

const EPOCH = Date.UTC(2026, 0, 1);
const sample = (second: number, more: Partial<FigureSample> = {}): FigureSample => ({
  at: new Date(EPOCH + second * 1_000).toISOString(),
  ...{
    acquired: 0,
    refused: 0,
    failed: 0,
    waiting: 0,
    held: 0,
    renewed: 0,
    renewalsFailed: 0,
    expired: 0,
    overrunMs: 0,
  },
  ...more,
});
const figures = (items: FigureSample[], server = 'a'): Figures => ({ server, everyMs: 5_000, items });

describe('lines', () => {
  test('a rate is what a sum grew by, a second; the first sample and a sum that shrank say nothing', () => {
    const places = withHoles(
      figures([
        sample(0, { acquired: 10 }),
        sample(5, { acquired: 20 }),
        sample(10, { acquired: 3 }),
        sample(15, { acquired: 3 }),
      ]),
    );
    expect(rateOf(places, 'acquired')).toEqual([null, 2, null, 0]);
    expect(gaugeOf(withHoles(figures([sample(0, { waiting: 4 })])), 'waiting')).toEqual([4]);
  });

  test('a hole in the samples is a hole in the line', () => {
    const places = withHoles(
      figures([sample(0), sample(5), sample(65, { acquired: 60 }), sample(70, { acquired: 65 })]),
    );
    expect(timesOf(places).map((at) => at - EPOCH / 1_000)).toEqual([0, 5, 35, 65, 70]);
    expect(rateOf(places, 'acquired')).toEqual([null, 0, null, null, 1]);
    expect(gaugeOf(places, 'held')).toEqual([0, 0, null, 0, 0]);
  });

  test('lateness is the mean of what ran out, and nothing where nothing did', () => {
    const places = withHoles(
      figures([sample(0), sample(5, { expired: 2, overrunMs: 3_000 }), sample(10, { expired: 2, overrunMs: 3_000 })]),
    );
    expect(latenessOf(places)).toEqual([null, 1.5, null]);
  });
});

describe('joining', () => {
  test('what comes goes on from what is known, once each, an hour at most', () => {
    const known = figures([sample(0), sample(5)]);
    expect(joinFigures(known, figures([sample(5), sample(10)])).items).toHaveLength(3);
    expect(joinFigures(known, figures([])).items).toHaveLength(2);
    expect(joinFigures(known, figures([sample(3_604)])).items).toHaveLength(2);
    expect(joinFigures(undefined, known)).toBe(known);
  });

  test('samples of another server replace ours', () => {
    expect(joinFigures(figures([sample(0), sample(5)]), figures([sample(10)], 'b')).items).toHaveLength(1);
  });
});

test('a summary tells the present, and what was within the range', () => {
  const times = [0, 100, 190, 200];
  expect(summaryOf(times, [9, 1, 2, 4], 50)).toEqual({ present: 3, least: 1, most: 4, mean: 7 / 3 });
  expect(summaryOf(times, [9, 1, 2, 4], 50, 1)).toMatchObject({ present: 4 });
  expect(summaryOf(times, [1, 1, null, null], 50)).toMatchObject({ present: undefined, most: 1 });
  expect(summaryOf(times, [null, null, null, null], 0)).toBeUndefined();
});
