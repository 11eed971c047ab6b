// Who waits or watches through this store, in any of its namespaces, and telling them (Q3). The stream is wanted as soon as
// there is something to hear: a ticket whose waiter listens, or a listener for changes or settled numbers. Whenever hearing
// begins (again), everybody who waits or watches here is told to look, because what was said meanwhile was not heard.
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import { tellEach } from '../../domain/tell-each.js';
import type { SequenceListener } from '../sequence-store.js';
import type { StoreListener } from '../store.js';
import { HintStream } from './hint-stream.js';
import { errorOf, isProblem } from './translate-error.js';
import type { Transport } from './transport.js';

/** As the server takes them; the listeners of further namespaces go by their own look. */
const MOST_TOPICS = 100;

interface Space {
  readonly listeners: Set<StoreListener>;
  readonly settled: Set<SequenceListener>;
  /** Joined through this store and not yet answered otherwise. */
  readonly tickets: Set<string>;
  /** A ticket was seen: wake-ups are wanted from then on. */
  hasWaited: boolean;
}

interface Hint {
  readonly namespace: string;
  readonly wake?: readonly string[];
  readonly wakeAll?: boolean;
  readonly settled?: readonly string[];
  readonly changed?: boolean;
  readonly up?: boolean;
  readonly problem?: unknown;
}

export class Hints {
  readonly #clock: Clock;
  readonly #stream: HintStream;
  readonly #spaces = new Map<string, Space>();
  #isPlanning = false;
  /** What listeners were told last. */
  #isDown = false;

  constructor(transport: Transport, clock: Clock) {
    this.#clock = clock;
    this.#stream = new HintStream(transport, clock, {
      hint: (hint) => this.#heard(hint as Hint),
      up: () => this.#isUp(),
      down: (error) => this.#tellDown(error),
    });
  }

  subscribe(namespace: string, listener: StoreListener): () => void {
    return this.#join(namespace, ({ listeners }) => listeners, listener);
  }

  subscribeSettled(namespace: string, listener: SequenceListener): () => void {
    return this.#join(namespace, ({ settled }) => settled, listener);
  }

  /** Keeps the list of tickets by what the store answered; an answer that is not 'queued' ends the wait. */
  answered(namespace: string, requests: readonly { readonly id?: unknown }[], results: readonly object[]): void {
    const known = this.#spaces.get(namespace);
    const isQueued = (result: object): boolean => (result as { outcome?: string }).outcome === 'queued';
    if (!known?.hasWaited && !results.some(isQueued)) return;
    const space = known ?? this.#space(namespace);
    for (const [i, result] of results.entries()) {
      const id = requests[i]?.id;
      if (typeof id !== 'string') continue;
      if (!isQueued(result)) space.tickets.delete(id);
      else if (space.tickets.size < LIMITS.ticketsPerNamespace) space.tickets.add(id);
    }
    if (space.hasWaited) return;
    space.hasWaited = true;
    this.#plan();
  }

  close(): void {
    this.#spaces.clear();
    this.#stream.close();
  }

  #space(namespace: string): Space {
    const space = this.#spaces.get(namespace) ?? {
      listeners: new Set(),
      settled: new Set(),
      tickets: new Set(),
      hasWaited: false,
    };
    this.#spaces.set(namespace, space);
    return space;
  }

  #join<L>(namespace: string, set: (space: Space) => Set<L>, listener: L): () => void {
    set(this.#space(namespace)).add(listener);
    this.#plan();
    return () => {
      const space = this.#spaces.get(namespace);
      if (!space || !set(space).delete(listener)) return;
      if (space.listeners.size === 0 && space.settled.size === 0) this.#spaces.delete(namespace);
      this.#plan();
    };
  }

  /** Once for all that happens in this turn of the loop. */
  #plan(): void {
    if (this.#isPlanning) return;
    this.#isPlanning = true;
    queueMicrotask(() => {
      this.#isPlanning = false;
      this.#stream.want(this.#query());
    });
  }

  #query(): string {
    const names = (wants: (space: Space) => boolean): string =>
      [...this.#spaces]
        .flatMap(([namespace, space]) => (wants(space) ? [namespace] : []))
        .slice(0, MOST_TOPICS)
        .join();
    const topics = {
      wake: names(({ listeners, hasWaited }) => hasWaited && [...listeners].some((one) => one.wake !== undefined)),
      changed: names(({ listeners }) => [...listeners].some((one) => one.changed !== undefined)),
      settled: names(({ settled }) => settled.size > 0),
    };
    return Object.entries(topics)
      .flatMap(([kind, list]) => (list === '' ? [] : [`${kind}=${encodeURIComponent(list)}`]))
      .join('&');
  }

  #heard({ namespace, wake, wakeAll, settled, changed, up, problem }: Hint): void {
    const space = this.#spaces.get(namespace);
    if (!space) return;
    if (up === false) this.#tell(space, (one) => one.down?.(isProblem(problem) ? errorOf(problem) : deaf()));
    if (up === true) this.#tell(space, (one) => one.up?.());
    // The server names tickets of this client, perhaps before the answer that says they wait has come.
    const own = wakeAll === true || up === true ? [...space.tickets] : (wake ?? []);
    if (own.length > 0) this.#tell(space, (one) => one.wake?.(own));
    if (changed === true || up === true) this.#tell(space, (one) => one.changed?.());
    if (settled) this.#tellSettled(space, settled);
  }

  #isUp(): void {
    this.#isDown = false;
    for (const space of this.#spaces.values()) {
      this.#tell(space, (one) => one.up?.());
      const tickets = [...space.tickets];
      if (tickets.length > 0) this.#tell(space, (one) => one.wake?.(tickets));
      this.#tell(space, (one) => one.changed?.());
      this.#tellSettled(space, []);
    }
  }

  #tellDown(error: LeaseError): void {
    if (this.#isDown) return;
    this.#isDown = true;
    for (const space of this.#spaces.values()) this.#tell(space, (one) => one.down?.(error));
  }

  /** In a turn of its own, so that one that claims at once disturbs nobody. */
  #tell({ listeners }: Space, what: (listener: StoreListener) => void): void {
    if (listeners.size > 0) this.#clock.soon(() => tellEach(listeners, what));
  }
  #tellSettled({ settled }: Space, streams: readonly string[]): void {
    if (settled.size > 0) this.#clock.soon(() => tellEach(settled, (listener) => listener.settled(streams)));
  }
}

function deaf(): LeaseError {
  return new LeaseError('STORE_UNAVAILABLE', 'the server hears nothing from its store: waiters ask now and then');
}
