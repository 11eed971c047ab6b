// Timers of the real clock. Most are set with a call of the store and cancelled with its answer, many times a turn of the loop, so
// all of them share one timeout of Node's: setting one is a place in a heap, cancelling it is leaving that place.
//
//   after ──▶ in the heap ──due──▶ called, once          a timeout that is set for an earlier moment stays where it is
//                └──cancel──▶ out                        when it fires too early, it is set anew for the first there is
//
// The timeout keeps the process alive for as long as there is a timer that is meant to, and not longer. One that does not come is set anew
// with the next timer: a program's tests may have put a clock of their own in the place of Node's, and have taken it along.
import { MomentHeap, type Dated } from './domain/moment-heap.js';
import type { TimerHandle } from './domain/clock.js';

/** A longer timeout of Node's fires at once; a 30-day ttl is longer, so it is waited for in pieces. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;
/** No busy loop is as late as this: the timeout is gone. */
const LOST_MS = 1_000;

export class SystemTimers {
  readonly #monotonic: () => number;
  readonly #heap = new MomentHeap<Timer>();
  #timeout: NodeJS.Timeout | undefined;
  #timeoutAt = Infinity;
  /** Timers that keep the process alive. */
  #keeping = 0;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  after(ms: number, fn: () => void, keepAlive = false): TimerHandle {
    const timer = new Timer(this, fn);
    const now = this.#monotonic();
    this.#heap.put(timer, ms > 0 ? Math.min(now + ms, Number.MAX_VALUE) : now); // one that is never due is set too: it may keep the process
    if (timer.at < this.#timeoutAt) this.#set(timer.at - now);
    else if (this.#timeoutAt < now - LOST_MS) this.#setForFirst();
    if (keepAlive) this.keep(timer, true);
    return timer;
  }

  cancel(timer: Timer): void {
    if (this.#heap.remove(timer) && timer.isKeeping) this.#keep(-1);
  }

  /** One that has fired or was cancelled keeps nothing alive. */
  keep(timer: Timer, isNeeded: boolean): void {
    if (timer.slot < 0 || timer.isKeeping === isNeeded) return;
    timer.isKeeping = isNeeded;
    this.#keep(isNeeded ? 1 : -1);
  }

  #keep(change: 1 | -1): void {
    this.#keeping += change;
    if (change === 1 && this.#keeping === 1) this.#timeout?.ref();
    if (this.#keeping === 0) this.#timeout?.unref();
  }

  #set(inMs: number): void {
    clearTimeout(this.#timeout);
    this.#timeoutAt = this.#monotonic() + inMs;
    this.#timeout = setTimeout(() => this.#fire(), Math.min(Math.ceil(inMs), LONGEST_TIMEOUT_MS));
    if (this.#keeping === 0) this.#timeout.unref();
  }

  #fire(): void {
    this.#timeout = undefined;
    this.#timeoutAt = NaN; // neither early nor late: whoever is set meanwhile is counted below
    const now = this.#monotonic();
    try {
      for (let due = this.#heap.takeFirst(now); due; due = this.#heap.takeFirst(now)) {
        if (due.isKeeping) this.#keep(-1);
        due.fn();
      }
    } finally {
      // Also when one of them has thrown: the others are not its to take along.
      this.#timeoutAt = Infinity;
      this.#setForFirst();
    }
  }

  #setForFirst(): void {
    const { first } = this.#heap;
    if (first) this.#set(Math.max(0, first.at - this.#monotonic()));
  }
}

class Timer implements TimerHandle, Dated {
  at = 0;
  slot = -1;
  readonly #timers: SystemTimers;
  readonly fn: () => void;
  isKeeping = false;

  constructor(timers: SystemTimers, fn: () => void) {
    this.#timers = timers;
    this.fn = fn;
  }

  cancel(): void {
    this.#timers.cancel(this);
  }
  keepAlive(isNeeded: boolean): void {
    this.#timers.keep(this, isNeeded);
  }
}
