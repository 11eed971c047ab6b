// What is to happen, in order of time, then of a second number: a binary heap, because a seed runs through thousands.

export interface Scheduled {
  readonly at: number;
  readonly order: number;
}

export class EventHeap<E extends Scheduled> {
  readonly #heap: E[] = [];

  get size(): number {
    return this.#heap.length;
  }

  peek(): E | undefined {
    return this.#heap[0];
  }

  push(event: E): void {
    let slot = this.#heap.push(event) - 1;
    while (slot > 0) {
      const parent = (slot - 1) >> 1;
      const above = this.#heap[parent] as E;
      if (!isBefore(event, above)) break;
      this.#heap[slot] = above;
      slot = parent;
    }
    this.#heap[slot] = event;
  }

  pop(): E | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) this.#sink(last);
    return first;
  }

  #sink(event: E): void {
    let slot = 0;
    for (;;) {
      const left = slot * 2 + 1;
      const right = left + 1;
      if (left >= this.#heap.length) break;
      const isRightLess = right < this.#heap.length && isBefore(this.#heap[right] as E, this.#heap[left] as E);
      const child = isRightLess ? right : left;
      if (!isBefore(this.#heap[child] as E, event)) break;
      this.#heap[slot] = this.#heap[child] as E;
      slot = child;
    }
    this.#heap[slot] = event;
  }
}

function isBefore(a: Scheduled, b: Scheduled): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
