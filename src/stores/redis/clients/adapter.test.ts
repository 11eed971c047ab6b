// Replies of any library, made alike.
import { describe, expect, test } from 'vitest';
import { answersOf, plainReply } from './adapter.js';

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

  test('of many nodes the answers count, and the first failure when there are none', async () => {
    const failed = Promise.reject(new Error('down'));
    expect(await answersOf([failed, Promise.resolve('up')])).toEqual(['up']);
    await expect(answersOf([Promise.reject(new Error('down'))])).rejects.toThrow('down');
    await expect(answersOf([])).rejects.toThrow('no primary');
  });
});
