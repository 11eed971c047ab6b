// What this process is about with numbers, for a shutdown that lets it finish (A9): the leases of numbers it has, and the calls that would
// lose something if they were cut off. A lease that nobody looks at any more is forgotten when it is over by its deadline.
import type { Clock } from '../domain/clock.js';

/** A lease of numbers. */
interface Holding {
  /** Monotonic. */
  readonly deadline: number;
}

/** So many are kept before those that are over are looked for. */
const MANY = 1_000;

export class NumberWork {
  readonly #clock: Clock;
  readonly #held = new Set<Holding>();
  #mostHeld = MANY;
  #calls = 0;
  #onChange: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  hold(one: Holding): void {
    this.#held.add(one);
    if (this.#held.size <= this.#mostHeld) return;
    this.#forgetOverdue();
    this.#mostHeld = Math.max(MANY, 2 * this.#held.size);
  }
  left(one: Holding): void {
    this.#held.delete(one);
    this.#onChange?.();
  }

  /** Under way until it is settled. */
  note<T>(call: Promise<T>): Promise<T> {
    this.#calls += 1;
    const over = (): void => {
      this.#calls -= 1;
      this.#onChange?.();
    };
    call.then(over, over);
    return call;
  }

  /** Nothing is held or under way any more, or the time is over. */
  idle(withinMs: number): Promise<void> {
    return this.#until(withinMs, () => {
      this.#forgetOverdue();
      return this.#calls === 0 && this.#held.size === 0;
    });
  }
  /** No call is under way any more, or the time is over. */
  settled(withinMs: number): Promise<void> {
    return this.#until(withinMs, () => this.#calls === 0);
  }

  async #until(withinMs: number, isSo: () => boolean): Promise<void> {
    const until = this.#clock.monotonic() + withinMs;
    while (!isSo()) {
      let next = until;
      for (const { deadline } of this.#held) next = Math.min(next, deadline);
      const leftMs = next - this.#clock.monotonic();
      if (this.#clock.monotonic() >= until) return;
      await this.#change(Math.max(0, leftMs));
    }
  }
  #change(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.after(withinMs, () => this.#onChange?.(), true);
      this.#onChange = () => {
        timer.cancel();
        this.#onChange = undefined;
        resolve();
      };
    });
  }

  #forgetOverdue(): void {
    for (const one of this.#held) if (one.deadline <= this.#clock.monotonic()) this.#held.delete(one);
  }
}
