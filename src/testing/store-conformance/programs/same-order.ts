// Numbers that two sides draw for themselves (epochs, arrivals, versions) compare by order: each of the store's has
// exactly one of the model's, and of two the higher here is the higher there.

export class SameOrder {
  readonly #pairs: { readonly store: number; readonly model: number }[] = [];

  /** Remembers that the two stand for the same thing; false when that contradicts what was seen before. */
  pair(store: number, model: number): boolean {
    const at = this.#firstFrom(store);
    const here = this.#pairs[at];
    if (here?.store === store) return here.model === model;
    const below = this.#pairs[at - 1];
    if ((below && below.model >= model) || (here && here.model <= model)) return false;
    this.#pairs.splice(at, 0, { store, model });
    return true;
  }

  /** The model's number for one of the store's; a number nobody drew stands for itself. */
  toModel(store: number): number {
    const here = this.#pairs[this.#firstFrom(store)];
    return here?.store === store ? here.model : store;
  }

  #firstFrom(store: number): number {
    let [low, high] = [0, this.#pairs.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#pairs[middle]?.store ?? Infinity) < store) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
