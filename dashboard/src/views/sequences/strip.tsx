// The last numbers of a stream in a row, the newest at the end: where the holes are is seen before it is read.
import { stripText, type Cell, type CellState } from './number-strip.js';
import { shown } from './number-text.js';

const LEGEND: readonly (readonly [CellState, string])[] = [
  ['stored', 'stored'],
  ['open', 'open'],
  ['gap', 'gap, may be filled'],
  ['sealed', 'gap, readers have passed it'],
  ['moved', 'moved'],
  ['unknown', 'not in the log any more'],
];

export function Strip({ cells, watermark }: { readonly cells: readonly Cell[]; readonly watermark: number }) {
  const [first] = cells;
  if (!first) return null;
  const present = LEGEND.filter(([state]) => cells.some((cell) => cell.state === state));
  return (
    <figure class="strip">
      <div class="cells" aria-hidden="true">
        {cells.map(({ number, state }) => (
          <i
            key={number}
            data-is={state}
            data-mark={number === watermark ? 'watermark' : undefined}
            title={`${shown(number)}: ${wordOf(state)}${number === watermark ? ', the watermark' : ''}`}
          />
        ))}
      </div>
      <figcaption>
        <span class="muted">
          {shown(first.number)} to {shown(cells.at(-1)?.number ?? first.number)}
        </span>
        {present.map(([state, word]) => (
          <span key={state} class="legend">
            <i data-is={state} aria-hidden="true" />
            {word}
          </span>
        ))}
        <span class="visually-hidden">{stripText(cells)}</span>
      </figcaption>
    </figure>
  );
}

function wordOf(state: CellState): string {
  return LEGEND.find(([one]) => one === state)?.[1] ?? state;
}
