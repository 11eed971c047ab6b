// Entries by their moment, the earliest first: a heap. An entry is the object itself; it sits in one heap at most, once, and
// knows its place there, so that it can be moved or taken out without being looked for.

export interface Dated {
  /** Monotonic milliseconds. Only the heap writes these two. */
  at: number;
  /** Place in the heap, −1 when it is in none. */
  slot: number;
}

export class MomentHeap<T extends Dated> {
  readonly #heap: T[] = [];

  get size(): number {
    return this.#heap.length;
  }
  get first(): T | undefined {
    return this.#heap[0];
  }

  /** In, or moved to another moment. */
  put(entry: T, at: number): void {
    if (entry.slot < 0) {
      entry.at = at;
      entry.slot = this.#heap.push(entry) - 1;
      this.#up(entry);
      return;
    }
    const isEarlier = at < entry.at;
    entry.at = at;
    if (isEarlier) this.#up(entry);
    else this.#down(entry);
  }

  /** False when it was not there. */
  remove(entry: T): boolean {
    const { slot } = entry;
    if (slot < 0) return false;
    entry.slot = -1;
    const last = this.#heap.pop() as T;
    if (last === entry) return true;
    this.#place(last, slot);
    this.#up(last);
    this.#down(last);
    return true;
  }

  /** The earliest, taken out, when its moment is not after `until`. */
  takeFirst(until: number): T | undefined {
    const first = this.#heap[0];
    if (!first || first.at > until) return undefined;
    this.remove(first);
    return first;
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
