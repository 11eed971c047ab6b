// S2: one counter per namespace that only grows. It starts at, and is lifted at every new incarnation to at least, the
// store's wall time in microseconds, so that no purge, restore or deleted file can repeat an epoch.
import { invalid } from './errors.js';

const MICROS_PER_MS = 1_000;

/** The counter's value after a new incarnation began: the next epoch drawn is above it. */
export function liftedEpoch(last: number, wallMs: number): number {
  return Math.max(last + 1, Math.floor(wallMs) * MICROS_PER_MS);
}

/** S17: epochs are safe integers end to end; the counter refuses to leave that range rather than repeat one. */
export function nextEpoch(last: number): number {
  const next = last + 1;
  if (!Number.isSafeInteger(next)) throw invalid('the epoch counter has left the range of safe integers');
  return next;
}

export function isEpoch(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
