// The store's clock, as the page reckons it: an answer of GET /v1/time fixes it to performance.now(), which runs on from there.
// The browser's wall clock is never asked, so a laptop that is two hours off shows what everybody else sees.
import { get } from './client.js';
import type { StoreTime } from './types.js';

export interface ClockFix {
  /** Store time minus performance.now(), milliseconds. */
  readonly offsetMs: number;
  /** By how much that can be wrong. */
  readonly errorMs: number;
}

/** The store answered somewhere between sending and receiving: the middle is off by half the way at most. */
export function fixOf(sentAt: number, receivedAt: number, storeNow: string): ClockFix {
  return { offsetMs: Date.parse(storeNow) - (sentAt + receivedAt) / 2, errorMs: (receivedAt - sentAt) / 2 };
}

/** A quick answer is worth more than a slow one, unless the slow one shows that time went on without us (a suspend). */
export function betterFix(old: ClockFix | undefined, fresh: ClockFix): ClockFix {
  if (!old) return fresh;
  const isContradicted = Math.abs(old.offsetMs - fresh.offsetMs) > old.errorMs + fresh.errorMs + 50;
  return isContradicted || fresh.errorMs <= old.errorMs ? fresh : old;
}

export async function askTime(signal?: AbortSignal): Promise<ClockFix> {
  const sentAt = performance.now();
  const { storeNow } = await get<StoreTime>('/v1/time', {}, signal);
  return fixOf(sentAt, performance.now(), storeNow);
}
