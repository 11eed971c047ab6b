// Layouts: the roomiest that fits, and never a line that is too long.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { columnsOf } from './escape.js';
import { broken, fitted, inWords, type Layout } from './table.js';

interface Row {
  readonly name: string;
  readonly count: string;
}
const columns = [
  { title: 'NAME', of: (row: Row) => row.name },
  { title: 'N', of: (row: Row) => row.count, isRight: true },
];
const layouts: Layout<Row>[] = [{ columns }, { columns: columns.slice(1), above: (row) => row.name }];
const words = (row: Row): string[] => [row.name, `count ${row.count}`, 'and more'];
const lay = (rows: Row[], width: number): string[] => fitted(rows, layouts, words, width, (line) => line);

test('C4: the same rows at three widths', () => {
  const rows = [
    { name: 'a', count: '1' },
    { name: 'longer', count: '22' },
  ];
  expect(lay(rows, 80)).toEqual(['NAME     N', 'a        1', 'longer  22']);
  expect(lay(rows, 6)).toEqual(['   N', 'a', '   1', 'longer', '  22']);
  expect(lay([{ name: 'b', count: '333333' }], 7)).toEqual(['b', '  count', '  33333', '  3,', '  and', '  more']);
});

test('C4: words are broken between words, else anywhere, and go on indented', () => {
  expect(inWords(['name', 'one', 'two', 'three'], 12)).toEqual(['name', '  one, two,', '  three']);
  expect(broken('held by somebody', 10)).toEqual(['held by', '  somebody']);
  expect(broken('abcdefghijkl', 6)).toEqual(['abcdef', '  ghij', '  kl']);
});

test('C4: no line is wider than the terminal, and nothing is left out', () => {
  const text = fc.stringMatching(/^[a-z/]{1,30}$/);
  fc.assert(
    fc.property(
      fc.array(fc.record({ name: text, count: text }), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 12, max: 80 }),
      (rows, width) => {
        const lines = lay(rows, width);
        for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(width);
        const all = lines.join('').replaceAll(/[\s,]/g, '');
        for (const { name, count } of rows) {
          expect(all).toContain(name);
          expect(all).toContain(count);
        }
      },
    ),
  );
});
