// Names that would lie if they were shown as they are.
import { expect, test } from 'vitest';
import { cutMiddle, piecesOf, plainName } from './name-text.js';

test('plain names, in any script, stay as they are', () => {
  for (const name of ['orders/0', '<script>alert(1)</script>', 'größe', '注文/一', 'طلب', 'a b'])
    expect(piecesOf(name)).toEqual([{ text: name, isOdd: false }]);
});

test.each([
  ['evil/\u202Etxt.exe', 'evil/[U+202E]txt.exe'],
  ['a\u200Bb', 'a[U+200B]b'],
  ['a\u0000b', 'a[U+0000]b'],
  ['line\nbreak', 'line[U+000A]break'],
  ['no\u00A0break', 'no[U+00A0]break'],
  ['\uFEFFbom', '[U+FEFF]bom'],
  ['\u2067iso\u2069', '[U+2067]iso[U+2069]'],
  ['half \uD800', 'half [U+D800]'],
])('what is not seen is told by its number: %j', (name, shown) => {
  expect(plainName(name)).toBe(shown);
});

test('a long name keeps its beginning and more of its end', () => {
  const name = `long/${'x'.repeat(500)}/tail`;
  const cut = cutMiddle(name, 40);
  expect(Array.from(cut)).toHaveLength(40);
  expect(cut.startsWith('long/x')).toBe(true);
  expect(cut.endsWith('x/tail')).toBe(true);
  expect(cutMiddle('short', 40)).toBe('short');
  expect(cutMiddle('😀'.repeat(20), 5)).toBe('😀…😀😀😀');
});
