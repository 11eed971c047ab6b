// The Redis store: one script a method, decided where the data is. What is checked is checked here, before it is sent; what
// is decided is decided there, in one step, at one moment of the server's clock.
import {
  checkBatch,
  checkFailTicket,
  checkFilter,
  checkLimit,
  checkNamespace,
  checkRevoke,
  checkSoughtIds,
} from '../../domain/check-request.js';
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import { leaseAt, type Lease } from '../../domain/lease.js';
import type {
  AcquireRequest,
  ChangeRequest,
  EndRequest,
  EventQuery,
  ListFilter,
  RenewRequest,
  RevokeOrder,
} from '../../domain/requests.js';
import { checkName } from '../../domain/resource-name.js';
import type { WaitGraph } from '../../domain/wait-graph.js';
import { standingOn, waitGraph } from '../protocol/look.js';
import type { SequenceStore } from '../sequence-store.js';
import type * as port from '../store.js';
import type { StoreHealth } from '../store-health.js';
import { healthOf } from './health.js';
import { Hints } from './hints.js';
import { askAcquires, askEnds, askItems } from './ask-items.js';
import { changeItem, renewItem } from './items.js';
import type { Script } from './link.js';
import { SCRIPTS } from './lua/scripts.js';
import { Namespace, type Answered } from './namespace.js';
import { OwnLeases } from './own-leases.js';
import { placeOf, readLog, STORE } from './read-log.js';
import { RedisSequences } from './redis-sequences.js';
import { decodeRow } from './row-text.js';
import { revoke } from './revoke.js';
import { readSettings, writeSettings } from './settings.js';
import { Snapshot } from './snapshot.js';

interface Shared {
  readonly clock: Clock;
  readonly spaces: Map<string, RedisStore>;
  isClosed: boolean;
}

export class RedisStore implements port.Store {
  readonly kind = STORE;
  /** It works on one script at a time, and has the next one there when it is done. */
  readonly callsAtOnce = { calls: 2, enough: 16 };
  readonly #namespace: Namespace;
  readonly #shared: Shared;
  readonly #hints: Hints;
  readonly #own = new OwnLeases();
  readonly #sequences: RedisSequences;

  constructor(namespace: Namespace, clock: Clock, shared?: Shared) {
    this.#namespace = namespace;
    this.#shared = shared ?? { clock, spaces: new Map(), isClosed: false };
    this.#shared.spaces.set(namespace.name, this);
    this.#hints = new Hints(namespace, clock, this.#own);
    this.#sequences = new RedisSequences(namespace, clock, () => this.#checkOpen());
  }

  get namespace(): string {
    return this.#namespace.name;
  }
  get sequences(): SequenceStore {
    return this.#sequences;
  }
  /** For guards, whose scripts look at the lease beside the caller's own keys (G3). */
  get keys(): readonly string[] {
    return this.#namespace.keys;
  }

