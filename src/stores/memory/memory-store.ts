// The memory store: the model with a clock, one per namespace. For tests, examples and single processes; nothing of it
// survives the process, and it says so in `info().capabilities.durability`.
import { LeaseError } from '../../domain/errors.js';
import { checkBatch, checkNamespace, checkSoughtIds } from '../../domain/check-request.js';
import type { Clock } from '../../domain/clock.js';
import { liftedEpoch } from '../../domain/epoch.js';
import type {
  AcquireRequest,
  ChangeRequest,
  EndRequest,
  EventQuery,
  ListFilter,
  RenewRequest,
  RevokeOrder,
} from '../../domain/requests.js';
import { tellEach } from '../../domain/tell-each.js';
import type { WaitGraph } from '../../domain/wait-graph.js';
import type { Step } from '../protocol/rows.js';
import { SequencesOverRows, SettledListeners } from '../protocol/sequence/over-rows.js';
import type { SequenceStep } from '../protocol/sequence/rows.js';
import { tellHandedOver } from '../protocol/tell-handed-over.js';
import { wokenBy } from '../protocol/wake.js';
import { LoopTurns } from '../protocol/loop-turns.js';
import type { SequenceStore } from '../sequence-store.js';
import type * as port from '../store.js';
import { Model } from './model.js';

const KIND = 'memory';
const DURABILITY = 'none: everything is gone with the process';

interface Shared {
  readonly clock: Clock;
  readonly incarnation: string;
  readonly spaces: Map<string, MemoryStore>;
  /** Wall minus monotonic time, read once: steps of the wall clock change nothing (S13). */
  readonly anchor: number;
  /** None under a clock of its own, where there is no loop to give way to. */
  readonly turns: LoopTurns | undefined;
  lastNow: number;
  closed: boolean;
}

export interface MemoryOptions {
  readonly clock: Clock;
  readonly namespace?: string;
  /** S20: lets the event loop go round now and then, also when it is asked without a pause. */
  readonly givesWay?: boolean;
}

export class MemoryStore implements port.Store {
  readonly kind = KIND;
  readonly namespace: string;
  readonly #shared: Shared;
  readonly #model: Model;
  readonly #listeners = new Set<port.StoreListener>();
  readonly #settledListeners = new SettledListeners();
  readonly sequences: SequenceStore;
  /** Somebody wants to hear of every change, not only of its own turn. */
  #isWatched = false;

