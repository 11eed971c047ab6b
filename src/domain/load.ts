// How loaded this process and its store are, in one word (V3, O1): the worst of three figures decides. A figure that is
// not known makes the whole unknown, and whoever asks treats unknown like high.

export type Load = 'low' | 'medium' | 'high' | 'unknown';

export interface LoadFigures {
  readonly loopLagMs?: number | undefined;
  /** Of a recent call of the store, or a mean of them. */
  readonly storeLatencyMs?: number | undefined;
  /** Leases that expired and wait to be dealt with. */
  readonly expiredBacklog?: number | undefined;
}

/** At or above the first: medium. At or above the second: high. */
const BOUNDS: { readonly [K in keyof Required<LoadFigures>]: readonly [number, number] } = {
  loopLagMs: [50, 200],
  storeLatencyMs: [100, 500],
  expiredBacklog: [100, 1_000],
};

export function classifyLoad(figures: LoadFigures): Load {
  let worst: Load = 'low';
  for (const [key, [medium, high]] of Object.entries(BOUNDS) as [keyof LoadFigures, readonly [number, number]][]) {
    const figure = figures[key];
    if (figure === undefined || Number.isNaN(figure)) return 'unknown';
    if (figure >= high) worst = 'high';
    else if (figure >= medium && worst === 'low') worst = 'medium';
  }
  return worst;
}
