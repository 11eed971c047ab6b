// A complete small store: the lease protocol over one JSON file, for one process at a time. It keeps rows, log and
// counters in memory and writes the whole file, aside and then renamed, at the end of every step that changes something;
// the answer leaves after that. docs/guide/writing-a-store.md walks through it; test/stores/tiny-store.test.ts proves it.
//
// Outside this repository the imports are 'holdfast' and 'holdfast/stores/protocol'.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type * as port from '../src/index.js';
import { LeaseError, type Clock, type LogRow, type Part } from '../src/index.js';
import * as protocol from '../src/stores/protocol/index.js';
import type { LeaseRow, LogEntry, Rows, Space, Step } from '../src/stores/protocol/index.js';

const KIND = 'tiny';

type Logged = Omit<LogRow, 'id' | 'namespace'> & { readonly seq: number };

/** One namespace as it stands in the file. */
interface TinySpace extends Space {
  rows: Map<string, LeaseRow>;
  log: Logged[];
  logged: number;
  prunedThrough: number;
}

/** What the protocol asks of a store, answered by looking at every row. An index would only make it faster. */
class TinyRows implements Rows {
  readonly #space: TinySpace;
  readonly #at: { readonly now: number; readonly wall: number };

  constructor(space: TinySpace, at: { readonly now: number; readonly wall: number }) {
    this.#space = space;
    this.#at = at;
  }

