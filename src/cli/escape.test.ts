// What a terminal may see, and how wide it is.
import { expect, test } from 'vitest';
import { columnsOf, cut, safe, safeJson } from './escape.js';

test.each([
  ['orders/0', 'orders/0'],
  ['a\nb\rc\td', 'a\\nb\\rc\\td'],
  ['\u001b[31mred\u0007', '\\x1b[31mred\\x07'],
  ['\u009b31m\u0000\u007f', '\\x9b31m\\x00\\x7f'],
  ['a\u202eb\u2066c\u200bd\ufeff', 'a\\u{202e}b\\u{2066}c\\u{200b}d\\u{feff}'],
  ['line\u2028end', 'line\\u{2028}end'],
  ['\ud800', '\\u{d800}'],
  ['Zürich 注文 👍', 'Zürich 注文 👍'],
])('C1: %j is shown as %j', (text, shown) => {
  expect(safe(text)).toBe(shown);
});

test('C1: JSON is one line that parses back', () => {
  const value = { a: 'x\n\u009b\u202e', b: ['\u001b[2J'] };
  const line = safeJson(value);
  expect(line).toMatch(/^[\x20-\x7e]+$/);
  expect(JSON.parse(line)).toEqual(value);
});

test('wide signs count twice, marks not at all', () => {
  expect(columnsOf('orders')).toBe(6);
  expect(columnsOf('注文')).toBe(4);
  expect(columnsOf('e\u0301')).toBe(1);
});

test('what is cut keeps to its columns', () => {
  expect(cut('orders', 6)).toBe('orders');
  expect(cut('orders', 4)).toBe('ord…');
  expect(cut('注文注文', 4)).toBe('注…');
});
