// One clock and one ticker for the whole page. `tick` is the store's time, once a second, and stands still while nobody looks;
// a component that shows a time reads it and is drawn again with it.
import { signal } from '@preact/signals';
import { askTime, betterFix, type ClockFix } from '../api/clock.js';

const TICK_MS = 1_000;
const SYNC_MS = 30_000;

let fix: ClockFix | undefined;

/** Store time in milliseconds; 0 until it was told for the first time. */
export const tick = signal(0);

/** The store's time at this very moment, as far as it is known. */
export function storeNow(): number {
  return fix ? performance.now() + fix.offsetMs : 0;
}

/** What happened cannot be in the future: a clock that says so was asleep. */
export function witness(at: string): void {
  const ms = Date.parse(at);
  if (fix && ms > storeNow()) fix = { offsetMs: ms - performance.now(), errorMs: fix.errorMs };
}

export async function syncClock(stop: AbortSignal): Promise<void> {
  fix = betterFix(fix, await askTime(stop));
  tick.value = storeNow();
}

/** Runs until stopped. Whether the server answers is not its concern: the connection tells that. */
export function runClock(stop: AbortSignal): void {
  let syncedAt = performance.now();
  const sync = (): void => {
    syncedAt = performance.now();
    syncClock(stop).catch(() => undefined);
  };
  const beat = (): void => {
    if (document.hidden) return;
    tick.value = storeNow();
    if (performance.now() - syncedAt >= SYNC_MS) sync();
  };
  const onShown = (): void => {
    if (!document.hidden) sync();
  };
  const timer = setInterval(beat, TICK_MS);
  document.addEventListener('visibilitychange', onShown);
  stop.addEventListener('abort', () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', onShown);
  });
}
