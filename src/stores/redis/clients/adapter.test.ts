// Replies of any library, made alike.
import { describe, expect, test } from 'vitest';
import { answersOf, outcomesOf, plainReply } from './adapter.js';

describe('replies', () => {
  test('S17: are text, numbers, null and lists, whatever a library made of them', () => {
    expect(plainReply(Buffer.from('ä'))).toBe('ä');
    expect(plainReply([1n, true, false, undefined, null, ['x', Buffer.from('y')]])).toEqual([
      1,
      1,
      0,
      null,
      null,
      ['x', 'y'],
    ]);
    expect(plainReply(new Map<unknown, unknown>([['a', Buffer.from('b')]]))).toEqual(['a', 'b']);
    expect(plainReply({ a: '1', b: [2] })).toEqual(['a', '1', 'b', [2]]);
    expect(plainReply(new Set(['a', 'b']))).toEqual(['a', 'b']);
  });

  test('an error inside a list is thrown', () => {
    expect(() => plainReply([new Error('ERR inside')])).toThrow('ERR inside');
  });

  test('of many nodes it is known which answered; asked for all answers, the first failure is thrown', async () => {
    const outcomes = await outcomesOf([Promise.resolve('up'), Promise.reject(new Error('down'))]);
    expect(outcomes).toMatchObject([{ value: 'up' }, { reason: { message: 'down' } }]);
    expect(() => answersOf(outcomes)).toThrow('down');
    expect(answersOf(outcomes.slice(0, 1))).toEqual(['up']);
    await expect(outcomesOf([])).rejects.toThrow('no primary');
  });
});
