// The executable meaning of the port (contract, section 14): every method as a plain function of the state and `now`.
// The memory store is this model with a clock; every other store is compared with it, answer by answer.
//
// State: rows by id (S8), one log (H1), and the counters of the namespace. A method is one step: it runs from start to
// end without waiting, so nothing sees it half done (S6). The rules themselves are in ../protocol, one file a topic.
import { checkFilter, checkLimit } from '../../domain/check-request.js';
import { isLive, isWaiting } from '../../domain/expiry.js';
import { leaseAt, type Lease, type LeaseRow } from '../../domain/lease.js';
import { ID_KEEP_MS } from '../../domain/limits.js';
import type {
  AcquireRequest,
  ChangeRequest,
  EndRequest,
  EventQuery,
  ListFilter,
  RenewRequest,
  RevokeOrder,
} from '../../domain/requests.js';
import { compareNames, isAbove } from '../../domain/resource-name.js';
import { checkSettings, DEFAULT_SETTINGS, type Settings } from '../../domain/settings.js';
import type { WaitGraph } from '../../domain/wait-graph.js';
import { acquire } from '../protocol/acquire.js';
import { failTicket, revoke, sweep } from '../protocol/govern.js';
import { change, end, renew } from '../protocol/hold.js';
import { standingOn, waitGraph } from '../protocol/look.js';
import type { Handing, LogEntry, Space, Step } from '../protocol/rows.js';
import type { SequenceStep } from '../protocol/sequence/rows.js';
import { runItems } from '../protocol/run-items.js';
import type {
  AcquireResult,
  ChangeResult,
  EndResult,
  Failed,
  FailedTicket,
  PruneOrder,
  Pruned,
  RenewResult,
  Reply,
  Revoked,
  Swept,
} from '../store.js';
import { MapRows } from './map-rows.js';
import { ModelLog, type LogAnswer } from './model-log.js';
import { SequenceMapRows } from './sequence-rows.js';

type Without<R extends Reply> = Omit<R, keyof Reply>;

export interface ModelOptions {
  readonly store: string;
  readonly namespace: string;
  readonly incarnation: string;
  /** Where the epoch counter starts: the next one drawn is above it (S2). */
  readonly epoch: number;
}

export class Model {
  readonly #rows: MapRows;
  readonly #sequenceRows: SequenceMapRows;
  readonly #log: ModelLog;
  readonly #space: Space;
  /** The time of the step under way: what its log rows are stamped with. */
  #at = { now: 0, wall: 0 };

