// Values as PostgreSQL writes them.
import { expect, test } from 'vitest';
import { parseArray, rowTypes } from './pool-types.js';

const text = (one: string): unknown => one;

test.each([
  ['{}', []],
  ['{a}', ['a']],
  ['{a,b,NULL,"NULL"}', ['a', 'b', null, 'NULL']],
  ['{"","a,b","{x}","q\\"\\\\"}', ['', 'a,b', '{x}', 'q"\\']],
  ['{"unfinished', ['unfinished']],
])('%s', (written, items) => {
  expect(parseArray(written, text)).toEqual(items);
});

test('S17: what does not fit a number stays text', () => {
  expect(rowTypes.getTypeParser(20)('9007199254740993')).toBe('9007199254740993');
  expect(rowTypes.getTypeParser(1700)('1e400')).toBe('1e400');
  expect(rowTypes.getTypeParser(23)('-7')).toBe(-7);
  expect(rowTypes.getTypeParser(1184)('2026-01-01 00:00:00+00')).toBe('2026-01-01 00:00:00+00');
});

test('A11: binary results are refused with what to do', () => {
  expect(() => rowTypes.getTypeParser(23, 'binary')('')).toThrow(/binary: true/);
});
