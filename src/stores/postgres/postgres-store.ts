// The PostgreSQL store: one function of the schema a method, one round trip a call (section 14). What a request must be is
// checked here, what it does is decided there (S16); replies are one JSON document each.
import {
  checkChange,
  checkEnd,
  checkFailTicket,
  checkFilter,
  checkLimit,
  checkNamespace,
  checkRenew,
  checkRevoke,
  checkSoughtIds,
} from '../../domain/check-request.js';
import { LeaseError } from '../../domain/errors.js';
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
import { checkName } from '../../domain/resource-name.js';
import { checkSettings, DEFAULT_SETTINGS, type Settings } from '../../domain/settings.js';
import type { WaitGraph } from '../../domain/wait-graph.js';
import { standingOn } from '../protocol/look.js';
import type * as port from '../store.js';
import type { StoreHealth } from '../store-health.js';
import { checkedAcquire, encodeAcquires, encodePlain, encodeSingle, type CheckedAcquire } from './encode-acquire.js';
import { encodeChanges, encodeEnds, encodeRenews, encodeSingleEnd } from './encode-hold.js';
import { infoOf, type InfoColumns } from './info.js';
import { OwnNames } from './own-names.js';
import {
  decodeEvents,
  decodePage,
  encodeFilter,
  encodeQuery,
  fromOf,
  wholeMs,
  type EventColumns,
} from './page-codec.js';
import {
  decodeAcquire,
  decodeChange,
  decodeEnds,
  decodePlain,
  decodeRenews,
  type PlainColumns,
  type Raw,
} from './result-codec.js';
import { decodeLease, type RecordColumns, type WaitingColumns } from './row-codec.js';
import type { SchemaCalls } from './schema-calls.js';
import { sendItems } from './send-items.js';
import { saysKnownId } from './translate-error.js';
import { PostgresSequences } from './sequences.js';
import { graphOf, lookAt, standingCycle, type GraphColumns } from './wait-graph.js';

const KIND = 'postgres';
/** How often a call looks again when somebody else was quicker. */
const MOST_TRIES = 8;

export class PostgresStore implements port.Store {
  readonly kind = KIND;
  readonly namespace: string;
  readonly sequences: PostgresSequences;
  readonly #calls: SchemaCalls;
  readonly #siblings: Map<string, PostgresStore>;
  readonly #ownNames = new OwnNames();

  constructor(calls: SchemaCalls, namespace: string, siblings: Map<string, PostgresStore> = new Map()) {
    this.namespace = checkNamespace(namespace);
    this.#calls = calls;
    this.#siblings = siblings;
    this.sequences = new PostgresSequences(calls, this.namespace);
    siblings.set(this.namespace, this);
  }

  /** Where its tables are: a guard looks for the lease row there. */
  get schema(): string {
    return this.#calls.schema;
  }

  get callsAtOnce(): port.CallsAtOnce | undefined {
    return this.#calls.callsAtOnce;
  }

