// The SQLite store: the lease protocol over one file, one BEGIN IMMEDIATE a call. Several processes may share the file.
import { checkBatch, checkFilter, checkLimit, checkNamespace, checkSoughtIds } from '../../domain/check-request.js';
import { checkSettings } from '../../domain/settings.js';
import { leaseAt } from '../../domain/lease.js';
import type {
  AcquireRequest,
  ChangeRequest,
  EndRequest,
  EventQuery,
  ListFilter,
  RenewRequest,
  RevokeOrder,
} from '../../domain/requests.js';
import type { WaitGraph } from '../../domain/wait-graph.js';
import { acquire } from '../protocol/acquire.js';
import { failTicket, revoke, sweep } from '../protocol/govern.js';
import { change, end, renew } from '../protocol/hold.js';
import { standingOn, waitGraph } from '../protocol/look.js';
import { runItems } from '../protocol/run-items.js';
import { wokenBy } from '../protocol/wake.js';
import type * as port from '../store.js';
import type { SequenceStore } from '../sequence-store.js';
import type { StoreHealth } from '../store-health.js';
import { backupFile } from './backup.js';
import { dueRows, isAnyDue, listUnlisted, nextDue } from './due-list.js';
import { healthOfFile } from './health.js';
import type { FileStep, Look, SqliteFile } from './sqlite-file.js';
import { FileSequences } from './sequence-file.js';
import type { LogAnswer } from './sql-log.js';
import { Waiters } from './waiters.js';

const KIND = 'sqlite';

/** What a step answers, and whom it has to wake. */
interface Written<T> {
  readonly answer: T;
  readonly woken: readonly string[];
}

export class SqliteStore implements port.Store {
  readonly kind = KIND;
  readonly namespace: string;
  /** For guardSqlite, which looks for this file among those that are attached. */
  readonly path: string;
  readonly #file: SqliteFile;
  readonly #applied: readonly string[];
  readonly #waiters: Waiters;
  readonly #siblings: Map<string, SqliteStore>;
  readonly #sequences: FileSequences;

  constructor(
    file: SqliteFile,
    namespace: string,
    applied: readonly string[],
    siblings: Map<string, SqliteStore> = new Map(),
  ) {
    this.namespace = checkNamespace(namespace);
    this.path = file.path;
    this.#file = file;
    this.#applied = applied;
    this.#siblings = siblings;
    this.#siblings.set(this.namespace, this);
    this.#waiters = new Waiters(file, this.namespace);
    this.#sequences = new FileSequences(file, this.namespace, () => this.#waiters.changed());
  }

  get sequences(): SequenceStore {
    return this.#sequences.store;
  }

