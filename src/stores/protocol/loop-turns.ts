// S20: the event loop stays free. A store in this process answers at once, so a caller that awaits one call after another would run
// on promises alone and no timer, socket or abort would ever get its turn. Once a turn of the loop has lasted long enough,
// the next write lets the loop go round first.
import type { Clock } from '../../domain/clock.js';

const LONG_TURN_MS = 4;

export class LoopTurns {
  readonly #clock: Clock;
  #began = -Infinity;
  #count = 0;
  #isMarked = false;
  #next: Promise<void> | undefined;
  #end: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Called when a turn is over in which anybody asked. */
  onEnd(end: () => void): void {
    this.#end = end;
  }

  /** The number of this turn. */
  current(): number {
    if (this.#isMarked) return this.#count;
    this.#isMarked = true;
    this.#began = this.#clock.monotonic();
    this.#count += 1;
    this.#clock.soon(() => {
      this.#isMarked = false;
      this.#end();
    });
    return this.#count;
  }

  /** True when work has gone on for a while since the loop last went round. */
  isLong(): boolean {
    if (this.#isMarked) return this.#clock.monotonic() - this.#began > LONG_TURN_MS;
    this.current();
    return false;
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
