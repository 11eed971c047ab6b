// Tables that fit. The same rows can be laid out in several ways, the roomiest first; the first that fits the width is
// taken. Nothing is left out to make them fit: the last way is words, broken between words.
import { columnsOf } from './escape.js';

export interface Column<T> {
  readonly title: string;
  readonly of: (row: T) => string;
  readonly isRight?: boolean;
  /** Escape sequences around a cell that is already padded; they take no room. */
  readonly paint?: (row: T, cell: string) => string;
}

const GAP = '  ';
const INDENT = '  ';

export interface Layout<T> {
  readonly columns: readonly Column<T>[];
  /** A line of its own above each row, when the columns do not hold it. */
  readonly above?: (row: T) => string;
}

/** Lines, without colours beyond what `paint` and `head` add. */
export function fitted<T>(
  rows: readonly T[],
  layouts: readonly Layout<T>[],
  words: (row: T) => readonly string[],
  width: number,
  head: (line: string) => string,
): string[] {
  for (const layout of layouts) {
    const { lines, broadest } = laidOut(rows, layout, head);
    if (broadest <= width) return lines;
  }
  return rows.flatMap((row) => inWords(words(row), width));
}

function laidOut<T>(
  rows: readonly T[],
  { columns, above }: Layout<T>,
  head: (line: string) => string,
): { lines: string[]; broadest: number } {
  const indent = above === undefined ? '' : INDENT;
  const cells = rows.map((row) => columns.map((column) => column.of(row)));
  const widths = columns.map(({ title }, i) => Math.max(title.length, ...cells.map((row) => columnsOf(row[i] ?? ''))));
  const titles = columns.map((column, i) => padded(column.title, widths[i] ?? 0, column.isRight));
  const lines = [head((indent + titles.join(GAP)).trimEnd())];
  let broadest = widths.reduce((sum, one) => sum + one, indent.length + GAP.length * (columns.length - 1));
  rows.forEach((row, r) => {
    if (above !== undefined) {
      lines.push(above(row));
      broadest = Math.max(broadest, columnsOf(above(row)));
    }
    const line = columns.map((column, i) => {
      const cell = padded(cells[r]?.[i] ?? '', widths[i] ?? 0, column.isRight);
      return column.paint ? column.paint(row, cell) : cell;
    });
    lines.push((indent + line.join(GAP)).trimEnd());
  });
  return { lines, broadest };
}

function padded(text: string, width: number, isRight = false): string {
  const room = ' '.repeat(Math.max(0, width - columnsOf(text)));
  return isRight ? room + text : text + room;
}

/** The first piece on a line of its own, the others below it, as many to a line as fit. */
export function inWords([first = '', ...rest]: readonly string[], width: number): string[] {
  const lines = broken(first, width, '', INDENT);
  let line = '';
  for (const piece of rest) {
    const longer = line === '' ? INDENT + piece : `${line}, ${piece}`;
    if (line !== '' && columnsOf(longer) + 1 > width) {
      lines.push(...broken(`${line},`, width, '', INDENT));
      line = INDENT + piece;
    } else {
      line = longer;
    }
  }
  return line === '' ? lines : [...lines, ...broken(line, width, '', INDENT)];
}

/** A line that is too long goes on below: between words where there are any, else anywhere. */
export function broken(text: string, width: number, begin = '', further = INDENT): string[] {
  const lines: string[] = [];
  let rest = begin + text;
  while (columnsOf(rest) > width && width > further.length + 1) {
    const room = fittingPrefix(rest, width);
    const space = rest.lastIndexOf(' ', room);
    const isUseful = space > further.length && rest.slice(0, space).trim() !== '';
    const at = isUseful ? space : room;
    lines.push(rest.slice(0, at).trimEnd());
    rest = further + rest.slice(at).trimStart();
  }
  return [...lines, rest];
}

/** How many characters of it fill the width at most; at least one. */
function fittingPrefix(text: string, width: number): number {
  let [length, used] = [0, 0];
  for (const char of text) {
    used += columnsOf(char);
    if (used > width) break;
    length += char.length;
  }
  return Math.max(1, length);
}