  within(namespace: string): PostgresStore {
    const known = this.#siblings.get(checkNamespace(namespace));
    return known ?? new PostgresStore(this.#calls, namespace, this.#siblings);
  }

  async acquire(requests: readonly AcquireRequest[]): Promise<port.Answers<port.AcquireResult>> {
    const answers = await sendItems(requests, checkedAcquire, (items) => this.#acquire(items));
    this.#calls.hints.answered(this.namespace, requests, answers.results);
    return answers;
  }
  async #acquire(items: readonly CheckedAcquire[]): Promise<port.Answers<port.AcquireResult>> {
    const single = encodeSingle(items);
    const plain = single ?? encodePlain(items, false);
    if (plain === undefined) {
      const { body, ...reply } = await this.#write<Raw[]>('acquire', encodeAcquires(items));
      return { ...reply, results: body.map((raw) => decodeAcquire(raw, reply.now)) };
    }
    try {
      return await this.#acquirePlain(single ? 'acquire_one' : 'acquire_plain', items, plain);
    } catch (error) {
      const again = saysKnownId(error) ? encodePlain(items, true) : undefined; // nothing was written
      if (again === undefined) throw error;
      return this.#acquirePlain('acquire_plain', items, again);
    }
  }
  async #acquirePlain(name: string, items: readonly CheckedAcquire[], values: readonly unknown[]) {
    const reply = await this.#write<PlainColumns>(name, values);
    const results = decodePlain(items, reply.body, reply.now);
    this.#ownNames.remember(items, results);
    return answersOf(reply, results);
  }
  async renew(requests: readonly RenewRequest[]): Promise<port.Answers<port.RenewResult>> {
    return sendItems(requests, checked(checkRenew), async (items) => {
      const { body, ...reply } = await this.#write<Raw[] | string>('renew', encodeRenews(items));
      return { ...reply, results: decodeRenews(body, reply.now) };
    });
  }
  async end(requests: readonly EndRequest[]): Promise<port.Answers<port.EndResult>> {
    const answers = await sendItems(requests, checked(checkEnd), async (items) => {
      const names = this.#ownNames.take(items);
      const single = encodeSingleEnd(items, names);
      const reply = await this.#write<Raw[] | string>(single ? 'end_one' : 'end', single ?? encodeEnds(items, names));
      return answersOf(reply, decodeEnds(reply.body));
    });
    this.#calls.hints.answered(this.namespace, requests, answers.results);
    return answers;
  }
  async change(requests: readonly ChangeRequest[]): Promise<port.Answers<port.ChangeResult>> {
    return sendItems(requests, checked(checkChange), async (items) => {
      const { body, ...reply } = await this.#write<Raw[]>('change', encodeChanges(items));
      return { ...reply, results: body.map((raw) => decodeChange(raw, reply.now)) };
    });
  }

