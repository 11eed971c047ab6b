// Who waits here for streams, and telling them (N3). The scripts publish the names of streams in which something was settled,
// while somebody waits for them; what is said may be lost, so whenever hearing begins (again) everybody looks for itself.
import type { Clock } from '../../domain/clock.js';
import { SettledListeners } from '../protocol/sequence/over-rows.js';
import type { SequenceListener } from '../sequence-store.js';
import { settledChannelOf } from './keys.js';
import type { Namespace } from './namespace.js';

export class SettledHints {
  readonly #namespace: Namespace;
  readonly #clock: Clock;
  readonly #listeners = new SettledListeners();
  #stopHearing: (() => void) | undefined;

  constructor(namespace: Namespace, clock: Clock) {
    this.#namespace = namespace;
    this.#clock = clock;
  }

  subscribe(listener: SequenceListener): () => void {
    const leave = this.#listeners.add(listener);
    this.#stopHearing ??= this.#namespace.link.subscribe(settledChannelOf(this.#namespace.name), {
      message: (payload) => this.#tell(payload.split('\n')),
      down: () => undefined, // whoever waits looks again by itself
      up: () => this.#tell([]),
    });
    return () => {
      leave();
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  close(): void {
    this.#listeners.clear();
    this.#stop();
  }

  #stop(): void {
    this.#stopHearing?.();
    this.#stopHearing = undefined;
  }

  /** An empty list: it is not known in which. */
  #tell(streams: readonly string[]): void {
    this.#clock.soon(() => this.#listeners.tell(streams));
  }
}
