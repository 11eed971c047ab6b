// A store that misbehaves on order, around one that does not: for tests of code that uses leases, and of the manager
// itself. Every call is counted, so that a test can say how many round trips something may cost.
//
// An order names calls and how they fare; it is used up by the calls that follow, oldest order first, and what no order
// is meant for goes straight through. A lost request or reply is silence: the promise stays open, as it does when a
// network drops a packet. A frozen store keeps what reaches it and acts on it, in order, when it is thawed.
import type { Clock } from '../domain/clock.js';
import { LeaseError } from '../domain/errors.js';
import type { AcquireRequest, ChangeRequest, EndRequest, RenewRequest } from '../domain/requests.js';
import type { EventQuery, ListFilter, RevokeOrder } from '../domain/requests.js';
import type { SequenceListener, SequenceStore } from '../stores/sequence-store.js';
import type * as port from '../stores/store.js';

/** The calls of the port that can be given orders. */
export type StoreCall =
  | Exclude<keyof port.Store, 'kind' | 'namespace' | 'within' | 'subscribe' | 'close' | 'sequences'>
  | `sequence.${Exclude<keyof SequenceStore, 'subscribe' | 'commitIn' | 'doneIn'>}`;

/**
 * `fail`: an error instead of the effect. `failAfter`: the effect, then an error. `loseRequest`: no effect and silence.
 * `loseReply`: the effect and silence. `duplicate`: the effect twice, the first answer counts.
 */
export type Fault = 'fail' | 'failAfter' | 'loseRequest' | 'loseReply' | 'duplicate';

export interface FaultOrder {
  /** What goes wrong; without it the calls are only delayed. */
  readonly fault?: Fault;
  /** One call, several, or all of them by default. */
  readonly calls?: StoreCall | readonly StoreCall[];
  /** How many calls it is for: 1, or `Infinity` until `heal()`. */
  readonly times?: number;
  /** On the way to the store, and back. */
  readonly requestMs?: number;
  readonly replyMs?: number;
  /** What `fail` and `failAfter` say; STORE_UNAVAILABLE by default. */
  readonly error?: Error;
}

export interface CountedCall {
  readonly call: StoreCall;
  readonly namespace: string;
  /** The items of a list, or the one argument. */
  readonly asked: readonly unknown[];
  /** Monotonic. */
  readonly at: number;
}

interface Shared {
  readonly clock: Clock;
  readonly calls: CountedCall[];
  orders: { readonly order: FaultOrder; left: number }[];
  isFrozen: boolean;
  waiting: (() => void)[];
  lostWakes: number;
}

export class FaultyStore implements port.Store {
  readonly kind: string;
  readonly namespace: string;
  readonly #store: port.Store;
  readonly #shared: Shared;

  /** A clock is needed for delays only, and is the one the store has. */
  constructor(store: port.Store, clock: Clock, shared?: Shared) {
    this.kind = store.kind;
    this.namespace = store.namespace;
    this.#store = store;
    this.#shared = shared ?? { clock, calls: [], orders: [], isFrozen: false, waiting: [], lostWakes: 0 };
  }

  /** Every call so far, those of other namespaces included. */
  get calls(): readonly CountedCall[] {
    return this.#shared.calls;
  }
  /** How often this was called, or how often anything was. */
  count(call?: StoreCall): number {
    return call === undefined ? this.calls.length : this.calls.filter((one) => one.call === call).length;
  }
  forgetCalls(): void {
    this.#shared.calls.length = 0;
  }

  order(order: FaultOrder): this {
    this.#shared.orders.push({ order, left: order.times ?? 1 });
    return this;
  }
  freeze(): void {
    this.#shared.isFrozen = true;
  }
  thaw(): void {
    const { waiting } = this.#shared;
    this.#shared.isFrozen = false;
    this.#shared.waiting = [];
    for (const go of waiting) go();
  }
  /** The next wake-ups are lost: `Infinity` for all of them, 0 for none. Hints are lost anyway while it is frozen. */
  loseWakes(times: number): void {
    this.#shared.lostWakes = times;
  }
  /** No order is left, nothing is frozen. What was lost stays lost. */
  heal(): void {
    this.#shared.orders = [];
    this.#shared.lostWakes = 0;
    this.thaw();
  }

