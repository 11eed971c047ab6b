// What `connect` answers: the manager with looking, watching, services and settings put around it. Wiring and delegation
// only; each method is one line that says where the work is done.
import { checkKeys } from './domain/check-keys.js';
import { parseDuration, type Duration } from './domain/duration.js';
import type { EventFacts, EventType, LeaseEvent } from './domain/events.js';
import type { LeaseRecord } from './domain/lease.js';
import type { StreamFigures } from './domain/sequence.js';
import { LIMITS } from './domain/limits.js';
import type { Resources } from './domain/part.js';
import type { WaitGraph } from './domain/wait-graph.js';
import { FileLeases } from './files/file-leases.js';
import type { FileRootOptions } from './files/file-root.js';
import { Config } from './manager/config.js';
import type { AcquireOptions, HeldLease, Released, TryResult } from './manager/face.js';
import { invalid } from './domain/errors.js';
import {
  releaseRaw,
  renewRaw,
  revoke,
  sweep,
  type Authority,
  type RawRenewed,
  type RevokeInput,
} from './manager/governing.js';
import type { LeaseManager } from './manager/lease-manager.js';
import { Looking, type Filter, type HistoryQuery, type ResourceView, type ShowOptions } from './manager/looking.js';
import { releaseOnExit } from './manager/release-on-exit.js';
import { Resuming } from './manager/resume.js';
import { leftBehind, letEverythingGo } from './manager/shutdown.js';
import { watch, type WatchFilter } from './manager/watching.js';
import { keep, withLease } from './manager/with-lease.js';
import type { EventBus } from './observe/event-bus.js';
import type { Logger } from './observe/logger.js';
import type { SequenceOptions, Stream } from './sequence/face.js';
import { Sequences } from './sequence/sequences.js';
import type { RunningServices } from './services/start-services.js';

export interface Health {
  ok: boolean;
  held: number;
  waiting: number;
  lostLastHour: number;
  storeLatencyMs: number;
  skewMs: number;
}

/** What `connect` puts together. */
export interface Parts {
  readonly manager: LeaseManager;
  readonly bus: EventBus;
  readonly logger: Logger;
  /** None with `services: 'off'`. */
  readonly services: RunningServices | undefined;
  /** Where the store is, where a url said it: host and path, without who may use it. */
  readonly place: string | undefined;
  /** Closes the store, when it was opened here. */
  readonly close: () => Promise<void>;
}

const SERVICES_STOP_MS = 2_000;
const STREAMS_CLOSE_MS = 4_000;

type Work<T> = (lease: HeldLease) => Promise<T>;

