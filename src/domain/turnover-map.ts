// A map for what comes and goes all the time. A `Map` writes its entries into a new table every few dozen changes and leaves the old one,
// as it was, to the collector. An old table that was already counted among what lives long keeps everything alive that was in
// it, with all that hangs on it, until the next full collection: half of what passes through is then copied twice for nothing.
// Here the table that is left behind has only keys and numbers in it. Keys are in the order in which they were first set.
export class TurnoverMap<V> {
  readonly #slots = new Map<string, number>();
  readonly #values: (V | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#slots.size;
  }

  get(key: string): V | undefined {
    const slot = this.#slots.get(key);
    return slot === undefined ? undefined : this.#values[slot];
  }

  set(key: string, value: V): void {
    let slot = this.#slots.get(key);
    if (slot === undefined) {
      slot = this.#free.pop() ?? this.#values.length;
      this.#slots.set(key, slot);
    }
    this.#values[slot] = value;
  }

  /** What was there. */
  take(key: string): V | undefined {
    const slot = this.#slots.get(key);
    if (slot === undefined) return undefined;
    const value = this.#values[slot];
    this.#slots.delete(key);
    this.#values[slot] = undefined;
    this.#free.push(slot);
    return value;
  }

  keys(): IterableIterator<string> {
    return this.#slots.keys();
  }

  *values(): IterableIterator<V> {
    for (const slot of this.#slots.values()) yield this.#values[slot] as V;
  }
}