  within(namespace: string): RedisStore {
    const known = this.#shared.spaces.get(checkNamespace(namespace));
    if (known) return known;
    const { link, isReadOnly } = this.#namespace;
    return new RedisStore(new Namespace(link, namespace, isReadOnly), this.#shared.clock, this.#shared);
  }

  async acquire(requests: readonly AcquireRequest[]): Promise<port.Answers<port.AcquireResult>> {
    const isOver = this.#hints.asked(requests);
    try {
      checkBatch(requests);
      // Of what somebody else claimed nobody here would know whether the replicas have it.
      const mayBeHanded = this.#namespace.link.waitsForReplicas === 0;
      const answers = await askAcquires((script, args) => this.#write(script, args), requests, this.#own, mayBeHanded);
      this.#hints.answered(requests, answers.results);
      return answers;
    } finally {
      isOver();
    }
  }
  async renew(requests: readonly RenewRequest[]): Promise<port.Answers<port.RenewResult>> {
    checkBatch(requests);
    const renewed = this.#own.beingRenewed(requests);
    const answers = await askItems((args) => this.#write(SCRIPTS.renew, args), requests, renewItem);
    renewed(answers.results);
    return answers;
  }
  async end(requests: readonly EndRequest[]): Promise<port.Answers<port.EndResult>> {
    checkBatch(requests);
    const answers = await askEnds((script, args) => this.#write(script, args), requests, this.#own);
    this.#hints.answered(requests, answers.results);
    return answers;
  }
  async change(requests: readonly ChangeRequest[]): Promise<port.Answers<port.ChangeResult>> {
    checkBatch(requests);
    this.#own.forget(requests);
    return askItems((args) => this.#write(SCRIPTS.change, args), requests, changeItem);
  }

  async revoke(order: RevokeOrder): Promise<port.Revoked> {
    checkRevoke(order);
    return revoke((args) => this.#write(SCRIPTS.revoke, args), order);
  }
  async failTicket(order: { id: string; cycle: readonly string[] }): Promise<port.FailedTicket> {
    const { id, cycle } = checkFailTicket(order);
    const { reply, rest } = await this.#write(SCRIPTS.failTicket, [id, ...cycle]);
    return { ...reply, outcome: rest[0] as 'failed' | 'gone' };
  }
  async sweep(order: { limit: number }): Promise<port.Swept> {
    const { reply, rest } = await this.#write(SCRIPTS.sweep, [String(checkLimit(order.limit))]);
    const [leaseCount, tickets, overrunMaxMs, more, nextAt] = rest.map(Number) as [
      number,
      number,
      number,
      number,
      number,
    ];
    const swept = { ...reply, leases: leaseCount, tickets, overrunMaxMs, more: more === 1 };
    return nextAt === 0 ? swept : { ...swept, nextAt };
  }
  async events(query: EventQuery): Promise<port.Events> {
    checkFilter(query);
    this.#checkOpen();
    return readLog(this.#namespace, query);
  }
  async prune(order: port.PruneOrder): Promise<port.Pruned> {
    const limit = String(checkLimit(order.limit));
    const upTo = order.upTo === undefined ? ['', ''] : placeOf(order.upTo, this.namespace);
    const { reply, rest } = await this.#write(SCRIPTS.prune, [String(order.olderThanMs), limit, ...upTo]);
    return { ...reply, events: Number(rest[0]), ids: Number(rest[1]), more: rest[2] === 1 };
  }
  async settings(): Promise<port.SettingsReply> {
    this.#checkOpen();
    return readSettings(this.#namespace);
  }
  async setSettings(changes: Readonly<Record<string, unknown>>): Promise<port.SettingsReply> {
    this.#checkOpen();
    return writeSettings(this.#namespace, changes);
  }

  async waitGraph(): Promise<port.Reply & WaitGraph> {
    const { reply, rest } = await this.#look(SCRIPTS.graph, []);
    const rows = new Snapshot(rest[1] as string[], rest[0] as string[], reply.now);
    return { ...reply, ...waitGraph({ now: reply.now, rows }) };
  }
  async get(ids: readonly string[]): ReturnType<port.Store['get']> {
    checkSoughtIds(ids);
    const { reply, rest } = await this.#look(SCRIPTS.get, ids.map(String));
    const items = (rest[0] as string[]).map((text) => (text === '' ? undefined : knownLease(text, reply.now)));
    return { ...reply, items };
  }
  async list(filter: ListFilter): Promise<port.Listed> {
    const {
      limit,
      cursor = ':',
      owner = '',
      status = '',
      olderThanMs = -Infinity,
      resource = '',
      prefix = '',
    } = filter;
    checkFilter(filter);
    const cut = cursor.indexOf(':');
    const place = [cursor.slice(cut + 1), cursor.slice(0, cut)];
    const figures = [
      owner,
      status.slice(0, 1),
      String(Number.isFinite(olderThanMs) ? olderThanMs : -1),
      resource,
      prefix,
    ];
    const { reply, rest } = await this.#look(SCRIPTS.list, [String(limit), ...place, ...figures]);
    const [items, id, name] = rest;
    const page = { ...reply, items: leases(items, reply.now) };
    return id === '' ? page : { ...page, cursor: `${String(id)}:${String(name)}` };
  }
  async show(resource: string, historyLimit: number): Promise<port.Shown> {
    if (historyLimit !== 0) checkLimit(historyLimit);
    const { reply, rest } = await this.#look(SCRIPTS.show, [checkName(resource)]);
    const standing = standingOn({ now: reply.now, rows: new Snapshot(rest[0] as string[], [], reply.now) }, resource);
    if (historyLimit === 0) return { ...reply, ...standing, history: [] };
    const history = await readLog(this.#namespace, { backward: true, resource, limit: historyLimit });
    return { ...reply, ...standing, history: history.outcome === 'rows' ? history.rows : [] };
  }

  async info(): Promise<port.StoreInfo> {
    const { reply } = await this.#look(SCRIPTS.time, []);
    const { durability, ...details } = this.#namespace.link.facts();
    const capabilities: port.Capabilities = {
      minTtlMs: 100,
      clockGrainMs: 1,
      push: true,
      guards: ['guardedScript'],
      roundTrips: 1,
      durability: typeof durability === 'string' ? durability : 'unknown',
    };
    return { ...reply, kind: STORE, capabilities, details };
  }
  async health(): Promise<StoreHealth> {
    this.#checkOpen();
    return healthOf(String(await this.#namespace.link.run(SCRIPTS.health, this.keys.slice(0, 1), [])));
  }
  async time(): Promise<port.TimeReply> {
    const { reply, rest } = await this.#look(SCRIPTS.time, []);
    return { ...reply, epoch: Number(rest[0]) };
  }
  /** There is nothing to migrate: data of an older format is read as it is, and every script refuses a newer one. */
  async migrate(): Promise<{ applied: readonly string[]; pending: readonly string[] }> {
    this.#checkOpen();
    return { applied: [], pending: [] };
  }
  async backup(): Promise<void> {
    this.#checkOpen();
    throw new LeaseError(
      'INVALID_ARGUMENT',
      "a Redis store is backed up by the server: BGSAVE and a copy of its dump file, or appendonly yes; see Redis's own guide",
    );
  }

  subscribe(listener: port.StoreListener): () => void {
    return this.#hints.subscribe(listener);
  }
  async close(): Promise<void> {
    this.#shared.isClosed = true;
    for (const store of this.#shared.spaces.values()) {
      store.#hints.close();
      store.#sequences.close();
    }
    await this.#namespace.link.close();
  }

  #write(script: Script, args: readonly string[]): Promise<Answered> {
    this.#checkOpen();
    return this.#namespace.write(script, args);
  }
  #look(script: Script, args: readonly string[]): Promise<Answered> {
    this.#checkOpen();
    return this.#namespace.look(script, args);
  }
  #checkOpen(): void {
    if (this.#shared.isClosed) throw new LeaseError('SHUTTING_DOWN', 'the store is closed: connect again');
  }
}

function leases(texts: unknown, now: number): Lease[] {
  return (texts as readonly string[]).map((text) => leaseAt(decodeRow(text), now));
}

/** An id that was only ended is not a lease anybody asked for. */
function knownLease(text: string, now: number): Lease | undefined {
  const row = decodeRow(text);
  return row.content === 0 ? undefined : leaseAt(row, now);
}
