// The newest values by key, so many and no more: the oldest are forgotten first. For what is only a hint.
import { TurnoverMap } from './turnover-map.js';

export class Recent<V> {
  readonly #most: number;
  readonly #values = new TurnoverMap<V>();

  constructor(most: number) {
    this.#most = most;
  }

  set(key: string, value: V): void {
    this.#values.set(key, value);
    if (this.#values.size <= this.#most) return;
    for (const oldest of this.#values.keys()) {
      this.#values.take(oldest);
      return;
    }
  }

  /** Remembered no longer. */
  take(key: string): V | undefined {
    return this.#values.take(key);
  }

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }
}
