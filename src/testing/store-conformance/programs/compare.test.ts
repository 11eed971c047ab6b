// What counts as the same answer, and that every other difference is found and named.
import { describe, expect, test } from 'vitest';
import { invalid } from '../../../domain/errors.js';
import { Comparison } from './compare.js';
import { SameOrder } from './same-order.js';

const compare = (store: object, model: object): string | undefined => new Comparison().difference(store, model);

describe('numbers each side draws for itself', () => {
  test('compare by order, one to one', () => {
    const order = new SameOrder();
    expect(order.pair(100, 1)).toBe(true);
    expect(order.pair(300, 3)).toBe(true);
    expect(order.pair(200, 2)).toBe(true);
    expect(order.pair(200, 2)).toBe(true);
    expect(order.pair(200, 3)).toBe(false);
    expect(order.pair(250, 2)).toBe(false);
    expect(order.pair(400, 3)).toBe(false);
    expect(order.pair(50, 1)).toBe(false);
    expect(order.toModel(200)).toBe(2);
    expect(order.toModel(7)).toBe(7);
  });

  test('a call reaches the model with the epochs the model knows', () => {
    const comparison = new Comparison();
    expect(comparison.difference({ epoch: 500 }, { epoch: 5 })).toBeUndefined();
    const asked = { id: 'x', epoch: 500, requestId: 'r', why: 'released' } as const;
    expect(comparison.toModel({ op: 'end', asked: [asked] })).toEqual({ op: 'end', asked: [{ ...asked, epoch: 5 }] });
    expect(comparison.difference({ epoch: 500 }, { epoch: 6 })).toMatch(/^epoch: the store says 500, the model 6/);
  });
});

describe('answers are equal', () => {
  test.each<[string, object, object]>([
    ['when a field is missing here and undefined there', { a: 1 }, { a: 1, b: undefined }],
    ['whatever the wall clocks say', { skewMs: 5, wallAt: 1 }, { skewMs: -3, wallAt: 2 }],
    ['when a hint comes early', { nextAt: 5 }, { nextAt: 9 }],
    ['when a hint comes for nothing', { nextAt: 5 }, {}],
    ['whatever a position looks like', { next: 'x', oldest: 'y' }, { next: '1', oldest: '2' }],
    ['in whatever order the tickets ahead are named', { waitsForTickets: ['a', 'b'] }, { waitsForTickets: ['b', 'a'] }],
    ['with the same error', { error: invalid('no') }, { error: invalid('no') }],
  ])('%s', (_what, store, model) => {
    expect(compare(store, model)).toBeUndefined();
  });
});

describe('answers differ', () => {
  const rows = (...ids: string[]) => ({ rows: ids.map((id) => ({ id, wallAt: 1 })) });
  test.each<[string, object, object, RegExp]>([
    ['by a value', { a: { b: 1 } }, { a: { b: 2 } }, /^a\.b: the store says 1, the model 2$/],
    ['by a field too many', { a: 1, b: 2 }, { a: 1 }, /^b: the store says 2, the model nothing$/],
    ['by a field too few', {}, { a: null }, /^a: the store says nothing, the model null$/],
    ['by the length of a list', { a: [1] }, { a: [] }, /^a\.length/],
    ['by a hint that comes late', { nextAt: 9 }, { nextAt: 5 }, /^nextAt: .* not late/],
    ['by a hint that does not come', {}, { nextAt: 5 }, /^nextAt/],
    ['by a cursor that is not there', {}, { cursor: 'x' }, /^cursor/],
    ['by one position for two rows', rows('x', 'x'), rows('1', '2'), /^rows\[1\]\.id: .*one position, two rows/],
    ['by two positions for one row', rows('x', 'y'), rows('1', '1'), /^rows\[1\]\.id/],
    ['by the words of an error', { error: invalid('no') }, { error: invalid('never') }, /^error\.message/],
    ['by an error here and an answer there', invalid('no'), { a: 1 }, /the store says/],
  ])('%s', (_what, store, model, sentence) => {
    expect(compare(store, model)).toMatch(sentence);
  });
});
