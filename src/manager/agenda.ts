// What has to be looked at, and when: a heap of moments with one timer for all of them, so that a hundred thousand held
// leases cost one timer. An entry is the object itself; it sits in the heap at most once and can be taken out.
//
// `put` gives an entry its moment; at that moment (or as soon after as the loop runs) it is taken out and handed to
// `look` together with everything else that is due, which puts back what it wants to see again.
import type { Clock, TimerHandle } from '../domain/clock.js';

export interface Dated {
  /** Monotonic milliseconds. Only the agenda writes these two. */
  at: number;
  /** Place in the heap, −1 when it is in none. */
  slot: number;
}

export class Agenda<T extends Dated> {
  readonly #clock: Clock;
  readonly #look: (due: T[], now: number) => void;
  readonly #heap: T[] = [];
  #timer: TimerHandle | undefined;
  #timerAt = Infinity;

  constructor(clock: Clock, look: (due: T[], now: number) => void) {
    this.#clock = clock;
    this.#look = look;
  }

  get size(): number {
    return this.#heap.length;
  }

  put(entry: T, at: number): void {
    if (entry.slot < 0) {
      entry.at = at;
      entry.slot = this.#heap.push(entry) - 1;
      this.#up(entry);
    } else {
      const isEarlier = at < entry.at;
      entry.at = at;
      if (isEarlier) this.#up(entry);
      else this.#down(entry);
    }
    this.#arm();
  }

  remove(entry: T): void {
    const { slot } = entry;
    if (slot < 0) return;
    entry.slot = -1;
    const last = this.#heap.pop() as T;
    if (last === entry) return this.#disarmWhenEmpty();
    this.#place(last, slot);
    this.#up(last);
    this.#down(last);
  }

  /** Everything due up to `until`, taken out, earliest first. */
  takeUntil(until: number): T[] {
    const due: T[] = [];
    for (let first = this.#heap[0]; first && first.at <= until; first = this.#heap[0]) {
      this.remove(first);
      due.push(first);
    }
    return due;
  }

  /** A timer that is already set for an earlier moment stays: firing for nothing is cheaper than setting it anew. */
  #arm(): void {
    const first = this.#heap[0];
    if (!first || first.at >= this.#timerAt) return;
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

  /** An empty agenda keeps no process alive. */
  #disarmWhenEmpty(): void {
    if (this.#heap.length > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerAt = Infinity;
  }

  #up(entry: T): void {
    for (let parent = (entry.slot - 1) >> 1; parent >= 0; parent = (entry.slot - 1) >> 1) {
      const above = this.#heap[parent] as T;
      if (above.at <= entry.at) return;
      this.#swap(above, entry);
    }
  }

  #down(entry: T): void {
    for (;;) {
      const left = this.#heap[entry.slot * 2 + 1];
      const right = this.#heap[entry.slot * 2 + 2];
      const least = right && left && right.at < left.at ? right : left;
      if (!least || least.at >= entry.at) return;
      this.#swap(entry, least);
    }
  }

  #swap(a: T, b: T): void {
    const { slot } = a;
    this.#place(a, b.slot);
    this.#place(b, slot);
  }

  #place(entry: T, slot: number): void {
    this.#heap[slot] = entry;
    entry.slot = slot;
  }
}
