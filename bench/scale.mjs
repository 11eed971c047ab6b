// How much of everything: the whole for figures that are quoted, a fraction to try the programs out (BENCH_SHORT=1, or fewer
// rows by BENCH_ROWS). What was made short is marked so in the results, and no document takes it.

export const isShort = process.env.BENCH_SHORT === '1' || process.env.BENCH_ROWS !== undefined;

/** `whole`, or `short` while trying out. */
export const scaled = (whole, short) => (isShort ? short : whole);

/** The rows of the large store; the server's suite reads the same variable. */
export const MANY_ROWS = Number(process.env.BENCH_ROWS ?? scaled(1_000_000, 20_000));
