// A set of objects that come and go all the time, in no order: an array, and in every object its place in it. It leaves no tables behind
// that would keep alive what has gone (turnover-map.ts), and looks nothing up.
export interface Placed {
  /** Where it lies, −1 for nowhere; nobody else's to touch. An object is in one bag at a time. */
  place: number;
}

export class Bag<T extends Placed> implements Iterable<T> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    item.place = this.#items.length;
    this.#items.push(item);
  }

  /** False when it was not there. */
  remove(item: T): boolean {
    const { place } = item;
    if (this.#items[place] !== item) return false;
    const last = this.#items.pop() as T;
    if (last !== item) {
      this.#items[place] = last;
      last.place = place;
    }
    item.place = -1;
    return true;
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items.values();
  }
}
