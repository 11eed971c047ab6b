// One line of virtual time for everybody. An event runs, then every promise it set off settles, then the checks look;
// nothing happens in between, so a seed is a story that can be told again word for word.
//
// `now` is the true time, in milliseconds from the beginning of the world. What a process believes is in virtual-clock.ts.
import { EventHeap } from './event-heap.js';
import { Random } from './random.js';
import { turn, turnWithDisk } from './turn.js';

/** The wall clock of the true time at 0. */
export const EPOCH_WALL_MS = 1_767_225_600_000;
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
  /** The story is kept for somebody who reads it. A world that is run for its checks alone tells nothing. */
  isTold = false;
  /** Something in it writes files. */
  waitsForDisk = false;
  readonly #story: string[] = [];
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

  /** Words are made at once, because what they speak of changes. */
  tell(words: () => string): void {
    if (this.isTold) this.#story.push(`  ${this.now.toFixed(3).padStart(10)}  ${words()}`);
  }

  story(length = Infinity): string {
    return this.#story.slice(-length).join('\n');
  }

  /** Whatever happens in a callback or a promise nobody waits for ends the run. */
  fail(error: unknown): void {
    this.#broken ??= error instanceof Error ? error : new Violation(`S12: ${String(error)} was thrown`);
  }

  /** Runs until `isOver`, or until nothing is left to happen before `end`. */
  async run(isOver: () => boolean, end: number): Promise<void> {
    await this.#settle();
    for (let next = this.#events.peek(); next && next.at <= end && !isOver(); next = this.#events.peek()) {
      this.#events.pop();
      if (next.isOff) continue;
      this.#look(next.at);
      next.run();
      await this.#settle();
      this.#throwIfBroken();
      this.check();
      this.count += 1;
      if (this.count > MAX_EVENTS) throw new Violation(`S18: the world does not come to rest: ${MAX_EVENTS} events`);
    }
    if (isOver()) return;
    this.#look(end);
  }

  #settle(): Promise<void> {
    return this.waitsForDisk ? turnWithDisk() : turn();
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
