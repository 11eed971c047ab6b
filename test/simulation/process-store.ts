// The port as one process has it: each method one call through the faulty network to the model that all share.
import { LeaseError } from '../../src/domain/errors.js';
import type {
  AcquireRequest,
  ChangeRequest,
  EndRequest,
  EventQuery,
  ListFilter,
  RenewRequest,
  RevokeOrder,
} from '../../src/domain/requests.js';
import type { SequenceListener, SequenceStore } from '../../src/stores/sequence-store.js';
import { tellHandedOver } from '../../src/stores/protocol/tell-handed-over.js';
import type * as port from '../../src/stores/store.js';
import type { Call, FaultyNetwork } from './faulty-network.js';
import type { SimulatedProcess } from './simulated-process.js';

export class ProcessStore implements port.Store {
  readonly kind: string;
  readonly namespace: string;
  readonly #store: port.Store;
  readonly #network: FaultyNetwork;
  readonly #process: SimulatedProcess;
  readonly #listeners = new Set<() => void>();
  #isClosed = false;

  /** Streams, in the worlds that have them. */
  readonly sequences?: SequenceStore;

  constructor(store: port.Store, network: FaultyNetwork, process: SimulatedProcess, hasSequences = false) {
    this.kind = store.kind;
    this.namespace = store.namespace;
    this.#store = store;
    this.#network = network;
    this.#process = process;
    if (hasSequences && store.sequences) this.sequences = this.#sequencesOf(store.sequences);
  }

  within(namespace: string): port.Store {
    const hasSequences = this.sequences !== undefined;
    return new ProcessStore(this.#store.within(namespace), this.#network, this.#process, hasSequences);
  }

  /** Every method on its way through the network; hints like wake-ups. */
  #sequencesOf(inner: SequenceStore): SequenceStore {
    const subscribe = (listener: SequenceListener): (() => void) =>
      inner.subscribe({
        settled: (streams) => {
          if (!this.#isClosed) this.#network.hint(this.#process, () => listener.settled(streams));
        },
      });
    return new Proxy(inner, {
      get: (target, key: keyof SequenceStore) => {
        if (key === 'subscribe') return subscribe;
        const methods = target as unknown as Record<string, ((asked: unknown) => Promise<unknown>) | undefined>;
        if (methods[key] === undefined) return undefined;
        return (asked: unknown) => {
          const items: readonly unknown[] = Array.isArray(asked) ? asked : [asked];
          return this.#call(`sequence.${key}`, items, async () => methods[key]?.(asked));
        };
      },
    });
  }

  acquire = (requests: readonly AcquireRequest[]) =>
    this.#call('acquire', requests, () => this.#store.acquire(requests));
  renew = (requests: readonly RenewRequest[]) => this.#call('renew', requests, () => this.#store.renew(requests));
  end = (requests: readonly EndRequest[]) => this.#call('end', requests, () => this.#store.end(requests));
  change = (requests: readonly ChangeRequest[]) => this.#call('change', requests, () => this.#store.change(requests));
  revoke = (order: RevokeOrder) => this.#call('revoke', [order], () => this.#store.revoke(order));
  failTicket = (order: { id: string; cycle: readonly string[] }) =>
    this.#call('failTicket', [order], () => this.#store.failTicket(order));
  sweep = (order: { limit: number }) => this.#call('sweep', [], () => this.#store.sweep(order));
  events = (query: EventQuery) => this.#call('events', [], () => this.#store.events(query));
  prune = (order: port.PruneOrder) => this.#call('prune', [], () => this.#store.prune(order));
  settings = () => this.#call('settings', [], () => this.#store.settings());
  setSettings = (changes: Readonly<Record<string, unknown>>) =>
    this.#call('setSettings', [], () => this.#store.setSettings(changes));
  waitGraph = () => this.#call('waitGraph', [], () => this.#store.waitGraph());
  get = (ids: readonly string[]) => this.#call('get', ids, () => this.#store.get(ids));
  list = (filter: ListFilter) => this.#call('list', [], () => this.#store.list(filter));
  show = (resource: string, historyLimit: number) =>
    this.#call('show', [resource], () => this.#store.show(resource, historyLimit));
  info = () => this.#call('info', [], () => this.#store.info());
  time = () => this.#call('time', [], () => this.#store.time());
  migrate = (order: { dryRun: boolean }) => this.#call('migrate', [], () => this.#store.migrate(order));
  backup = (path: string) => this.#call('backup', [], () => this.#store.backup(path));

  subscribe(listener: port.StoreListener): () => void {
    const leave = this.#store.subscribe({
      wake: (ids) => {
        if (!this.#isClosed) this.#network.hint(this.#process, () => listener.wake?.(ids));
      },
      handedOver: (lease) => {
        if (!this.#isClosed) this.#network.hint(this.#process, () => tellHandedOver(listener, lease));
      },
    });
    this.#listeners.add(leave);
    return () => {
      this.#listeners.delete(leave);
      leave();
    };
  }

  /** This process's own connection: the store stays open for the others. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const leave of this.#listeners) leave();
    this.#listeners.clear();
  }

  #call<R>(name: Call, asked: readonly unknown[], act: () => Promise<R>): Promise<R> {
    if (this.#isClosed) return Promise.reject(new LeaseError('SHUTTING_DOWN', 'the store is closed: connect again'));
    return this.#network.call(this.#process, name, asked, act);
  }
}