export class Holdfast implements AsyncDisposable {
  readonly config: Config;
  readonly #parts: Parts;
  readonly #manager: LeaseManager;
  readonly #looking: Looking;
  readonly #resuming: Resuming;
  readonly #life = new AbortController();
  #sequences: Sequences | undefined;
  #shutdown: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#manager = parts.manager;
    this.#looking = new Looking(parts.manager);
    this.#resuming = new Resuming(parts.manager);
    this.config = new Config(parts.manager.link);
  }

  get owner(): string {
    return this.#manager.defaults.owner;
  }
  get namespace(): string {
    return this.#manager.link.store.namespace;
  }

  async acquire(resources: Resources, options?: AcquireOptions): Promise<HeldLease> {
    return this.#manager.acquire(resources, options);
  }
  tryAcquire(resources: Resources, options?: AcquireOptions): Promise<TryResult> {
    return this.#manager.tryAcquire(resources, options);
  }
  async ensure(resource: string, options?: AcquireOptions): Promise<HeldLease> {
    return this.#manager.ensure(resource, options);
  }
  withLease<T>(resources: Resources, fn: Work<T>): Promise<T>;
  withLease<T>(resources: Resources, options: AcquireOptions, fn: Work<T>): Promise<T>;
  async withLease<T>(resources: Resources, options: AcquireOptions | Work<T>, fn?: Work<T>): Promise<T> {
    const work = typeof options === 'function' ? options : fn;
    if (typeof work !== 'function') throw invalid('withLease takes the work as a function: (lease) => …');
    return withLease(this.#manager, resources, typeof options === 'function' ? {} : options, work);
  }
  async keep(resources: Resources, options: AcquireOptions, fn: Work<void>): Promise<void> {
    if (typeof fn !== 'function') throw invalid('keep takes the work as a function: (lease) => …');
    return keep(this.#manager, resources, options, fn);
  }
  resume(json: unknown): Promise<HeldLease> {
    return this.#resuming.resume(json);
  }
  held(): readonly HeldLease[] {
    return this.#manager.held();
  }

  /** Leases on files and folders below `root` (A12). */
  files(root: string, options?: FileRootOptions): FileLeases {
    return new FileLeases(this.#manager, root, options);
  }

  /** A stream of numbers that are leased, then settled, and read in order (contract, section 7). */
  sequence<Op>(stream: string, options?: SequenceOptions): Stream<Op> {
    this.#manager.checkOpen();
    const sequences = this.#streams();
    const opened = sequences.stream<Op>(stream, options);
    this.#parts.services?.recover(sequences.recoverer);
    return opened;
  }

  /** Every stream of the namespace with its figures, in order of their names, a page at a time. */
  streams(query?: { after?: string; limit?: number }): Promise<{ items: StreamFigures[]; more: boolean }> {
    return this.#streams().list(query);
  }
  #streams(): Sequences {
    const { logger: log, services, place } = this.#parts;
    return (this.#sequences ??= new Sequences(this.#manager, { log, loopLagMs: () => services?.loopLagMs(), place }));
  }

  revoke(order: RevokeInput): Promise<LeaseRecord[]> {
    return revoke(this.#manager, order);
  }
  renew(leases: readonly (Authority & { ttl?: Duration })[]): Promise<RawRenewed[]> {
    return renewRaw(this.#manager, leases);
  }
  release(leases: readonly Authority[]): Promise<Released[]> {
    return releaseRaw(this.#manager, leases);
  }
  sweep(): Promise<{ expired: number; overrunMaxMs: number }> {
    return sweep(this.#manager);
  }

  get(id: string): Promise<LeaseRecord | undefined> {
    return this.#looking.get(id);
  }
  list(filter?: Filter): Promise<{ items: LeaseRecord[]; cursor?: string }> {
    return this.#looking.list(filter);
  }
  show(resource: string, options?: ShowOptions): Promise<ResourceView> {
    return this.#looking.show(resource, options);
  }
  history(query?: HistoryQuery): Promise<{ items: LeaseEvent[]; cursor?: string }> {
    return this.#looking.history(query);
  }
  isLocked(resource: string): Promise<boolean> {
    return this.#looking.isLocked(resource);
  }
  holds(owner: string, resource: string): Promise<boolean> {
    return this.#looking.holds(owner, resource);
  }
  waitGraph(): Promise<WaitGraph> {
    return this.#looking.waitGraph();
  }
  now(): Promise<{ storeNow: string; skewMs: number; roundTripMs: number }> {
    return this.#looking.now();
  }
  /** The whole namespace, from every process; resumable by the id of the last event seen. */
  watch(filter: WatchFilter = {}): AsyncIterable<LeaseEvent> {
    return watch(this.#manager, filter, this.#life.signal);
  }
  /** This process only. Answers the function that stops it. */
  on(type: EventType | '*', listener: (event: LeaseEvent) => void): () => void {
    return this.#parts.bus.on(type, listener);
  }
  /** What a part beside it has to tell, such as a server its alerts: heard by whoever listens with `on`. */
  announce(facts: EventFacts): void {
    this.#parts.bus.announce(facts);
  }

  async health(): Promise<Health> {
    const { link, lostLately, waiting } = this.#manager;
    const answer = await this.#looking.now().catch(() => undefined);
    return {
      ok: answer !== undefined,
      held: this.#manager.held().length,
      waiting,
      lostLastHour: lostLately,
      storeLatencyMs: answer?.roundTripMs ?? link.latencyMs,
      skewMs: link.skewMs,
    };
  }

  async backup(path: string): Promise<void> {
    return this.#manager.link.store.backup(path);
  }

  releaseOnExit(options: { drain?: Duration } = {}): () => void {
    const drainMs = drainOf(options);
    return releaseOnExit(() => this.shutdown({ drain: drainMs }));
  }

  /** Orderly and bounded in time; a second call answers the first one's promise. */
  shutdown(options: { drain?: Duration } = {}): Promise<void> {
    if (this.#shutdown) return this.#shutdown;
    try {
      return (this.#shutdown = this.#shutDown(drainOf(options)));
    } catch (error) {
      const refusal = error instanceof Error ? error : new Error(String(error));
      return Promise.reject(refusal); // a bad argument: nothing has begun
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown();
  }

  async #shutDown(drainMs: number): Promise<void> {
    const { logger, services, close } = this.#parts;
    const { clock, link } = this.#manager;
    const drainedAt = clock.monotonic() + drainMs;
    const stopped = services?.stop() ?? Promise.resolve([]);
    this.#sequences?.stopIntake();
    const [errors] = await Promise.all([
      letEverythingGo(this.#manager, drainMs, logger),
      this.#sequences?.idle(drainMs),
    ]);
    this.#life.abort();
    const streamsMs = Math.max(0, drainedAt - clock.monotonic()) + STREAMS_CLOSE_MS; // a number under way is work, too
    await Promise.all([
      link.within(SERVICES_STOP_MS, 'the services', stopped).catch((error: unknown) => {
        logger.warn({ err: error }, 'shutdown: a service is still waiting for the store');
      }),
      link.within(streamsMs, 'the streams', this.#sequences?.close() ?? Promise.resolve()).catch((error: unknown) => {
        logger.warn({ err: error }, 'shutdown: streams are still waiting for the store, or for a number under way');
      }),
    ]);
    await close();
    const error = leftBehind(errors);
    if (error) throw error;
  }
}

const DRAIN: ReadonlySet<string> = new Set(['drain']);

function drainOf(options: { drain?: Duration }): number {
  checkKeys(options, DRAIN);
  const { drain } = options;
  return drain === undefined ? 0 : parseDuration(drain, { name: 'drain', minMs: 0, maxMs: LIMITS.waitMs });
}
