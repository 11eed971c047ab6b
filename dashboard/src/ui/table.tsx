// A table of any length of which only the rows in sight exist. Rows have one height; columns are told as data. A screen reader
// is told how many rows there are and which ones it meets.
import { useSignal, type ReadonlySignal } from '@preact/signals';
import { Component, type ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { isNarrow } from './narrow.js';
import { windowOf } from './window.js';
import './table.css';

export interface Column<Row> {
  readonly title: string;
  /** A track of a CSS grid: '8rem', 'minmax(12rem, 2fr)'. */
  readonly width: string;
  readonly align?: 'end';
  /** Left out on a phone. */
  readonly isWide?: boolean;
  readonly cell: (row: Row, index: number) => ComponentChildren;
}

export interface TableProps<Row> {
  /** What the rows are, for those who do not see them. */
  readonly label: string;
  readonly rows: readonly Row[];
  /** The same list as before means the same cells: make another when they draw something else. */
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly rowPx?: number;
  /** Told which rows are in sight whenever that changes. */
  readonly onSight?: (rows: readonly Row[]) => void;
  /** In place of rows when there are none. */
  readonly empty?: ComponentChildren;
}

const ROW_PX = 44;

export function Table<Row>(props: TableProps<Row>) {
  const { label, rows, keyOf, rowPx = ROW_PX, onSight, empty } = props;
  const box = useRef<HTMLDivElement>(null);
  const sight = useSight(box);
  const isPhone = isNarrow.value;
  const columns = useMemo(
    () => props.columns.filter(({ isWide }) => !(isWide === true && isPhone)),
    [props.columns, isPhone],
  );
  const { first, end, totalPx } = windowOf({ count: rows.length, rowPx, ...sight.value });
  const shown = rows.slice(first, end);
  const shownKeys = shown.map(keyOf).join('\n');
  useEffect(() => onSight?.(shown), [shownKeys]);
  useEffect(() => () => onSight?.([]), []);
  useLayoutEffect(() => {
    box.current?.style.setProperty('--columns', columns.map(({ width }) => width).join(' '));
  }, [columns.length, label]);
  return (
    <div class="table" ref={box} role="table" aria-label={label} aria-rowcount={rows.length + 1} tabIndex={0}>
      <div role="rowgroup">
        <div class="line head" role="row" aria-rowindex={1}>
          {columns.map(({ title, align }) => (
            <div key={title} class="cell" role="columnheader" data-align={align}>
              {title}
            </div>
          ))}
        </div>
      </div>
      {rows.length === 0 && empty}
      <div class="rows" role="rowgroup" style={{ height: `${totalPx}px` }}>
        {shown.map((row, offset) => (
          <Line key={keyOf(row)} row={row} index={first + offset} columns={columns} rowPx={rowPx} />
        ))}
      </div>
    </div>
  );
}

interface LineProps<Row> {
  readonly row: Row;
  readonly index: number;
  readonly columns: readonly Column<Row>[];
  readonly rowPx: number;
}

/** Drawn again when it shows something else, or when a signal says so (which sets the state): the others stay as they are. */
class Line<Row> extends Component<LineProps<Row>> {
  override shouldComponentUpdate(next: Readonly<LineProps<Row>>, nextState: object): boolean {
    const { row, index, columns, rowPx } = this.props;
    const isSame = next.row === row && next.index === index && next.columns === columns && next.rowPx === rowPx;
    return !isSame || nextState !== this.state;
  }

  override render() {
    const { row, index, columns, rowPx } = this.props;
    const style = { height: `${rowPx}px`, transform: `translateY(${index * rowPx}px)` };
    return (
      <div class="line" role="row" aria-rowindex={index + 2} style={style}>
        {columns.map(({ title, align, cell }) => (
          <div key={title} class="cell" role="cell" data-align={align}>
            {cell(row, index)}
          </div>
        ))}
      </div>
    );
  }
}

/** Scroll position and height of the box, told at most once a frame. */
function useSight(box: { current: HTMLDivElement | null }): ReadonlySignal<{ scrollTop: number; heightPx: number }> {
  const sight = useSignal({ scrollTop: 0, heightPx: 600 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    let frame = 0;
    const look = (): void => {
      frame = 0;
      sight.value = { scrollTop: element.scrollTop, heightPx: element.clientHeight };
    };
    const soon = (): void => {
      frame ||= requestAnimationFrame(look);
    };
    const resized = new ResizeObserver(soon);
    resized.observe(element);
    element.addEventListener('scroll', soon, { passive: true });
    look();
    return () => {
      cancelAnimationFrame(frame);
      resized.disconnect();
      element.removeEventListener('scroll', soon);
    };
  }, []);
  return sight;
}