  within(namespace: string): SqliteStore {
    const known = this.#siblings.get(checkNamespace(namespace));
    return known ?? new SqliteStore(this.#file, namespace, this.#applied, this.#siblings);
  }

  async acquire(requests: readonly AcquireRequest[]): Promise<port.Answers<port.AcquireResult>> {
    const asked = this.#items(requests, (step, request) => acquire(step, request));
    const answers = asked instanceof Promise ? await asked : asked;
    this.#waiters.answered(requests, answers.results);
    return answers;
  }
  async renew(requests: readonly RenewRequest[]): Promise<port.Answers<port.RenewResult>> {
    return this.#items(requests, (step, request) => renew(step, request));
  }
  async end(requests: readonly EndRequest[]): Promise<port.Answers<port.EndResult>> {
    const asked = this.#items(requests, (step, request) => end(step, request));
    const answers = asked instanceof Promise ? await asked : asked;
    this.#waiters.answered(requests, answers.results);
    return answers;
  }
  async change(requests: readonly ChangeRequest[]): Promise<port.Answers<port.ChangeResult>> {
    return this.#items(requests, (step, request) => change(step, request));
  }
  async revoke(order: RevokeOrder): Promise<port.Revoked> {
    return this.#step((step) => revoke(step, order));
  }
  async failTicket(order: { id: string; cycle: readonly string[] }): Promise<port.FailedTicket> {
    return this.#step((step) => failTicket(step, order));
  }
  async sweep(order: { limit: number }): Promise<port.Swept> {
    const { sql, spaces } = this.#file;
    return this.#step((step) => {
      checkLimit(order.limit);
      const isCaughtUp = listUnlisted(sql, step.space);
      const swept = sweep(step, order);
      const isDone = isCaughtUp && !swept.more && dueRows(sql, step.space, step.now, 1).length === 0;
      const more = !isDone || isAnyDue(sql, step.space, step.now);
      spaces.save(step.space);
      const nextAt = nextDue(sql, step.space);
      return { ...swept, more, ...(nextAt === undefined ? {} : { nextAt }) };
    });
  }

  async events(query: EventQuery): Promise<port.Events> {
    checkFilter(query);
    return this.#look((look) => this.#readLog(look, query));
  }
  async prune(order: port.PruneOrder): Promise<port.Pruned> {
    checkLimit(order.limit);
    return this.#step((step) => {
      const pruned = this.#file.log.prune(step.space, this.#file.anchor.incarnation, step.now, order);
      this.#file.spaces.save(step.space);
      return pruned;
    });
  }

  async settings(): Promise<port.SettingsReply> {
    return this.#look(({ space }) => ({ settings: space.settings }));
  }
  async setSettings(changes: Readonly<Record<string, unknown>>): Promise<port.SettingsReply> {
    return this.#step(({ space }) => {
      const checked = checkSettings(changes, space.settings);
      if (checked.keep_history === true && !space.settings.keep_history) {
        space.arrival += 1; // H1: whoever read before the pause is told that rows are lost
        space.prunedThrough = space.arrival;
      }
      space.settings = { ...space.settings, ...checked };
      space.settingsVersion += 1;
      this.#file.spaces.save(space);
      return { settings: space.settings };
    });
  }

  async waitGraph(): Promise<port.Reply & WaitGraph> {
    return this.#look((look) => waitGraph(look));
  }
  async get(ids: readonly string[]): ReturnType<port.Store['get']> {
    checkSoughtIds(ids);
    return this.#look(({ now, rows }) => ({
      items: ids.map((id) => {
        const row = rows.find(id);
        return row && row.content !== 0 ? leaseAt(row, now) : undefined;
      }),
    }));
  }
  async list(filter: ListFilter): Promise<port.Listed> {
    checkFilter(filter);
    return this.#look(({ now, space }) => this.#file.listing.page(space, now, filter));
  }
  async show(resource: string, historyLimit: number): Promise<port.Shown> {
    if (historyLimit !== 0) checkLimit(historyLimit);
    return this.#look((look) => {
      const standing = standingOn(look, resource);
      if (historyLimit === 0) return { ...standing, history: [] };
      const history = this.#readLog(look, { backward: true, resource, limit: historyLimit });
      return { ...standing, history: history.outcome === 'rows' ? history.rows : [] };
    });
  }

  async info(): Promise<port.StoreInfo> {
    const { db, path, checkpointer } = this.#file;
    return this.#look(() => {
      const synchronous = this.#file.sql.openedSynchronous === 1 ? 'normal' : 'full';
      const survives = synchronous === 'full' ? 'a power cut' : 'a crash; a power cut may lose the last writes';
      const capabilities: port.Capabilities = {
        minTtlMs: 100,
        clockGrainMs: 1,
        push: true,
        guards: ['guardSqlite'],
        roundTrips: 1,
        durability: `survives ${survives}`,
      };
      const sqlite = db.prepare('SELECT sqlite_version()').pluck().get();
      const details = { path, synchronous, sqlite, checkpointTrouble: checkpointer.trouble };
      return { kind: KIND, capabilities, details };
    });
  }
  async health(): Promise<StoreHealth> {
    return healthOfFile(this.#file.path);
  }
  async time(): Promise<port.TimeReply> {
    return this.#look(({ space }) => ({ epoch: space.epoch }));
  }
  async migrate(): Promise<{ applied: readonly string[]; pending: readonly string[] }> {
    this.#file.checkOpen();
    return { applied: this.#applied, pending: [] };
  }
  async backup(path: string): Promise<void> {
    this.#file.checkOpen();
    await backupFile(this.#file, path);
  }
  subscribe(listener: port.StoreListener): () => void {
    return this.#waiters.subscribe(listener);
  }
  async close(): Promise<void> {
    for (const store of this.#siblings.values()) {
      store.#waiters.close();
      store.#sequences.close();
    }
    await this.#file.close();
  }

  #items<Q extends object, R>(
    requests: readonly Q[],
    act: (step: FileStep, request: Q) => R,
  ): port.Answers<R> | Promise<port.Answers<R>> {
    checkBatch(requests);
    return this.#write((step) => {
      const results = runItems(requests, (request) => act(step, request));
      const { now, space } = step;
      return { now, incarnation: this.#file.anchor.incarnation, settingsVersion: space.settingsVersion, results };
    });
  }

  #step<T extends object>(act: (step: FileStep) => T): (T & port.Reply) | Promise<T & port.Reply> {
    return this.#write((step) => {
      const reply = act(step);
      return { ...this.#reply(step.now, step.space.settingsVersion), ...reply };
    });
  }

  /** One write, and whoever it freed something for is woken. */
  #write<T>(act: (step: FileStep) => T): T | Promise<T> {
    const written = this.#file.write(this.namespace, (step): Written<T> => ({
      answer: act(step),
      woken: wokenBy(step),
    }));
    return written instanceof Promise ? written.then((done) => this.#written(done)) : this.#written(written);
  }

  #written<T>({ answer, woken }: Written<T>): T {
    if (woken.length > 0) this.#waiters.freed(woken);
    this.#waiters.changed();
    return answer;
  }

  #look<T extends object>(act: (look: Look) => T): Promise<T & port.Reply> {
    return this.#file.readInTurn(this.namespace, (look) => ({
      ...this.#reply(look.now, look.space.settingsVersion),
      ...act(look),
    }));
  }

  #readLog({ space }: Look, query: EventQuery): LogAnswer {
    return this.#file.log.read(space, this.#file.anchor.incarnation, query);
  }

  #reply(now: number, settingsVersion: number): port.Reply {
    return { now, incarnation: this.#file.anchor.incarnation, settingsVersion };
  }
}
