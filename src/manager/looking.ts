// Looking (A8): what the store knows, in the shapes people see. Nothing here changes anything.
import { checkKeys } from '../domain/check-keys.js';
import { checkLimit } from '../domain/check-request.js';
import { invalid, LeaseError, shown } from '../domain/errors.js';
import { parseDuration, type Duration } from '../domain/duration.js';
import { lostEvent, STORED_TYPES, toEvent, type LeaseEvent } from '../domain/events.js';
import { isoTime, toRecord, type LeaseRecord } from '../domain/lease.js';
import { LIMITS } from '../domain/limits.js';
import type { EventQuery, ListFilter } from '../domain/requests.js';
import { isAbove } from '../domain/resource-name.js';
import type { WaitGraph } from '../domain/wait-graph.js';
import type { LeaseManager } from './lease-manager.js';
import type { StoreLink } from './store-link.js';

export interface Filter {
  /** This name and everything below it. */
  prefix?: string;
  resource?: string;
  owner?: string;
  /** What is live now: `active` leases, `pending` tickets, or both. Ended ones are in the history. */
  status?: 'pending' | 'active';
  olderThan?: Duration;
  limit?: number;
  cursor?: string;
}

export interface HistoryQuery {
  prefix?: string;
  resource?: string;
  owner?: string;
  leaseId?: string;
  type?: string;
  /** Times as ISO text; from `since` on, before `until`. */
  since?: string;
  until?: string;
  limit?: number;
  cursor?: string;
}

export interface ShowOptions {
  /** How many of its last events to look for: 20 unless said; 0 spares the store the dear part of the look. */
  history?: number;
}

export interface ResourceView {
  holders: LeaseRecord[];
  queue: LeaseRecord[];
  /** With those that a token bound to a prefix may not see (W3). */
  holderCount: number;
  queueLength: number;
  /** How long a block still keeps everybody out, in milliseconds. */
  blockedMs: number;
  history: LeaseEvent[];
}

const FILTER_KEYS: ReadonlySet<string> = new Set<keyof Filter>([
  ...(['prefix', 'resource', 'owner', 'status', 'olderThan', 'limit', 'cursor'] as const),
]);
const QUERY_KEYS: ReadonlySet<string> = new Set<keyof HistoryQuery>([
  ...(['prefix', 'resource', 'owner', 'leaseId', 'type', 'since', 'until', 'limit', 'cursor'] as const),
]);
const SHOW_KEYS: ReadonlySet<string> = new Set<keyof ShowOptions>(['history']);
const DEFAULT_LIMIT = 100;
const SHOWN_EVENTS = 20;
const CALL_TIMEOUT_MS = 10_000;
/** A filtered read of a long log may need several steps (S18). */
const MAX_STEPS = 50;

export class Looking {
  readonly #link: StoreLink;
  readonly #clock: LeaseManager['clock'];

  constructor({ link, clock }: LeaseManager) {
    this.#link = link;
    this.#clock = clock;
  }

  async get(id: string): Promise<LeaseRecord | undefined> {
    const { items } = await this.#ask('get', (store) => store.get([id]));
    return items[0] && toRecord(items[0]);
  }

  async list(filter: Filter = {}): Promise<{ items: LeaseRecord[]; cursor?: string }> {
    const wanted = listFilter(filter);
    const { items, cursor } = await this.#ask('list', (store) => store.list(wanted));
    return { items: items.map(toRecord), ...(cursor === undefined ? {} : { cursor }) };
  }

  async show(resource: string, options: ShowOptions = {}): Promise<ResourceView> {
    const events = shownEvents(options);
    const shown = await this.#ask('show', (store) => store.show(resource, events));
    const { holders, queue, holderCount = holders.length, queueLength = queue.length, blockedMs, history } = shown;
    return {
      holders: holders.map(toRecord),
      queue: queue.map(toRecord),
      holderCount,
      queueLength,
      blockedMs,
      history: history.map(toEvent),
    };
  }

  /** Who holds the name now, itself or by a subtree above it. */
  async holders(resource: string): Promise<LeaseRecord[]> {
    const { holders } = await this.show(resource, { history: 0 });
    return holders;
  }

