// The newest values by key, so many and no more: the oldest are forgotten first. For what is only a hint.
export class Recent<V> {
  readonly #most: number;
  readonly #values = new Map<string, V>();

  constructor(most: number) {
    this.#most = most;
  }

  set(key: string, value: V): void {
    this.#values.set(key, value);
    if (this.#values.size <= this.#most) return;
    for (const oldest of this.#values.keys()) {
      this.#values.delete(oldest);
      return;
    }
  }

  /** Remembered no longer. */
  take(key: string): V | undefined {
    const value = this.#values.get(key);
    if (value !== undefined) this.#values.delete(key);
    return value;
  }

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }
}
