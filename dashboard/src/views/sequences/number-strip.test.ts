// The row of numbers: bounded, and each number what is known of it.
import { expect, test } from 'vitest';
import type { Gap, LeaseEvent, StreamView } from '../../api/types.js';
import { MOST_CELLS, stripCells, stripFrom, stripText } from './number-strip.js';
import type { OpenLease } from './number-text.js';

const stream = (leased: number, watermark: number, trimmedBefore = 0): StreamView => ({
  ...{ name: 's', leased, open: 0, watermark, seal: 0, trimmedBefore, gaps: 0, moved: 0, manual: 0 },
  readers: [],
});
const event = (type: string, data: Record<string, unknown>): LeaseEvent => ({
  ...{ id: type, type, at: '', namespace: '', actor: '', sentence: '' },
  data,
});
const gap = (number: number, more: Partial<Gap> = {}): Gap => ({ number, count: 1, sealed: false, ...more }) as Gap;

test('each number is what the gaps, the open ones and the log say, in this order', () => {
  const open = [{ number: 9, count: 5 }] as OpenLease[];
  const gaps = [gap(2), gap(3, { sealed: true }), gap(4, { movedTo: 8 })];
  const log = [event('sequence.committed', { number: 7 }), event('sequence.moved', { number: 5, movedTo: 6 })];
  const cells = stripCells(stream(10, 5), gaps, open, log);
  expect(cells.map(({ state }) => state)).toEqual([
    'stored',
    'gap',
    'sealed',
    'moved',
    'moved',
    'stored',
    'stored',
    'unknown',
    'open',
    'open',
  ]);
  expect(stripText(cells)).toBe(
    'Numbers 1 to 10: 3 stored, 1 gaps that may be filled, 1 gaps that readers have passed, 2 moved, 2 open, 1 not in the log any more.',
  );
});

test('a long stream shows its end, a trimmed one nothing that is gone, an empty one nothing', () => {
  expect(stripCells(stream(1_000_000, 1_000_000), [], [], [])).toHaveLength(MOST_CELLS);
  expect(stripFrom({ leased: 50, trimmedBefore: 40 })).toBe(40);
  expect(stripCells(stream(0, 0), [], [], [])).toEqual([]);
  expect(stripText([])).toBe('No number was leased yet.');
});