  constructor(options: ModelOptions) {
    this.#log = new ModelLog(options);
    const write = (entry: LogEntry): void => {
      if (this.#space.settings.keep_history) this.#log.write(entry, this.#at.now, this.#at.wall);
    };
    this.#rows = new MapRows(write);
    this.#sequenceRows = new SequenceMapRows(write);
    this.#space = { epoch: options.epoch, arrival: 0, tickets: 0, settings: DEFAULT_SETTINGS, settingsVersion: 1 };
  }

  get settingsVersion(): number {
    return this.#space.settingsVersion;
  }
  get epoch(): number {
    return this.#space.epoch;
  }
  get settings(): Settings {
    return this.#space.settings;
  }

  /** Begins a step at `now`; whom to wake after it is `wokenBy(step)`, and whom to tell that it was handed something `handing.done`. */
  step(now: number, wall: number, handing?: Handing): Step {
    this.#at = { now, wall };
    return { now, wall, rows: this.#rows, space: this.#space, freed: [], wake: [], handing };
  }

  /** The same for streams, which draw from the same epochs and write to the same log. */
  sequenceStep(now: number, wall: number): SequenceStep {
    this.#at = { now, wall };
    return { now, rows: this.#sequenceRows, space: this.#space, settled: new Set() };
  }

  acquire(step: Step, requests: readonly AcquireRequest[]): (AcquireResult | Failed)[] {
    return runItems(requests, (request) => acquire(step, request));
  }
  renew(step: Step, requests: readonly RenewRequest[]): (RenewResult | Failed)[] {
    return runItems(requests, (request) => renew(step, request));
  }
  end(step: Step, requests: readonly EndRequest[]): (EndResult | Failed)[] {
    return runItems(requests, (request) => end(step, request));
  }
  change(step: Step, requests: readonly ChangeRequest[]): (ChangeResult | Failed)[] {
    return runItems(requests, (request) => change(step, request));
  }
  revoke(step: Step, order: RevokeOrder): Without<Revoked> {
    return revoke(step, order);
  }
  failTicket(step: Step, order: { id: string; cycle: readonly string[] }): Without<FailedTicket> {
    return failTicket(step, order);
  }
  sweep(step: Step, order: { limit: number }): Without<Swept> {
    const swept = sweep(step, order);
    const ends = this.#rows.standing().flatMap((row) => (isLive(row, 0) || isWaiting(row, 0) ? row.expiresAt : []));
    return ends.length === 0 ? swept : { ...swept, nextAt: ends.reduce((a, b) => Math.min(a, b)) };
  }

  setSettings(changes: Readonly<Record<string, unknown>>): Settings {
    const checked = checkSettings(changes, this.#space.settings);
    if (checked.keep_history === true && !this.#space.settings.keep_history) this.#log.resume();
    this.#space.settings = { ...this.#space.settings, ...checked };
    this.#space.settingsVersion += 1;
    return this.#space.settings;
  }

  events(query: EventQuery): LogAnswer {
    checkFilter(query);
    return this.#log.read(query);
  }

  /** H4: log rows by age; ended ids by age too, but never before S8 and their block allow. */
  prune(now: number, order: PruneOrder): Without<Pruned> {
    const limit = checkLimit(order.limit);
    const { events, more } = this.#log.prune(now - order.olderThanMs, order.upTo, limit);
    const before = now - Math.max(order.olderThanMs, ID_KEEP_MS);
    const forgotten = this.#rows.forget((row) => isForgettable(row, now, before), limit);
    return { events, ids: forgotten.ids, more: more || forgotten.more };
  }

  waitGraph(now: number): WaitGraph {
    return waitGraph({ now, rows: this.#rows });
  }

  get(now: number, ids: readonly string[]): (Lease | undefined)[] {
    return ids.map((id) => {
      const row = this.#rows.find(id);
      return row && row.content !== 0 ? leaseAt(row, now) : undefined;
    });
  }

  /** In order of (first name, id). The cursor is the last pair handed out. */
  list(now: number, filter: ListFilter): { items: Lease[]; cursor?: string } {
    checkFilter(filter);
    const wanted = this.#rows
      .standing()
      .filter((row) => isListed(row, filter, now))
      .map((row) => ({ row, name: row.parts[0]?.name ?? '' }))
      .sort((a, b) => compareNames(a.name, b.name) || (a.row.id < b.row.id ? -1 : 1));
    const start = wanted.findIndex(({ row, name }) => isPast(filter.cursor, name, row.id));
    const page = start === -1 ? [] : wanted.slice(start, start + filter.limit);
    const items = page.map(({ row }) => leaseAt(row, now));
    const last = page.at(-1);
    const isEnd = last === undefined || start + page.length === wanted.length;
    return isEnd ? { items } : { items, cursor: `${last.row.id}:${last.name}` };
  }

  show(
    now: number,
    resource: string,
    historyLimit: number,
  ): { holders: Lease[]; queue: Lease[]; blockedMs: number; history: LogAnswer } {
    const none: LogAnswer = { outcome: 'rows', rows: [], next: '', more: false };
    const history = historyLimit === 0 ? none : this.events({ backward: true, resource, limit: historyLimit });
    return { ...standingOn({ now, rows: this.#rows }, resource), history };
  }
}

function isForgettable(row: LeaseRow, now: number, before: number): boolean {
  if (row.status === 'active' || row.status === 'pending') return false;
  return (row.endedAt ?? 0) < before && row.blockedUntil <= now && row.keepOutUntil <= now;
}

function isListed(row: LeaseRow, filter: ListFilter, now: number): boolean {
  const { prefix, resource, owner, status } = filter;
  const live = isLive(row, now) || isWaiting(row, now);
  if (!live || (status !== undefined && row.status !== status)) return false;
  if (owner !== undefined && row.owner !== owner) return false;
  if (filter.olderThanMs !== undefined && now - row.acquiredAt < filter.olderThanMs) return false;
  if (resource !== undefined && !row.parts.some((part) => part.name === resource)) return false;
  return prefix === undefined || row.parts.some((part) => part.name === prefix || isAbove(prefix, part.name));
}

function isPast(cursor: string | undefined, name: string, id: string): boolean {
  if (cursor === undefined) return true;
  const cut = cursor.indexOf(':');
  const order = compareNames(name, cursor.slice(cut + 1));
  return order > 0 || (order === 0 && id > cursor.slice(0, cut));
}
