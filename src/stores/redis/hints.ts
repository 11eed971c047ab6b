// Who waits or watches here, and telling them (Q3). The scripts publish whom to wake, and, while somebody watches, that
// something changed; both may be lost. Whenever hearing begins (again), everybody who waits here is woken, because what was
// said meanwhile was not heard.
import type { Clock, TimerHandle } from '../../domain/clock.js';
import { LIMITS } from '../../domain/limits.js';
import type { StoreListener } from '../store.js';
import { channelOf } from './keys.js';
import { SCRIPTS } from './lua/scripts.js';
import type { Namespace } from './namespace.js';

/** How long the scripts go on announcing changes after a watcher was last heard of, and how often it says so. */
const WATCHED_MS = 30_000;
const WATCHES_EVERY_MS = 10_000;

export class Hints {
  readonly #namespace: Namespace;
  readonly #clock: Clock;
  readonly #listeners = new Set<StoreListener>();
  /** Joined through this store and not yet answered otherwise. */
  readonly #tickets = new Set<string>();
  #stopHearing: (() => void) | undefined;
  #watching: TimerHandle | undefined;

  constructor(namespace: Namespace, clock: Clock) {
    this.#namespace = namespace;
    this.#clock = clock;
  }

  subscribe(listener: StoreListener): () => void {
    this.#listeners.add(listener);
    this.#startOrStop();
    return () => {
      this.#listeners.delete(listener);
      this.#startOrStop();
    };
  }

  /** Keeps the list of tickets by what the store answered; an answer that is not 'queued' ends the wait. */
  answered(requests: readonly { readonly id?: unknown }[], results: readonly { readonly outcome: string }[]): void {
    for (const [i, result] of results.entries()) {
      const id = requests[i]?.id;
      if (typeof id !== 'string') continue;
      if (result.outcome !== 'queued') this.#tickets.delete(id);
      else if (this.#tickets.size < LIMITS.ticketsPerNamespace) this.#tickets.add(id);
    }
  }

  close(): void {
    this.#listeners.clear();
    this.#tickets.clear();
    this.#startOrStop();
  }

  #startOrStop(): void {
    if (this.#listeners.size === 0) {
      this.#stopHearing?.();
      this.#stopHearing = undefined;
    } else {
      this.#stopHearing ??= this.#namespace.link.subscribe(channelOf(this.#namespace.name), {
        message: (payload) => this.#heard(payload),
        down: (error) => this.#tell((listener) => listener.down?.(error)),
        up: () => this.#isUp(),
      });
    }
    const isWatched = [...this.#listeners].some((listener) => listener.changed !== undefined);
    if (!isWatched || this.#namespace.isReadOnly) {
      this.#watching?.cancel();
      this.#watching = undefined;
    } else if (!this.#watching) {
      this.#watch();
    }
  }

  /** Says that somebody watches, for as long as somebody does. Where it cannot be said the watcher has its own look. */
  #watch(): void {
    this.#watching = this.#clock.after(WATCHES_EVERY_MS, () => this.#watch());
    this.#namespace.write(SCRIPTS.watch, [String(WATCHED_MS)]).catch(() => undefined);
  }

  #heard(payload: string): void {
    const own = payload === '' ? [] : payload.split(' ').filter((id) => this.#tickets.has(id));
    if (own.length > 0) this.#wake(own);
    this.#tell((listener) => listener.changed?.());
  }

  #isUp(): void {
    this.#tell((listener) => listener.up?.());
    if (this.#tickets.size > 0) this.#wake([...this.#tickets]);
    this.#tell((listener) => listener.changed?.());
  }

  #wake(ids: readonly string[]): void {
    this.#tell((listener) => listener.wake?.(ids));
  }

  /** Each for itself, so that one that throws or claims at once disturbs nobody (S12). */
  #tell(what: (listener: StoreListener) => void): void {
    for (const listener of [...this.#listeners]) this.#clock.soon(() => what(listener));
  }
}
