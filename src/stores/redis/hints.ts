// Who waits or watches here, and telling them (Q3). The scripts publish whom to wake, each owner in its own channel
// (owner-channels.ts), and, while somebody watches, that something changed; both may be lost. Whenever hearing begins (again),
// everybody who waits here is woken, because what was said meanwhile was not heard.
import type { Clock, TimerHandle } from '../../domain/clock.js';
import { LIMITS } from '../../domain/limits.js';
import type { StoreListener } from '../store.js';
import { changesChannelOf, channelOf } from './keys.js';
import { SCRIPTS } from './lua/scripts.js';
import type { Namespace } from './namespace.js';
import { OwnerChannels } from './owner-channels.js';

/** How long the scripts go on announcing changes after a watcher was last heard of, and how often it says so. */
const WATCHED_MS = 30_000;
const WATCHES_EVERY_MS = 10_000;

interface Asked {
  readonly id?: unknown;
  readonly owner?: unknown;
}

export class Hints {
  readonly #namespace: Namespace;
  readonly #clock: Clock;
  readonly #listeners = new Set<StoreListener>();
  /** Joined through this store and not yet answered otherwise, each with its owner. */
  readonly #tickets = new Map<string, string>();
  readonly #owners: OwnerChannels;
  #stopHearing: (() => void) | undefined;
  #stopChanges: (() => void) | undefined;
  #watching: TimerHandle | undefined;

  constructor(namespace: Namespace, clock: Clock) {
    this.#namespace = namespace;
    this.#clock = clock;
    this.#owners = new OwnerChannels(
      (owner, listener) => namespace.link.subscribe(channelOf(namespace.name, owner), listener),
      {
        message: (payload) => this.#heard(payload),
        up: (owner) => this.#wake([...this.#tickets.keys()].filter((id) => this.#tickets.get(id) === owner)),
      },
    );
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
  answered(requests: readonly Asked[], results: readonly { readonly outcome: string }[]): void {
    for (const [i, { outcome }] of results.entries()) {
      const { id, owner } = requests[i] ?? {};
      if (typeof id !== 'string') continue;
      const waiting = this.#tickets.get(id);
      if (outcome !== 'queued') this.#left(id, waiting);
      else if (waiting === undefined && typeof owner === 'string') this.#joined(id, owner);
    }
  }

  close(): void {
    this.#listeners.clear();
    this.#tickets.clear();
    this.#startOrStop();
  }

  #joined(id: string, owner: string): void {
    if (this.#tickets.size >= LIMITS.ticketsPerNamespace) return;
    this.#tickets.set(id, owner);
    if (this.#listeners.size > 0) this.#owners.joined(owner);
  }

  #left(id: string, owner: string | undefined): void {
    if (owner === undefined) return;
    this.#tickets.delete(id);
    this.#owners.left(owner);
  }

  #startOrStop(): void {
    const { link, name, isReadOnly } = this.#namespace;
    if (this.#listeners.size === 0) {
      this.#stopHearing?.();
      this.#stopHearing = undefined;
      this.#owners.close();
    } else {
      this.#stopHearing ??= link.subscribe(channelOf(name), {
        message: (payload) => this.#heard(payload),
        down: (error) => this.#tell((listener) => listener.down?.(error)),
        up: () => this.#isUp(),
      });
    }
    if (![...this.#listeners].some((listener) => listener.changed !== undefined)) {
      this.#stopChanges?.();
      this.#stopChanges = undefined;
      this.#watching?.cancel();
      this.#watching = undefined;
      return;
    }
    const changed = (): void => this.#tell((listener) => listener.changed?.());
    this.#stopChanges ??= link.subscribe(changesChannelOf(name), {
      message: changed,
      down: () => undefined,
      up: changed,
    });
    if (!this.#watching && !isReadOnly) this.#watch();
  }

  /** Says that somebody watches, for as long as somebody does. Where it cannot be said the watcher has its own look. */
  #watch(): void {
    this.#watching = this.#clock.after(WATCHES_EVERY_MS, () => this.#watch());
    this.#namespace.write(SCRIPTS.watch, [String(WATCHED_MS)]).catch(() => undefined);
  }

  #heard(payload: string): void {
    this.#wake(payload.split(' ').filter((id) => this.#tickets.has(id)));
  }

  #isUp(): void {
    this.#tell((listener) => listener.up?.());
    this.#wake([...this.#tickets.keys()]);
  }

  #wake(ids: readonly string[]): void {
    if (ids.length > 0) this.#tell((listener) => listener.wake?.(ids));
  }

  /** Each for itself, so that one that throws or claims at once disturbs nobody (S12). */
  #tell(what: (listener: StoreListener) => void): void {
    for (const listener of [...this.#listeners]) this.#clock.soon(() => what(listener));
  }
}
