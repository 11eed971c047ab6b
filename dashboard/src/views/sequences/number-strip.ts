// The last numbers of a stream as a row of cells. Pure. A number is what the list of gaps says, then what the log says last;
// below the watermark everything else is stored, above it is unknown what neither of them names.
import type { Gap, LeaseEvent, StreamView } from '../../api/types.js';
import { numberIn, type OpenLease } from './number-text.js';

export type CellState = 'stored' | 'gap' | 'sealed' | 'moved' | 'open' | 'unknown';
export interface Cell {
  readonly number: number;
  readonly state: CellState;
}

export const MOST_CELLS = 120;

/** The first number that is drawn. */
export function stripFrom({ leased, trimmedBefore }: Pick<StreamView, 'leased' | 'trimmedBefore'>): number {
  return Math.max(1, trimmedBefore, leased - MOST_CELLS + 1);
}

export function stripCells(
  stream: StreamView,
  gaps: readonly Gap[],
  open: readonly OpenLease[],
  newestFirst: readonly LeaseEvent[],
): Cell[] {
  const from = stripFrom(stream);
  const states = new Map<number, CellState>();
  const say = (number: number, count: number, state: CellState): void => {
    for (let one = Math.max(from, number); one < number + count && one <= stream.leased; one += 1) {
      if (!states.has(one)) states.set(one, state);
    }
  };
  for (const { number, count } of open) say(number, count, 'open');
  for (const gap of gaps) say(gap.number, gap.count, stateOf(gap));
  for (const event of newestFirst) {
    const state = BY_TYPE[event.type];
    const number = numberIn(event, 'number');
    const count = numberIn(event, 'count') ?? 1;
    const movedTo = numberIn(event, 'movedTo');
    if (movedTo !== undefined) say(movedTo, count, 'stored');
    if (state !== undefined && number !== undefined) say(number, count, state);
  }
  const cells: Cell[] = [];
  for (let number = from; number <= stream.leased; number += 1) {
    cells.push({ number, state: states.get(number) ?? (number <= stream.watermark ? 'stored' : 'unknown') });
  }
  return cells;
}

const BY_TYPE: Readonly<Partial<Record<string, CellState>>> = {
  'sequence.committed': 'stored',
  'sequence.filled': 'stored',
  'sequence.moved': 'moved',
  'sequence.gap': 'gap',
};

function stateOf({ movedTo, sealed }: Gap): CellState {
  if (movedTo !== undefined) return 'moved';
  return sealed ? 'sealed' : 'gap';
}

/** For those who do not see the row: how many of each, and where it begins. */
export function stripText(cells: readonly Cell[]): string {
  const [first] = cells;
  if (!first) return 'No number was leased yet.';
  const words: Readonly<Record<CellState, string>> = {
    stored: 'stored',
    gap: 'gaps that may be filled',
    sealed: 'gaps that readers have passed',
    moved: 'moved',
    open: 'open',
    unknown: 'not in the log any more',
  };
  const parts = (Object.keys(words) as CellState[]).flatMap((state) => {
    const count = cells.filter((cell) => cell.state === state).length;
    return count === 0 ? [] : [`${count} ${words[state]}`];
  });
  return `Numbers ${first.number} to ${cells.at(-1)?.number ?? first.number}: ${parts.join(', ')}.`;
}
