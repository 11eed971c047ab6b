// Hints about streams (N3), beside those about leases: settled by this process is told at once, settled by others comes over the
// link's LISTEN connection, sent only while somebody waited lately. What was said while nobody heard is lost, so whoever listens
// is told that something may have been settled whenever hearing begins.
import type { Clock } from '../../domain/clock.js';
import { SettledListeners } from '../protocol/sequence/over-rows.js';
import type { SequenceListener } from '../sequence-store.js';
import type { PostgresLink } from './link.js';

export class SequenceHints {
  readonly #link: PostgresLink;
  readonly #clock: Clock;
  readonly #channel: string;
  readonly #listeners = new Map<string, SettledListeners>();
  #stop: (() => void) | undefined;

  constructor(link: PostgresLink, clock: Clock, channel: string) {
    this.#link = link;
    this.#clock = clock;
    this.#channel = `${channel}_streams`;
  }

  subscribe(namespace: string, listener: SequenceListener): () => void {
    const here = this.#listeners.get(namespace) ?? new SettledListeners();
    this.#listeners.set(namespace, here);
    const leave = here.add(listener);
    this.#stop ??= this.#link.listen(this.#channel, {
      message: (payload) => this.#hear(payload),
      down: () => undefined, // whoever waits looks by itself, too
      up: () => this.#listeners.forEach((one) => one.tell([])),
    });
    return () => {
      leave();
      if (here.size === 0 && this.#listeners.get(namespace) === here) this.#listeners.delete(namespace);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /** This process settled something in these streams, or may have. */
  settled(namespace: string, streams: Iterable<string>): void {
    const here = this.#listeners.get(namespace);
    if (here) this.#clock.soon(() => here.tell([...new Set(streams)]));
  }

  close(): void {
    this.#listeners.clear();
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Anybody may notify on a channel: what is no message of ours is told nobody. */
  #hear(payload: string): void {
    try {
      const { n, s } = JSON.parse(payload) as { n?: unknown; s?: unknown };
      if (typeof n === 'string' && typeof s === 'string') this.#listeners.get(n)?.tell([s]);
    } catch {
      // not ours
    }
  }
}
