// Everybody in this process who waits for a stream to move on (N3), and the one subscription they share.
//
// No wake-up is missed: a wake is taken before the store is asked, and remembers a ring that came while the question was
// under way. Hints may be lost all the same, so nobody waits for one longer than a safety poll.
import type { Clock } from '../domain/clock.js';
import { onAbort } from '../manager/on-abort.js';
import type { SequenceStore } from '../stores/sequence-store.js';

export interface Wake {
  /** Resolves at the next ring, or at once when there was one since the last; after `ms` at the latest, when one of the signals
   *  aborts, or when `work` is done. */
  rung(ms: number, signals?: readonly AbortSignal[], work?: Promise<void>): Promise<void>;
  leave(): void;
}

export class WakeRoom {
  readonly #clock: Clock;
  readonly #store: () => SequenceStore;
  readonly #waiting = new Map<string, Set<() => void>>();
  #unsubscribe: (() => void) | undefined;

  constructor(clock: Clock, store: () => SequenceStore) {
    this.#clock = clock;
    this.#store = store;
  }

  listen(stream: string): Wake {
    let isRung = false;
    let wake: (() => void) | undefined;
    const ring = (): void => {
      isRung = true;
      wake?.();
    };
    this.#enter(stream, ring);
    return {
      rung: async (ms, signals = [], work) => {
        if (!isRung) {
          await this.#either(ms, signals, (done) => {
            wake = done;
            work?.then(done, done);
          });
        }
        isRung = false;
        wake = undefined;
      },
      leave: () => this.#leave(stream, ring),
    };
  }

  #either(ms: number, signals: readonly AbortSignal[], onRing: (done: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      if (signals.some(({ aborted }) => aborted)) {
        resolve();
        return;
      }
      const done = (): void => {
        timer.cancel();
        for (const forget of forgets) forget();
        resolve();
      };
      const timer = this.#clock.after(ms, done, true);
      const forgets = signals.map((signal) => onAbort(signal, done));
      onRing(done);
    });
  }

  #enter(stream: string, ring: () => void): void {
    const here = this.#waiting.get(stream) ?? new Set();
    here.add(ring);
    this.#waiting.set(stream, here);
    this.#unsubscribe ??= this.#store().subscribe({ settled: (streams) => this.#heard(streams) });
  }

  #leave(stream: string, ring: () => void): void {
    const here = this.#waiting.get(stream);
    here?.delete(ring);
    if (here?.size === 0) this.#waiting.delete(stream);
    if (this.#waiting.size > 0) return;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  #heard(streams: readonly string[]): void {
    const names = streams.length === 0 ? [...this.#waiting.keys()] : streams;
    for (const name of names) for (const ring of [...(this.#waiting.get(name) ?? [])]) ring();
  }
}
