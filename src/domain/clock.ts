// The clock: the one place where time, timers, randomness and ids come from, so that a simulation can run the code
// that ships. The real one is src/system-clock.ts, the fake one src/testing/fake-clock.ts.

export interface TimerHandle {
  /** Stops the timer; harmless when it has fired. */
  cancel(): void;
  /** Whether it keeps the process alive from now on. A clock without this is asked to cancel and to set anew. */
  keepAlive?(isNeeded: boolean): void;
}

export interface Clock {
  /** Milliseconds, with fractions, that never go back and ignore every step of the wall clock. On one machine all
   *  processes read the same value (it counts from boot, not from process start). */
  monotonic(): number;
  /** Milliseconds since 1970, as the machine believes. May step. */
  wall(): number;
  /** Names one boot of one kernel and its time namespace: `monotonic()` compares only within one of these (S13). */
  machine(): string;
  /** Calls `fn` once after `ms`. The timer does not keep the process alive unless `keepAlive` is true. */
  after(ms: number, fn: () => void, keepAlive?: boolean): TimerHandle;
  /** Calls `fn` soon, after what is already due on this turn of the loop. */
  soon(fn: () => void): void;
  /** From 0 up to, not including, 1. */
  random(): number;
  /** At least 100 random bits in characters of an id. */
  randomText(): string;
}
