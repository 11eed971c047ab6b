// Hints to whoever waits or watches here (Q3). Wake-ups come over the link's one LISTEN connection, for all namespaces. Of a
// change only this process's own writes are told: a NOTIFY for every write would take a lock of the whole cluster at each
// commit, and who watches looks by itself now and then.
import type { Clock } from '../../domain/clock.js';
import { tellEach } from '../../domain/tell-each.js';
import type { StoreListener } from '../store.js';
import type { PostgresLink } from './link.js';

interface Message {
  readonly n: string;
  readonly w: readonly string[];
}

const NOBODY: ReadonlySet<StoreListener> = new Set();

export class Hints {
  readonly #link: PostgresLink;
  readonly #clock: Clock;
  readonly #channel: string;
  readonly #listeners = new Map<string, Set<StoreListener>>();
  /** Tickets that joined through this store, by namespace: at most as many as may wait there (S18). */
  readonly #tickets = new Map<string, Set<string>>();
  #stop: (() => void) | undefined;

  constructor(link: PostgresLink, clock: Clock, channel: string) {
    this.#link = link;
    this.#clock = clock;
    this.#channel = channel;
  }

  subscribe(namespace: string, listener: StoreListener): () => void {
    const here = this.#listeners.get(namespace) ?? new Set();
    here.add(listener);
    this.#listeners.set(namespace, here);
    this.#stop ??= this.#link.listen(this.#channel, {
      message: (payload) => this.#hear(payload),
      down: (error) => this.#tellAll((one) => one.down?.(error)),
      up: () => this.#catchUp(),
    });
    return () => {
      if (!here.delete(listener)) return;
      if (here.size === 0) this.#listeners.delete(namespace);
      if (this.#listeners.size === 0) this.#leave();
    };
  }

  /** Keeps the list of tickets by what the store answered; an answer that is not 'queued' ends the wait. */
  answered(namespace: string, requests: readonly { id: string }[], results: readonly { outcome: string }[]): void {
    const known = this.#tickets.get(namespace);
    if (known === undefined && !results.some(({ outcome }) => outcome === 'queued')) return;
    const tickets = known ?? new Set();
    for (const [i, { outcome }] of results.entries()) {
      const id = requests[i]?.id;
      if (typeof id !== 'string') continue;
      if (outcome === 'queued') tickets.add(id);
      else tickets.delete(id);
    }
    if (tickets.size === 0) this.#tickets.delete(namespace);
    else this.#tickets.set(namespace, tickets);
  }

  /** This process wrote. */
  changed(namespace: string): void {
    const here = this.#listeners.get(namespace);
    if (here === undefined) return;
    const isWatched = [...here].some((one) => one.changed !== undefined);
    if (isWatched) this.#clock.soon(() => tellEach(here, (one) => one.changed?.()));
  }

  close(): void {
    this.#listeners.clear();
    this.#leave();
  }

  #leave(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  /** What was sent while nobody listened is lost: everybody who waits here asks once. */
  #catchUp(): void {
    this.#tellAll((one) => one.up?.());
    for (const [namespace, tickets] of this.#tickets) {
      tellEach(this.#listeners.get(namespace) ?? NOBODY, (one) => one.wake?.([...tickets]));
    }
  }

  #hear(payload: string): void {
    const { n, w } = parseMessage(payload);
    const here = this.#listeners.get(n) ?? NOBODY;
    tellEach(here, (one) => one.wake?.(w));
    tellEach(here, (one) => one.changed?.());
  }

  #tellAll(tell: (listener: StoreListener) => void): void {
    for (const here of [...this.#listeners.values()]) tellEach(here, tell);
  }
}

/** Anybody may notify on a channel: what is no message of ours wakes nobody. */
function parseMessage(payload: string): Message {
  try {
    const { n, w } = JSON.parse(payload) as Partial<Message>;
    if (typeof n === 'string' && Array.isArray(w) && w.every((id) => typeof id === 'string')) return { n, w };
  } catch {
    // not ours
  }
  return { n: '', w: [] };
}