  /** Newest first; `cursor` goes on further back. One from before the store was restored ends in an `events.lost` (H1). */
  async history(query: HistoryQuery = {}): Promise<{ items: LeaseEvent[]; cursor?: string }> {
    const { limit, ...wanted } = eventQuery(query);
    const items: LeaseEvent[] = [];
    let before = query.cursor;
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const asked = { ...wanted, backward: true, before, limit: limit - items.length };
      const answer = await this.#ask('events', (store) => store.events(asked));
      if (answer.outcome === 'lost') {
        return { items: [...items, lostEvent(this.#link.store.namespace, answer.now, answer.oldest)] };
      }
      items.push(...answer.rows.map(toEvent));
      before = answer.next;
      if (!answer.more) return { items };
      if (items.length >= limit) break;
    }
    return before === undefined ? { items } : { items, cursor: before };
  }

  /** An exclusive request would be refused now. */
  async isLocked(resource: string): Promise<boolean> {
    const { holderCount, queueLength, blockedMs } = await this.show(resource, { history: 0 });
    return holderCount > 0 || queueLength > 0 || blockedMs > 0;
  }

  /** Whether a live lease of this owner covers the name, itself or by a subtree above it. */
  async holds(owner: string, resource: string): Promise<boolean> {
    const holders = await this.holders(resource);
    return holders.some(
      (lease) =>
        lease.owner === owner &&
        lease.parts.some(({ name, scope }) => name === resource || (scope === 'subtree' && isAbove(name, resource))),
    );
  }

  async waitGraph(): Promise<WaitGraph> {
    const { tickets } = await this.#ask('waitGraph', (store) => store.waitGraph());
    return { tickets };
  }

  async now(): Promise<{ storeNow: string; skewMs: number; roundTripMs: number }> {
    const sentAt = this.#clock.monotonic();
    const { now } = await this.#ask('time', (store) => store.time());
    return {
      storeNow: isoTime(now),
      skewMs: this.#link.skewMs,
      roundTripMs: Math.max(0, this.#clock.monotonic() - sentAt),
    };
  }

  #ask<T extends { now: number; incarnation: string; settingsVersion: number }>(
    operation: string,
    act: (store: StoreLink['store']) => Promise<T>,
  ): Promise<T> {
    return this.#link.within(CALL_TIMEOUT_MS, operation, this.#link.call(operation, act));
  }
}

function shownEvents(options: ShowOptions): number {
  checkKeys(options, SHOW_KEYS, 'of show');
  const { history = SHOWN_EVENTS } = options;
  if (Number.isInteger(history) && history >= 0 && history <= LIMITS.rowsPerStep) return history;
  throw invalid(`history is a whole number from 0 to ${LIMITS.rowsPerStep}, got ${shown(history)}`);
}

function listFilter(filter: Filter): ListFilter {
  checkKeys(filter, FILTER_KEYS, 'of list');
  const { olderThan, limit = DEFAULT_LIMIT, status, ...rest } = filter;
  if (status !== undefined && status !== 'active' && status !== 'pending') {
    throw invalid(`status is 'active' or 'pending', got ${shown(status)}: what has ended is in history()`);
  }
  checkCursor(rest.cursor);
  const bounds = { name: 'olderThan', minMs: 0, maxMs: LIMITS.maxHoldMs };
  return {
    ...rest,
    limit,
    status,
    olderThanMs: olderThan === undefined ? undefined : parseDuration(olderThan, bounds),
  };
}

export function eventQuery(query: HistoryQuery): EventQuery {
  checkKeys(query, QUERY_KEYS, 'of a query');
  const { since, until, limit = DEFAULT_LIMIT, cursor: _, ...rest } = query;
  checkType(query.type);
  return { ...rest, limit: checkLimit(limit), since: timeOf(since, 'since'), until: timeOf(until, 'until') };
}

function checkType(type: string | undefined): void {
  const known: readonly string[] = STORED_TYPES;
  if (type !== undefined && !known.includes(type)) {
    throw invalid(`there are no events of type ${shown(type)}: known are ${known.join(', ')}`);
  }
}

/** The last id and name that were given out, whichever store did. */
function checkCursor(cursor: string | undefined): void {
  if (cursor === undefined || /^[^:]+:./s.test(cursor)) return;
  throw invalid(`${shown(cursor)} is no cursor of a list: give back the one of the page before, or none`);
}

function timeOf(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) {
    throw new LeaseError('INVALID_ARGUMENT', `${name} is a time such as 2026-01-31T12:00:00Z, got ${shown(text)}`);
  }
  return ms;
}
