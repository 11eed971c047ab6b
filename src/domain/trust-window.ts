// S7 and S14: how long a holder may believe in its lease without a word from the store, and whether a set of durations
// leaves room for two attempts to renew. Pure arithmetic on the monotonic clock; the manager owns the timers.
import { invalid } from './errors.js';
import { LIMITS } from './limits.js';

const MARGIN_SHARE = 0.1;
const MARGIN_MIN_MS = 25;
const MARGIN_MAX_MS = 5_000;
const DRIFT_PPM = 500;
const MAX_REQUEST_TIMEOUT_MS = 5_000;
const BACKOFF_MIN_MS = 5;
const BACKOFF_SHARE = 0.02;

/** 10 % of the ttl, at least 25 ms, at most 5 s, plus 500 ppm of the ttl for clocks that drift apart. */
export function marginMs(ttlMs: number): number {
  return Math.ceil(withoutDrift(ttlMs) + (ttlMs * DRIFT_PPM) / 1_000_000);
}

function withoutDrift(ttlMs: number): number {
  return Math.min(Math.max(ttlMs * MARGIN_SHARE, MARGIN_MIN_MS), MARGIN_MAX_MS);
}

/** The deadline counts from when the answered request was *sent*: a slow round trip cannot stretch it. More than the ttl may
 *  remain (a renewal never shortens, S4); the clocks then drift for that long, so the margin is of what is longer. */
export function trustedUntil(sentAtMs: number, remainingMs: number, ttlMs: number): number {
  return sentAtMs + remainingMs - marginMs(Math.max(ttlMs, remainingMs));
}

/** Suspended: wall time since the last answered request ran ahead of monotonic time by more than the margin, without its
 *  part for drift: a sleep just below it and a slow clock together must still end within the margin. */
export function isInDoubt(wallPassedMs: number, monotonicPassedMs: number, ttlMs: number): boolean {
  return wallPassedMs - monotonicPassedMs > withoutDrift(ttlMs);
}

export interface Timing {
  readonly ttlMs: number;
  readonly renewAt: number;
  readonly requestTimeoutMs: number;
}

export function defaultRequestTimeoutMs(ttlMs: number): number {
  return Math.min(Math.floor(ttlMs * MARGIN_SHARE), MAX_REQUEST_TIMEOUT_MS);
}

/** The pause between the two attempts that must fit before the deadline. */
export function backoffMs(ttlMs: number): number {
  return Math.max(BACKOFF_MIN_MS, Math.min(Math.floor(ttlMs * BACKOFF_SHARE), 1_000));
}

/** S14: renewal point + 2 × requestTimeout + backoff + margin ≤ ttl, else refused with the arithmetic. */
export function checkTiming(
  { ttlMs, renewAt, requestTimeoutMs }: Timing,
  minTtlMs: number = LIMITS.minTtlAutoMs,
): void {
  if (ttlMs < minTtlMs) throw invalid(`ttl of an auto-renewed lease is at least ${minTtlMs} ms here, got ${ttlMs} ms`);
  if (!(renewAt >= 0.3 && renewAt <= 0.8)) throw invalid(`renewAt is from 0.3 to 0.8 of the ttl, got ${renewAt}`);
  if (!(requestTimeoutMs > 0)) throw invalid(`requestTimeout must be above 0 ms, got ${requestTimeoutMs}`);
  const point = Math.ceil(ttlMs * renewAt);
  const [backoff, margin] = [backoffMs(ttlMs), marginMs(ttlMs)];
  const needed = point + 2 * requestTimeoutMs + backoff + margin;
  if (needed <= ttlMs) return;
  throw invalid(
    `two renewal attempts do not fit: renewal point ${point} + 2 × requestTimeout ${requestTimeoutMs} + backoff ${backoff}` +
      ` + margin ${margin} = ${needed} ms > ttl ${ttlMs} ms; raise the ttl, or lower renewAt or requestTimeout`,
    { point, requestTimeoutMs, backoff, margin, needed, ttlMs },
  );
}
