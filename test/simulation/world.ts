// One line of virtual time for everybody. An event runs, then every promise it set off settles, then the checks look;
// nothing happens in between, so a seed is a story that can be told again word for word.
//
// `now` is the true time, in milliseconds from the beginning of the world. What a process believes is in virtual-clock.ts.
import { EventHeap } from './event-heap.js';
import { Random } from './random.js';

/** The wall clock of the true time at 0. */
export const EPOCH_WALL_MS = 1_767_225_600_000;
const STORY_LENGTH = 60;
/** S18: a world that never comes to rest is a finding, not a hang. */
const MAX_EVENTS = 60_000;

/** `isOff`: it will not run, and costs nothing. */
export interface WorldEvent {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
  isOff: boolean;
}

/** A rule was broken. The message is a sentence that begins with its tag. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

export class World {
  readonly seed: number;
  readonly random: Random;
  now = 0;
  /** Looks at the world after an event, when all has settled. */
  check: () => void = () => undefined;
  /** Looks at what time alone may have changed, before an event and at moments in between. */
  checkTime: () => void = () => undefined;
  /** Instants between events at which the checks look as well: before the time given, in order. */
  instantsBefore: (end: number) => number[] = () => [];
  #events = new EventHeap<WorldEvent>();
  /** The whole story is kept for somebody who reads it, else its end. */
  keepsAll = false;
  #story: { readonly at: number; readonly words: () => string }[] = [];
  #broken: Error | undefined;
  count = 0;

  constructor(seed: number) {
    this.seed = seed;
    this.random = new Random(seed);
  }

  /** Events of one instant run in an order that only the seed knows. */
  at(time: number, run: () => void): WorldEvent {
    const event = { at: Math.max(this.now, time), order: this.random.next(), run, isOff: false };
    this.#events.push(event);
    return event;
  }

  /** Told lazily: words are only made for a story that is read. */
  tell(words: () => string): void {
    this.#story.push({ at: this.now, words });
    if (this.#story.length > 2 * STORY_LENGTH && !this.keepsAll) this.#story = this.#story.slice(-STORY_LENGTH);
  }

  story(length = STORY_LENGTH): string {
    const lines = this.#story.slice(-length).map(({ at, words }) => `  ${at.toFixed(3).padStart(10)}  ${words()}`);
    return lines.join('\n');
  }

  /** Whatever happens in a callback or a promise nobody waits for ends the run. */
  fail(error: unknown): void {
    this.#broken ??= error instanceof Error ? error : new Violation(`S12: ${String(error)} was thrown`);
  }

  /** Runs until `isOver`, or until nothing is left to happen before `end`. */
  async run(isOver: () => boolean, end: number): Promise<void> {
    await settled();
    for (let next = this.#events.peek(); next && next.at <= end && !isOver(); next = this.#events.peek()) {
      this.#events.pop();
      if (next.isOff) continue;
      this.#look(next.at);
      next.run();
      await settled();
      this.#throwIfBroken();
      this.check();
      this.count += 1;
      if (this.count > MAX_EVENTS) throw new Violation(`S18: the world does not come to rest: ${MAX_EVENTS} events`);
    }
    if (isOver()) return;
    this.#look(end);
  }

  /** Time passes up to the next event; a clock at a call is compared at every moment that could matter. */
  #look(until: number): void {
    for (const instant of this.instantsBefore(until)) {
      this.now = Math.max(this.now, instant);
      this.checkTime();
    }
    this.now = Math.max(this.now, until);
    this.checkTime();
  }

  #throwIfBroken(): void {
    if (this.#broken) throw this.#broken;
  }
}

/** One turn of the loop: all promises settle before it, however long their chain. No time passes. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
