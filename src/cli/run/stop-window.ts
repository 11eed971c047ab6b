// When a command must be told to stop so that nothing of it runs when its lease may belong to somebody else (C2, S7).
//
//   the answered renewal was sent                   SIGTERM                     SIGKILL              the lease expires
//   ──┬───────────────────────────────────────────────┬───────────────────────────┬───────────────────────┬──▶
//     │  while the store is silent, it is asked again  │◀──────── grace ──────────▶│◀────── reserve ──────▶│
//                                                            ▲ the deadline: the lease's signal aborts
//
// The expiry is as the store counts, at the earliest: the deadline and the margin of S7. The reserve is for late timers and
// for processes that need a moment to die: three quarters of the margin and at most a second; for short ttls more, up to
// 400 ms or 15 % of the ttl, where there is room; and what 500 ppm of drift could cost on top. SIGKILL ends the grace.
// SIGTERM begins it, at the deadline, or earlier where that leaves less than `--grace` (without it: less than 2.5 % of the
// ttl, at most 100 ms). A `--grace` that leaves no room for two attempts to renew (as in S14) is refused with the arithmetic.
import { formatDuration } from '../../domain/duration.js';
import { invalid } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import { backoffMs, defaultRequestTimeoutMs, marginMs } from '../../domain/trust-window.js';

const DRIFT_PPM = 500;
const RESERVE_OF_MARGIN = 0.75;
const RESERVE_WANTED_MS = 400;
const RESERVE_OF_TTL = 0.15;
const LONGEST_RESERVE_MS = 1_000;
const LEAST_GRACE_OF_TTL = 0.025;
const LEAST_GRACE_MS = 100;
/** What `connect` renews at unless it is told otherwise; the command does not tell it otherwise. */
const RENEW_AT = 0.6;

export interface StopWindow {
  /** How long before the deadline SIGTERM is sent. */
  readonly beforeMs: number;
  /** How long after the deadline SIGKILL is sent; below zero for short ttls, whose margin is less than the reserve. */
  readonly afterMs: number;
}

export function stopWindow(ttlMs: number, graceMs: number | undefined): StopWindow {
  if (graceMs !== undefined && neededMs(ttlMs, graceMs) > ttlMs) throw doesNotFit(ttlMs, graceMs);
  const afterMs = marginMs(ttlMs) - reserveMs(ttlMs, graceMs ?? 0);
  const wantedMs = graceMs ?? Math.min(ttlMs * LEAST_GRACE_OF_TTL, LEAST_GRACE_MS);
  return { beforeMs: Math.max(0, wantedMs - afterMs), afterMs };
}

/** Between SIGKILL and the expiry: what is wanted, less where the grace needs the room, but never less than the least. */
function reserveMs(ttlMs: number, graceMs: number): number {
  const wanted = Math.floor(Math.min(RESERVE_WANTED_MS, ttlMs * RESERVE_OF_TTL)) + driftMs(ttlMs);
  return Math.max(leastReserveMs(ttlMs), Math.min(wanted, ttlMs - attemptsMs(ttlMs) - graceMs));
}

function leastReserveMs(ttlMs: number): number {
  const share = (marginMs(ttlMs) - driftMs(ttlMs)) * RESERVE_OF_MARGIN;
  return Math.floor(Math.min(share, LONGEST_RESERVE_MS)) + driftMs(ttlMs);
}

function driftMs(ttlMs: number): number {
  return Math.ceil((ttlMs * DRIFT_PPM) / 1_000_000);
}

function attemptsMs(ttlMs: number): number {
  return Math.ceil(ttlMs * RENEW_AT) + 2 * defaultRequestTimeoutMs(ttlMs) + backoffMs(ttlMs);
}

function neededMs(ttlMs: number, graceMs: number): number {
  return attemptsMs(ttlMs) + Math.max(graceMs + leastReserveMs(ttlMs), marginMs(ttlMs));
}

function doesNotFit(ttlMs: number, graceMs: number): Error {
  const [point, timeout, backoff] = [Math.ceil(ttlMs * RENEW_AT), defaultRequestTimeoutMs(ttlMs), backoffMs(ttlMs)];
  const reserve = leastReserveMs(ttlMs);
  const needed = point + 2 * timeout + backoff + graceMs + reserve;
  const longest = Math.max(0, ttlMs - attemptsMs(ttlMs) - reserve);
  const roomy = ttlFor(graceMs);
  const advice = roomy === undefined ? '' : `--ttl ${formatDuration(roomy)} or more, or `;
  return invalid(
    `--grace ${formatDuration(graceMs)} does not fit: renewal point ${point} + 2 × requestTimeout ${timeout}` +
      ` + backoff ${backoff} + grace ${graceMs} + reserve ${reserve} = ${needed} ms > ttl ${ttlMs} ms;` +
      ` use ${advice}--grace ${formatDuration(longest)} or less`,
  );
}

/** The shortest ttl, in whole seconds, that has room for this grace. */
function ttlFor(graceMs: number): number | undefined {
  const fits = (seconds: number): boolean => neededMs(seconds * 1_000, graceMs) <= seconds * 1_000;
  let [low, high] = [1, LIMITS.ttlMs / 1_000];
  if (!fits(high)) return undefined;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) high = middle;
    else low = middle + 1;
  }
  return high * 1_000;
}