  find(id: string): LeaseRow | undefined {
    return this.#space.rows.get(id);
  }
  lookUp(id: string, parts: readonly Part[]): { known: LeaseRow | undefined; overlapping: LeaseRow[] } {
    return { known: this.find(id), overlapping: this.overlapping(parts) };
  }
  overlapping(parts: readonly Part[]): LeaseRow[] {
    return this.standing().filter((row) => protocol.anyOverlap(row.parts, parts));
  }
  matching(order: port.RevokeOrder, now: number, limit: number): LeaseRow[] {
    const { target } = order;
    const isNamed = (row: LeaseRow): boolean => {
      if ('leaseId' in target) return row.id === target.leaseId;
      if ('owner' in target) return row.owner === target.owner;
      if ('resource' in target) return row.parts.some(({ name }) => name === target.resource);
      return row.parts.some(({ name }) => name === target.under || protocol.isAbove(target.under, name));
    };
    const found = this.standing().filter((row) => isNamed(row) && protocol.isRevocable(row, order, now));
    return found.sort(byId).slice(0, limit);
  }
  due(now: number, limit: number): LeaseRow[] {
    const lapsed = this.standing().filter((row) => isOpen(row) && row.expiresAt <= now);
    return lapsed.sort((a, b) => a.expiresAt - b.expiresAt || a.arrival - b.arrival).slice(0, limit);
  }
  deadTickets(now: number, limit: number): LeaseRow[] {
    const dead = this.standing().filter((row) => row.status === 'pending' && row.expiresAt <= now);
    return dead.sort((a, b) => a.expiresAt - b.expiresAt).slice(0, limit);
  }
  waiting(limit: number): LeaseRow[] {
    const pending = this.standing().filter((row) => row.status === 'pending');
    return pending.sort((a, b) => a.arrival - b.arrival).slice(0, limit);
  }
  add(row: LeaseRow): void {
    this.#space.rows.set(row.id, row);
  }
  save(row: LeaseRow): void {
    this.#space.rows.set(row.id, row);
  }
  log(entry: LogEntry): void {
    if (!this.#space.settings.keep_history) return;
    this.#space.logged += 1;
    this.#space.log.push({ ...entry, seq: this.#space.logged, at: this.#at.now, wallAt: this.#at.wall });
  }

  /** Active, pending, or perhaps still blocking. */
  standing(): LeaseRow[] {
    const rows = [...this.#space.rows.values()];
    return rows.filter((row) => isOpen(row) || row.blockedUntil > 0 || row.keepOutUntil > 0);
  }
}

const isOpen = (row: LeaseRow): boolean => row.status === 'active' || row.status === 'pending';
const byId = (a: LeaseRow, b: LeaseRow): number => (a.id < b.id ? -1 : 1);
const firstName = (row: LeaseRow): string => row.parts[0]?.name ?? '';

interface TinyData {
  lastNow: number;
  readonly spaces: Map<string, TinySpace>;
}

/** The file: its data, its clock (S13), and the one place where it is written. */
class TinyFile {
  readonly path: string;
  readonly clock: Clock;
  readonly incarnation: string;
  readonly stores = new Map<string, TinyStore>();
  isClosed = false;
  #data: TinyData;
  readonly #base: number;

  /** Every opening is a new incarnation: epochs are lifted (S2), and what the last process held has died with it. */
  constructor(path: string, clock: Clock) {
    this.path = path;
    this.clock = clock;
    this.incarnation = clock.randomText();
    this.#data = this.#load();
    this.#base = Math.max(clock.wall(), this.#data.lastNow + 1) - clock.monotonic();
    this.write(() => {
      const now = this.now();
      for (const space of this.#data.spaces.values()) {
        space.epoch = protocol.liftedEpoch(space.epoch, clock.wall());
        for (const row of space.rows.values()) if (isOpen(row)) row.expiresAt = Math.min(row.expiresAt, now);
      }
    });
  }

  now(): number {
    this.#data.lastNow = Math.max(this.#data.lastNow, Math.floor(this.#base + this.clock.monotonic()));
    return this.#data.lastNow;
  }

  space(name: string): TinySpace {
    const known = this.#data.spaces.get(name);
    if (known) return known;
    const epoch = protocol.liftedEpoch(0, this.now());
    const counters = { epoch, arrival: 0, tickets: 0, logged: 0, prunedThrough: 0, settingsVersion: 1 };
    const space = { ...counters, settings: protocol.DEFAULT_SETTINGS, rows: new Map<string, LeaseRow>(), log: [] };
    this.#data.spaces.set(name, space);
    return space;
  }

  /** S6: all of a step or nothing of it. When it cannot be written, what is in memory is forgotten too. */
  write<T>(act: () => T): T {
    try {
      const answer = act();
      writeFileSync(`${this.path}.new`, JSON.stringify(this.#data, mapsAsEntries));
      renameSync(`${this.path}.new`, this.path);
      return answer;
    } catch (error) {
      const { lastNow } = this.#data;
      this.#data = { ...this.#load(), lastNow };
      if (error instanceof LeaseError) throw error;
      throw new LeaseError('STORE_UNAVAILABLE', `${this.path} cannot be written: check the disk`, { cause: error });
    }
  }

  #load(): TinyData {
    if (!existsSync(this.path)) return { lastNow: 0, spaces: new Map() };
    const { lastNow, spaces } = JSON.parse(readFileSync(this.path, 'utf8')) as Stored;
    return { lastNow, spaces: new Map(spaces.map(([name, space]) => [name, { ...space, rows: new Map(space.rows) }])) };
  }
}

/** The data as JSON has it: maps are lists of entries. */
interface Stored {
  readonly lastNow: number;
  readonly spaces: readonly [string, Omit<TinySpace, 'rows'> & { readonly rows: readonly [string, LeaseRow][] }][];
}
const mapsAsEntries = (_key: string, value: unknown): unknown => (value instanceof Map ? [...value] : value);

export class TinyStore implements port.Store {
  readonly kind = KIND;
  readonly namespace: string;
  readonly #file: TinyFile;
  readonly #listeners = new Set<port.StoreListener>();

  private constructor(file: TinyFile, namespace: string) {
    this.namespace = protocol.checkNamespace(namespace);
    this.#file = file;
    file.stores.set(namespace, this);
  }
  static open(path: string, clock: Clock, namespace = 'default'): TinyStore {
    return new TinyStore(new TinyFile(path, clock), namespace);
  }
  within(namespace: string): TinyStore {
    return this.#file.stores.get(namespace) ?? new TinyStore(this.#file, namespace);
  }

  acquire = this.#list(protocol.acquire);
  renew = this.#list(protocol.renew);
  end = this.#list(protocol.end);
  change = this.#list(protocol.change);

  revoke: port.Store['revoke'] = async (order) => this.#step((step) => protocol.revoke(step, order));
  failTicket: port.Store['failTicket'] = async (order) => this.#step((step) => protocol.failTicket(step, order));
  sweep: port.Store['sweep'] = async (order) =>
    this.#step((step) => {
      const swept = protocol.sweep(step, order);
      const ends = step.rows.standing().flatMap((row) => (isOpen(row) ? row.expiresAt : []));
      return ends.length === 0 ? swept : { ...swept, nextAt: Math.min(...ends) };
    });
  setSettings: port.Store['setSettings'] = async (changes) =>
    this.#step(({ space }) => {
      const checked = protocol.checkSettings(changes, space.settings);
      if (checked.keep_history === true && !space.settings.keep_history) space.prunedThrough = space.logged += 1;
      space.settings = { ...space.settings, ...checked };
      space.settingsVersion += 1;
      return { settings: space.settings };
    });

  /** H4: log rows by age; ended ids by age too, but never before S8 and their block allow. */
  prune: port.Store['prune'] = async ({ olderThanMs, upTo, limit }) =>
    this.#step(({ now, space }) => {
      protocol.checkLimit(limit);
      const last = upTo === undefined ? Infinity : (this.#seqOf(upTo) ?? 0);
      const old = space.log.filter(({ at, seq }) => at < now - olderThanMs && seq <= last);
      const gone = old.slice(0, limit);
      space.log = space.log.slice(gone.length);
      space.prunedThrough = Math.max(space.prunedThrough, gone.at(-1)?.seq ?? 0);
      const before = now - Math.max(olderThanMs, protocol.ID_KEEP_MS);
      const isOver = (row: LeaseRow): boolean =>
        !isOpen(row) && (row.endedAt ?? 0) < before && row.blockedUntil <= now && row.keepOutUntil <= now;
      const over = [...space.rows.values()].filter(isOver).sort(byId);
      for (const { id } of over.slice(0, limit)) space.rows.delete(id);
      const more = old.length > limit || over.length > limit;
      return { events: gone.length, ids: Math.min(over.length, limit), more };
    });

  events: port.Store['events'] = async (query) =>
    this.#look(({ space }) => {
      protocol.checkFilter(query);
      return this.#readLog(space, query);
    });
  settings: port.Store['settings'] = async () => this.#look(({ space }) => ({ settings: space.settings }));
  waitGraph: port.Store['waitGraph'] = async () => this.#look((look) => protocol.waitGraph(look));
  time: port.Store['time'] = async () => this.#look(({ space }) => ({ epoch: space.epoch }));

  get: port.Store['get'] = async (ids) =>
    this.#look(({ now, rows }) => {
      protocol.checkSoughtIds(ids);
      const known = ids.map((id) => rows.find(id));
      return { items: known.map((row) => (row && row.content !== 0 ? protocol.leaseAt(row, now) : undefined)) };
    });

  /** In order of (first name, id); the cursor is the last pair handed out. */
  list: port.Store['list'] = async (filter) =>
    this.#look(({ now, rows }) => {
      protocol.checkFilter(filter);
      const [, afterId = '', afterName = ''] = /^([^:]*):(.*)$/s.exec(filter.cursor ?? '') ?? [];
      const isPast = (row: LeaseRow): boolean => {
        const order = protocol.compareNames(firstName(row), afterName);
        return filter.cursor === undefined || order > 0 || (order === 0 && row.id > afterId);
      };
      const wanted = rows
        .standing()
        .filter((row) => isListed(row, filter, now) && isPast(row))
        .sort((a, b) => protocol.compareNames(firstName(a), firstName(b)) || byId(a, b));
      const page = wanted.slice(0, filter.limit);
      const last = page.at(-1);
      const items = page.map((row) => protocol.leaseAt(row, now));
      return last && wanted.length > page.length ? { items, cursor: `${last.id}:${firstName(last)}` } : { items };
    });

  show: port.Store['show'] = async (resource, historyLimit) =>
    this.#look((look) => {
      if (historyLimit === 0) return { ...protocol.standingOn(look, resource), history: [] };
      const limit = protocol.checkLimit(historyLimit);
      const history = this.#readLog(look.space, { backward: true, resource, limit });
      return { ...protocol.standingOn(look, resource), history: history.outcome === 'rows' ? history.rows : [] };
    });

  info: port.Store['info'] = async () => {
    const durability = 'survives the end of its process; a power cut may lose the last writes';
    const capabilities = { minTtlMs: 100, clockGrainMs: 1, push: true, guards: [], roundTrips: 1, durability };
    return this.#look(() => ({ kind: KIND, capabilities, details: { path: this.#file.path } }));
  };
  migrate: port.Store['migrate'] = async () => ({ applied: [], pending: [] });
  backup: port.Store['backup'] = async () => {
    throw new LeaseError('INVALID_ARGUMENT', 'the tiny store makes no backups: copy its file while it is closed');
  };
  subscribe(listener: port.StoreListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
  close: port.Store['close'] = async () => {
    this.#file.isClosed = true;
    for (const store of this.#file.stores.values()) store.#listeners.clear();
  };

  /** S21: one call, many items, each with its own result. */
  #list<Q extends object, R extends object>(act: (step: Step, request: Q) => R) {
    return async (requests: readonly Q[]): Promise<port.Answers<R>> => {
      protocol.checkBatch(requests);
      return this.#step((step): { results: (R | port.Failed)[] } => ({
        results: protocol.runItems(requests, (request) => act(step, request)),
      }));
    };
  }

  /** One step: decided at one `now`, written, then answered, then the waiters it freed are woken (Q3). */
  #step<T>(act: (step: Step & { space: TinySpace; rows: TinyRows }) => T): T & port.Reply {
    this.#checkOpen();
    const now = this.#file.now();
    const wall = this.#file.clock.wall();
    return this.#file.write(() => {
      const space = this.#file.space(this.namespace);
      const step = { now, wall, rows: new TinyRows(space, { now, wall }), space, freed: [], wake: [] };
      const answer = act(step);
      const woken = protocol.wokenBy(step);
      if (woken.length > 0) this.#file.clock.soon(() => protocol.tellEach(this.#listeners, (one) => one.wake?.(woken)));
      return { ...this.#reply(now, space), ...answer };
    });
  }

  #look<T>(act: (look: { now: number; space: TinySpace; rows: TinyRows }) => T): T & port.Reply {
    this.#checkOpen();
    const now = this.#file.now();
    const space = this.#file.space(this.namespace);
    const rows = new TinyRows(space, { now, wall: this.#file.clock.wall() });
    return { ...this.#reply(now, space), ...act({ now, space, rows }) };
  }

  #checkOpen(): void {
    if (this.#file.isClosed) throw new LeaseError('SHUTTING_DOWN', 'the store is closed: open it again');
  }
  #reply(now: number, { settingsVersion }: TinySpace): port.Reply {
    return { now, incarnation: this.#file.incarnation, settingsVersion };
  }

  /** H1: a position names store, namespace and incarnation; one from elsewhere is not a place in this log. */
  #position(seq: number): string {
    const { incarnation } = this.#file;
    return protocol.formatPosition({ store: KIND, namespace: this.namespace, incarnation, key: String(seq) });
  }
  #seqOf(position: string): number | undefined {
    const seq = Number(protocol.parsePosition(position)?.key);
    return position === this.#position(seq) ? seq : undefined;
  }
  #readLog(space: TinySpace, query: port.EventQuery) {
    const asked = query.backward ? query.before : query.after;
    const at = asked === undefined ? undefined : this.#seqOf(asked);
    const isBeyond = at === undefined || at > space.logged || (!query.backward && at < space.prunedThrough);
    const isLost = asked !== undefined && isBeyond;
    if (isLost) return { outcome: 'lost', oldest: this.#position(space.prunedThrough) } as const;
    const range = query.backward
      ? space.log.filter(({ seq }) => at === undefined || seq < at).reverse()
      : space.log.filter(({ seq }) => seq > (at ?? space.prunedThrough));
    const all = range.map(({ seq, ...row }) => ({
      ...structuredClone(row),
      id: this.#position(seq),
      namespace: this.namespace,
    }));
    const wanted = all.filter((row) => protocol.matchesQuery(row, query));
    const rows = wanted.slice(0, query.limit);
    const more = wanted.length > rows.length;
    const next = (more ? rows : all).at(-1)?.id ?? asked ?? this.#position(space.prunedThrough);
    return { outcome: 'rows', rows, next, more } as const;
  }
}

function isListed(row: LeaseRow, filter: port.ListFilter, now: number): boolean {
  const { prefix, resource, owner, status, olderThanMs = 0 } = filter;
  const names = row.parts.map(({ name }) => name);
  return (
    (protocol.isLive(row, now) || protocol.isWaiting(row, now)) &&
    (status === undefined || row.status === status) &&
    (owner === undefined || row.owner === owner) &&
    (filter.olderThanMs === undefined || now - row.acquiredAt >= olderThanMs) &&
    (resource === undefined || names.includes(resource)) &&
    (prefix === undefined || names.some((name) => name === prefix || protocol.isAbove(prefix, name)))
  );
}
