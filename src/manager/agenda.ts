// What has to be looked at, and when: a heap of moments with one timer for all of them, so that a hundred thousand held
// leases cost one timer. An entry is the object itself; it sits in the heap at most once and can be taken out.
//
// `put` gives an entry its moment; at that moment (or as soon after as the loop runs) it is taken out and handed to
// `look` together with everything else that is due, which puts back what it wants to see again.
import type { Clock, TimerHandle } from '../domain/clock.js';
import { MomentHeap, type Dated } from '../domain/moment-heap.js';

export type { Dated } from '../domain/moment-heap.js';

export class Agenda<T extends Dated> {
  readonly #clock: Clock;
  readonly #look: (due: T[], now: number) => void;
  readonly #heap = new MomentHeap<T>();
  #timer: TimerHandle | undefined;
  #timerAt = Infinity;

  constructor(clock: Clock, look: (due: T[], now: number) => void) {
    this.#clock = clock;
    this.#look = look;
  }

  get size(): number {
    return this.#heap.size;
  }

  put(entry: T, at: number): void {
    this.#heap.put(entry, at);
    this.#arm();
  }

  remove(entry: T): void {
    if (this.#heap.remove(entry) && this.#heap.size === 0) this.#disarm();
  }

  /** Everything due up to `until`, taken out, earliest first. */
  takeUntil(until: number): T[] {
    const due: T[] = [];
    for (let first = this.#heap.takeFirst(until); first; first = this.#heap.takeFirst(until)) due.push(first);
    if (this.#heap.size === 0) this.#disarm();
    return due;
  }

  /** A timer that is already set for an earlier moment stays: firing for nothing is cheaper than setting it anew. */
  #arm(): void {
    const { first } = this.#heap;
    if (!first) return;
    if (first.at >= this.#timerAt) {
      this.#timer?.keepAlive?.(true);
      return;
    }
    this.#timer?.cancel();
    this.#timerAt = first.at;
    this.#timer = this.#clock.after(Math.max(0, first.at - this.#clock.monotonic()), () => this.#fire(), true);
  }

  #fire(): void {
    this.#timer = undefined;
    this.#timerAt = Infinity;
    const now = this.#clock.monotonic();
    const due = this.takeUntil(now);
    if (due.length > 0) this.#look(due, now);
    this.#arm();
  }

  /** An empty agenda keeps no process alive. Its timer may well serve the next entry. */
  #disarm(): void {
    if (this.#timer?.keepAlive) return this.#timer.keepAlive(false);
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerAt = Infinity;
  }
}
