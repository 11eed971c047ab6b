// Chance from a seed (mulberry32), so that a run that fails once fails again. Streams that are forked from one seed do not
// disturb each other: a process that draws once more changes nothing for its neighbours.

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
    for (let i = 0; i < 4; i += 1) this.next(); // neighbouring seeds begin alike
  }

  /** From 0 up to, not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A stream of its own. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 4_294_967_296));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.next() * from.length)] as T;
  }

  shuffled<T>(from: readonly T[]): T[] {
    const list = [...from];
    for (let i = list.length - 1; i > 0; i -= 1) {
      const j = this.whole(0, i);
      [list[i], list[j]] = [list[j] as T, list[i] as T];
    }
    return list;
  }

  /** 100 bits and more, in characters of an id. */
  text(): string {
    let text = '';
    for (let i = 0; i < 4; i += 1)
      text += Math.floor(this.next() * 4_294_967_296)
        .toString(36)
        .padStart(7, '0');
    return text;
  }
}
