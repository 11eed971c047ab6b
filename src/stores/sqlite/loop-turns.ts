// S20: the event loop stays free. SQLite answers at once, so a caller that awaits one call after another would run on
// promises alone and no timer, socket or abort would ever get its turn. Once a turn of the loop has lasted long enough,
// the next write lets the loop go round first.
import type { Clock } from '../../domain/clock.js';

const LONG_TURN_MS = 4;

export class LoopTurns {
  readonly #clock: Clock;
  #began = -Infinity;
  #isMarked = false;
  #next: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True when work has gone on for a while since the loop last went round. */
  isLong(): boolean {
    if (!this.#isMarked) {
      this.#isMarked = true;
      this.#began = this.#clock.monotonic();
      this.#clock.soon(() => {
        this.#isMarked = false;
      });
      return false;
    }
    return this.#clock.monotonic() - this.#began > LONG_TURN_MS;
  }

  next(): Promise<void> {
    this.#next ??= new Promise<void>((resolve) => {
      this.#clock.soon(() => {
        this.#next = undefined;
        resolve();
      });
    });
    return this.#next;
  }
}
