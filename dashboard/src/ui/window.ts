// Which rows of a long table exist: those in sight and a few on either side. Plain arithmetic, so that it can be tested.
export interface Sight {
  readonly count: number;
  readonly rowPx: number;
  readonly scrollTop: number;
  readonly heightPx: number;
}

export interface RowWindow {
  readonly first: number;
  /** One past the last. */
  readonly end: number;
  readonly totalPx: number;
}

const MARGIN_ROWS = 8;
/** However tall the screen is, or wrong the height we were told. */
const MOST_ROWS = 120;

export function windowOf({ count, rowPx, scrollTop, heightPx }: Sight): RowWindow {
  const inSight = Math.ceil(Math.max(0, heightPx) / rowPx) + 1;
  const size = Math.min(inSight + 2 * MARGIN_ROWS, MOST_ROWS);
  const wanted = Math.floor(Math.max(0, scrollTop) / rowPx) - MARGIN_ROWS;
  const first = Math.max(0, Math.min(wanted, count - size));
  return { first, end: Math.min(count, first + size), totalPx: count * rowPx };
}