  constructor(options: MemoryOptions, shared?: Shared) {
    const { clock, givesWay = false } = options;
    this.namespace = checkNamespace(options.namespace ?? 'default');
    this.#shared = shared ?? newShared(clock, givesWay);
    this.#shared.spaces.set(this.namespace, this);
    const { incarnation } = this.#shared;
    this.#model = new Model({
      store: KIND,
      namespace: this.namespace,
      incarnation,
      epoch: liftedEpoch(0, clock.wall()),
    });
    this.sequences = new SequencesOverRows({
      step: (act) => this.#look((now) => this.#sequenceStep(now, act)),
      look: (act) => this.#look((now) => act(this.#model.sequenceStep(now, clock.wall()))),
      subscribe: (listener) => this.#settledListeners.add(listener),
      durability: DURABILITY,
    });
  }

  within(namespace: string): MemoryStore {
    const { spaces, clock } = this.#shared;
    return spaces.get(checkNamespace(namespace)) ?? new MemoryStore({ clock, namespace }, this.#shared);
  }

  acquire(requests: readonly AcquireRequest[]): Promise<port.Answers<port.AcquireResult>> {
    return this.#items(requests, (step) => this.#model.acquire(step, requests));
  }
  renew(requests: readonly RenewRequest[]): Promise<port.Answers<port.RenewResult>> {
    return this.#items(requests, (step) => this.#model.renew(step, requests));
  }
  end(requests: readonly EndRequest[]): Promise<port.Answers<port.EndResult>> {
    return this.#items(requests, (step) => this.#model.end(step, requests));
  }
  change(requests: readonly ChangeRequest[]): Promise<port.Answers<port.ChangeResult>> {
    return this.#items(requests, (step) => this.#model.change(step, requests));
  }
  revoke(order: RevokeOrder): Promise<port.Revoked> {
    return this.#step((step) => this.#model.revoke(step, order));
  }
  failTicket(order: { id: string; cycle: readonly string[] }): Promise<port.FailedTicket> {
    return this.#step((step) => this.#model.failTicket(step, order));
  }
  sweep(order: { limit: number }): Promise<port.Swept> {
    return this.#step((step) => this.#model.sweep(step, order));
  }
  events(query: EventQuery): Promise<port.Events> {
    return this.#look(() => this.#model.events(query));
  }
  prune(order: port.PruneOrder): Promise<port.Pruned> {
    return this.#look((now) => this.#model.prune(now, order));
  }
  settings(): Promise<port.SettingsReply> {
    return this.#look(() => ({ settings: this.#model.settings }));
  }
  setSettings(changes: Readonly<Record<string, unknown>>): Promise<port.SettingsReply> {
    return this.#look(() => ({ settings: this.#model.setSettings(changes) }));
  }
  waitGraph(): Promise<port.Reply & WaitGraph> {
    return this.#look((now) => this.#model.waitGraph(now));
  }
  get(ids: readonly string[]): ReturnType<port.Store['get']> {
    return this.#look((now) => {
      checkSoughtIds(ids);
      return { items: this.#model.get(now, ids) };
    });
  }
  list(filter: ListFilter): Promise<port.Listed> {
    return this.#look((now) => this.#model.list(now, filter));
  }
  show(resource: string, historyLimit: number): Promise<port.Shown> {
    return this.#look((now) => {
      const { history, ...standing } = this.#model.show(now, resource, historyLimit);
      return { ...standing, history: history.outcome === 'rows' ? history.rows : [] };
    });
  }
  info(): Promise<port.StoreInfo> {
    const capabilities: port.Capabilities = {
      minTtlMs: 100,
      clockGrainMs: 1,
      push: true,
      guards: [],
      roundTrips: 1,
      durability: DURABILITY,
    };
    return this.#look(() => ({ kind: KIND, capabilities, details: {} }));
  }
  time(): Promise<port.TimeReply> {
    return this.#look(() => ({ epoch: this.#model.epoch }));
  }
  async migrate(): Promise<{ applied: readonly string[]; pending: readonly string[] }> {
    return { applied: [], pending: [] };
  }
  async backup(): Promise<void> {
    throw new LeaseError('INVALID_ARGUMENT', 'a memory store has nothing to back up: use sqlite: for data that lasts');
  }

  subscribe(listener: port.StoreListener): () => void {
    this.#listeners.add(listener);
    this.#lookForWatchers();
    return () => {
      this.#listeners.delete(listener);
      this.#lookForWatchers();
    };
  }

  #lookForWatchers(): void {
    this.#isWatched = [...this.#listeners].some((listener) => listener.changed !== undefined);
  }

  async close(): Promise<void> {
    this.#shared.closed = true;
    for (const space of this.#shared.spaces.values()) {
      space.#listeners.clear();
      space.#settledListeners.clear();
    }
  }

  #items<R>(requests: readonly object[], act: (step: Step) => (R | port.Failed)[]): Promise<port.Answers<R>> {
    return this.#step((step): { results: (R | port.Failed)[] } => {
      checkBatch(requests);
      return { results: act(step) };
    });
  }

  /** One step of the protocol, then the wake-ups that follow from it, after the answer is on its way. */
  #step<T>(act: (step: Step) => T): Promise<T & port.Reply> {
    return this.#look((now) => {
      const { clock } = this.#shared;
      const handed: port.HandedOver[] = [];
      const step = this.#model.step(now, clock.wall(), { isMeant: () => true, done: handed });
      const answer = act(step);
      const woken = wokenBy(step);
      if (woken.length + handed.length > 0 || this.#isWatched) clock.soon(() => this.#announce(woken, handed));
      return answer;
    });
  }

  #sequenceStep<T>(now: number, act: (step: SequenceStep) => T): T {
    const { clock } = this.#shared;
    const step = this.#model.sequenceStep(now, clock.wall());
    const answer = act(step);
    if (step.settled.size > 0) clock.soon(() => this.#settledListeners.tell([...step.settled]));
    if (this.#isWatched) clock.soon(() => this.#announce([]));
    return answer;
  }

  /** Every call: at once, at one moment of the store's clock. What is late, when the loop has to have its turn, is the answer. */
  async #look<T>(act: (now: number) => T): Promise<T & port.Reply> {
    const { turns } = this.#shared;
    try {
      checkOpen(this.#shared);
      const now = this.#now();
      const answer = act(now);
      return { ...this.#reply(now), ...answer };
    } finally {
      if (turns?.isLong()) await turns.next();
    }
  }

  /** S13: whole milliseconds, never going back. */
  #now(): number {
    const { clock, anchor, lastNow } = this.#shared;
    this.#shared.lastNow = Math.max(lastNow, Math.floor(anchor + clock.monotonic()));
    return this.#shared.lastNow;
  }

  #reply(now: number): port.Reply {
    return { now, incarnation: this.#shared.incarnation, settingsVersion: this.#model.settingsVersion };
  }

  #announce(woken: readonly string[], handed: readonly port.HandedOver[] = []): void {
    if (woken.length > 0) tellEach(this.#listeners, (listener) => listener.wake?.(woken));
    for (const lease of handed) tellEach(this.#listeners, (listener) => tellHandedOver(listener, lease));
    tellEach(this.#listeners, (listener) => listener.changed?.());
  }
}

function newShared(clock: Clock, givesWay: boolean): Shared {
  const anchor = clock.wall() - clock.monotonic();
  const turns = givesWay ? new LoopTurns(clock) : undefined;
  return { clock, incarnation: clock.randomText(), spaces: new Map(), anchor, turns, lastNow: 0, closed: false };
}

function checkOpen(shared: Shared): void {
  if (shared.closed) throw new LeaseError('SHUTTING_DOWN', 'the store is closed: connect again');
}