  async revoke(order: RevokeOrder): Promise<port.Revoked> {
    checkRevoke(order);
    const [kind, target] = Object.entries(order.target)[0] as [string, string];
    const { reason, actor, upToEpoch, keepOutMs } = order;
    const { body, ...reply } = await this.#write<[RecordColumns[], number | null, boolean | null]>('revoke', [
      kind,
      target,
      reason,
      actor,
      upToEpoch,
      keepOutMs,
    ]);
    const [ended, epoch, more] = body;
    return {
      ...reply,
      ended: ended.map((one) => decodeLease(one, reply.now)),
      epoch: epoch ?? undefined,
      more: more ?? false,
    };
  }

  async failTicket(order: { readonly id: string; readonly cycle: readonly string[] }): Promise<port.FailedTicket> {
    const { id, cycle } = checkFailTicket(order);
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const { body: graph, ...looked } = await this.#look<GraphColumns>('wait_graph', [cycle]);
      const steps = standingCycle(graph, looked.now, { id, cycle });
      if (steps === undefined) return { ...looked, outcome: 'gone' };
      const values = [id, cycle, graph[2], JSON.stringify(steps)];
      const { body, ...reply } = await this.#write<'failed' | 'changed'>('fail_ticket', values);
      if (body === 'failed') return { ...reply, outcome: 'failed' };
    }
    throw new LeaseError('STORE_UNAVAILABLE', 'the queue changed each time the cycle was looked at: try again');
  }

  async sweep(order: { readonly limit: number }): Promise<port.Swept> {
    const { body, ...reply } = await this.#write<[number, number, number, boolean, number | null]>('sweep', [
      checkLimit(order.limit),
    ]);
    const [leases, tickets, overrunMaxMs, more, nextAt] = body;
    return { ...reply, leases, tickets, overrunMaxMs, more, ...(nextAt === null ? {} : { nextAt }) };
  }

  async events(query: EventQuery): Promise<port.Events> {
    checkFilter(query);
    const { body, ...reply } = await this.#look<EventColumns>('events', encodeQuery(query, this.namespace));
    return decodeEvents(body, reply, this.namespace);
  }
  async prune(order: port.PruneOrder): Promise<port.Pruned> {
    const limit = checkLimit(order.limit);
    const olderThanMs = wholeMs(order.olderThanMs, Math.floor); // what is older than it is older than the whole one below
    const values = [olderThanMs, ID_KEEP_MS, ...fromOf(order.upTo, this.namespace), limit];
    const { body, ...reply } = await this.#write<[number, number, boolean]>('prune', values);
    return { ...reply, events: body[0], ids: body[1], more: body[2] };
  }

  async settings(): Promise<port.SettingsReply> {
    const { body, ...reply } = await this.#look<Partial<Settings>>('settings', []);
    return { ...reply, settings: { ...DEFAULT_SETTINGS, ...body } };
  }
  async setSettings(changes: Readonly<Record<string, unknown>>): Promise<port.SettingsReply> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const present = await this.settings();
      const settings: Settings = { ...present.settings, ...checkSettings(changes, present.settings) };
      const kept = Object.entries(settings).filter(([key, value]) => value !== DEFAULT_SETTINGS[key as keyof Settings]);
      const values = [
        present.settingsVersion,
        JSON.stringify(Object.fromEntries(kept)),
        settings.keep_history,
        settings.history_renewals,
      ];
      const { body: isSet, ...reply } = await this.#write<boolean>('set_settings', values);
      if (isSet) return { ...reply, settings };
    }
    throw new LeaseError('STORE_UNAVAILABLE', 'somebody else changed the settings each time: try again');
  }

  async waitGraph(): Promise<port.Reply & WaitGraph> {
    const { body, ...reply } = await this.#look<GraphColumns>('wait_graph', [[]]);
    return { ...reply, ...graphOf(body, reply.now) };
  }
  async get(ids: readonly string[]): ReturnType<port.Store['get']> {
    checkSoughtIds(ids);
    const { body, ...reply } = await this.#look<RecordColumns[] | null>('get', [ids]);
    const found = new Map((body ?? []).map((one) => [one[0], one]));
    const items = ids.map((id) => {
      const columns = found.get(id);
      return columns && decodeLease(columns, reply.now);
    });
    return { ...reply, items };
  }
  async list(filter: ListFilter): Promise<port.Listed> {
    checkFilter(filter);
    const { body, ...reply } = await this.#look<RecordColumns[] | null>('list', encodeFilter(filter));
    return decodePage(body ?? [], reply, filter.limit);
  }
  async show(resource: string, historyLimit: number): Promise<port.Shown> {
    checkName(resource);
    if (historyLimit !== 0) checkLimit(historyLimit);
    const { body, ...reply } = await this.#look<WaitingColumns[] | null>('show', [resource]);
    const standing = standingOn(lookAt([null, body, null], reply.now), resource);
    if (historyLimit === 0) return { ...reply, ...standing, history: [] };
    const history = await this.events({ backward: true, resource, limit: historyLimit });
    return { ...reply, ...standing, history: history.outcome === 'rows' ? history.rows : [] };
  }

  async info(): Promise<port.StoreInfo> {
    const { body, ...reply } = await this.#look<InfoColumns>('info', []);
    return { ...reply, kind: KIND, ...infoOf(body, this.#calls.facts()) };
  }
  health(): Promise<StoreHealth> {
    return this.#calls.health();
  }
  async time(): Promise<port.TimeReply> {
    const { body: epoch, ...reply } = await this.#look<number>('time', []);
    return { ...reply, epoch };
  }
  migrate(order: { readonly dryRun: boolean }): ReturnType<port.Store['migrate']> {
    return this.#calls.migrate(order);
  }
  async backup(): Promise<void> {
    throw new LeaseError(
      'INVALID_ARGUMENT',
      `PostgreSQL has its own backups: run pg_dump --schema=${this.#calls.schema}, or back up the whole cluster`,
    );
  }
  subscribe(listener: port.StoreListener): () => void {
    return this.#calls.hints.subscribe(this.namespace, listener);
  }
  close(): Promise<void> {
    return this.#calls.close();
  }

  async #write<T>(name: string, values: readonly unknown[]): Promise<port.Reply & { body: T }> {
    const reply = await this.#calls.call<T>(name, [this.namespace, ...values]);
    this.#calls.hints.changed(this.namespace);
    return reply;
  }
  #look<T>(name: string, values: readonly unknown[]): Promise<port.Reply & { body: T }> {
    return this.#calls.call<T>(name, [this.namespace, ...values]);
  }
}

function answersOf<R>(
  { now, incarnation, settingsVersion }: port.Reply,
  results: (R | port.Failed)[],
): port.Answers<R> {
  return { now, incarnation, settingsVersion, results };
}

function checked<Q extends object>(check: (request: Q) => void): (request: Q) => Q {
  return (request) => {
    check(request);
    return request;
  };
}
