// Whether this server should be sent requests (W1): not while it starts, migrates or drains, nor while its store is silent.
// One question to the store at a time; whoever asks meanwhile shares it, and nobody waits longer than the store may be silent.
import type { Clock } from '../domain/clock.js';
import { LeaseError } from '../domain/errors.js';
import { answerWithin } from '../manager/store-link.js';
import type { Store } from '../stores/store.js';

const SILENT_MS = 2_000;

export type Readiness = 'ready' | 'starting' | 'draining' | 'store silent';

export class ReadinessCheck {
  readonly #store: Store;
  readonly #clock: Clock;
  #asked: { readonly at: number; readonly answer: Promise<unknown> } | undefined;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async look(): Promise<Readiness> {
    const { at, answer } = (this.#asked ??= this.#ask());
    const leftMs = SILENT_MS - (this.#clock.monotonic() - at);
    if (leftMs <= 0) return 'store silent';
    try {
      await answerWithin(this.#clock, leftMs, 'time', answer);
      return 'ready';
    } catch (error) {
      if (error instanceof LeaseError) return 'store silent';
      throw error;
    }
  }

  #ask(): { readonly at: number; readonly answer: Promise<unknown> } {
    const answer = this.#store.time();
    const isOver = (): void => {
      this.#asked = undefined;
    };
    answer.then(isOver, isOver);
    return { at: this.#clock.monotonic(), answer };
  }
}