  within(namespace: string): FaultyStore {
    return new FaultyStore(this.#store.within(namespace), this.#shared.clock, this.#shared);
  }

  /** Streams have the same faults, their calls named `sequence.lease` and so on. */
  get sequences(): SequenceStore | undefined {
    const { sequences } = this.#store;
    return (
      sequences &&
      new Proxy(sequences, {
        get: (target, key) => {
          const member: unknown = Reflect.get(target, key, target);
          if (typeof member !== 'function' || typeof key !== 'string') return member;
          if (key === 'subscribe') return (listener: SequenceListener) => this.#listenToStreams(target, listener);
          return (...args: unknown[]) =>
            this.#call(
              `sequence.${key}` as StoreCall,
              args,
              () => Reflect.apply(member, target, args) as Promise<unknown>,
            );
        },
      })
    );
  }
  #listenToStreams(sequences: SequenceStore, listener: SequenceListener): () => void {
    return sequences.subscribe({
      settled: (streams) => {
        if (this.#shared.lostWakes > 0) this.#shared.lostWakes -= 1;
        else if (!this.#shared.isFrozen) listener.settled(streams);
      },
    });
  }

  acquire = (requests: readonly AcquireRequest[]) => this.#call('acquire', requests, (to) => to.acquire(requests));
  renew = (requests: readonly RenewRequest[]) => this.#call('renew', requests, (to) => to.renew(requests));
  end = (requests: readonly EndRequest[]) => this.#call('end', requests, (to) => to.end(requests));
  change = (requests: readonly ChangeRequest[]) => this.#call('change', requests, (to) => to.change(requests));
  revoke = (order: RevokeOrder) => this.#call('revoke', [order], (to) => to.revoke(order));
  failTicket = (order: { readonly id: string; readonly cycle: readonly string[] }) =>
    this.#call('failTicket', [order], (to) => to.failTicket(order));
  sweep = (order: { readonly limit: number }) => this.#call('sweep', [order], (to) => to.sweep(order));
  events = (query: EventQuery) => this.#call('events', [query], (to) => to.events(query));
  prune = (order: port.PruneOrder) => this.#call('prune', [order], (to) => to.prune(order));
  settings = () => this.#call('settings', [], (to) => to.settings());
  setSettings = (changes: Readonly<Record<string, unknown>>) =>
    this.#call('setSettings', [changes], (to) => to.setSettings(changes));
  waitGraph = () => this.#call('waitGraph', [], (to) => to.waitGraph());
  get = (ids: readonly string[]) => this.#call('get', ids, (to) => to.get(ids));
  list = (filter: ListFilter) => this.#call('list', [filter], (to) => to.list(filter));
  show = (resource: string, historyLimit: number) =>
    this.#call('show', [resource], (to) => to.show(resource, historyLimit));
  info = () => this.#call('info', [], (to) => to.info());
  time = () => this.#call('time', [], (to) => to.time());
  migrate = (order: { readonly dryRun: boolean }) => this.#call('migrate', [order], (to) => to.migrate(order));
  backup = (path: string) => this.#call('backup', [path], (to) => to.backup(path));

  subscribe(listener: port.StoreListener): () => void {
    const told = (tell: () => void): void => {
      if (!this.#shared.isFrozen) tell();
    };
    const hint = (tell: () => void): void => {
      if (this.#shared.lostWakes > 0) this.#shared.lostWakes -= 1;
      else told(tell);
    };
    return this.#store.subscribe({
      wake: (ids) => hint(() => listener.wake?.(ids)),
      ...(listener.handedOver ? { handedOver: (lease) => hint(() => listener.handedOver?.(lease)) } : {}),
      ...(listener.changed ? { changed: () => told(() => listener.changed?.()) } : {}), // not wanted, not asked for
      down: (error) => told(() => listener.down?.(error)),
      up: () => told(() => listener.up?.()),
    });
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #call<R>(call: StoreCall, asked: readonly unknown[], act: (store: port.Store) => Promise<R>): Promise<R> {
    const { clock, calls } = this.#shared;
    calls.push({ call, namespace: this.namespace, asked, at: clock.monotonic() });
    const { fault, requestMs = 0, replyMs = 0, error } = this.#take(call);
    if (requestMs > 0) await later(clock, requestMs);
    if (fault === 'loseRequest') return silence();
    if (this.#shared.isFrozen) await this.#thawed();
    if (fault === 'fail') throw error ?? unavailable('before it was asked');
    const answer = await act(this.#store);
    if (fault === 'duplicate') await act(this.#store).catch(() => undefined);
    if (fault === 'loseReply') return silence();
    if (replyMs > 0) await later(clock, replyMs);
    if (fault === 'failAfter') throw error ?? unavailable('after it had acted');
    return answer;
  }

  #thawed(): Promise<void> {
    return new Promise((resolve) => {
      this.#shared.waiting.push(resolve);
    });
  }

  #take(call: StoreCall): FaultOrder {
    const found = this.#shared.orders.find(({ order, left }) => left > 0 && isMeant(order, call));
    if (!found) return {};
    found.left -= 1;
    return found.order;
  }
}

function isMeant({ calls }: FaultOrder, call: StoreCall): boolean {
  return calls === undefined || (typeof calls === 'string' ? calls === call : calls.includes(call));
}

function later(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}

function silence(): Promise<never> {
  return new Promise<never>(() => {
    // Nobody will ever answer.
  });
}

function unavailable(when: string): LeaseError {
  return new LeaseError('STORE_UNAVAILABLE', `the store failed on order, ${when}`);
}
