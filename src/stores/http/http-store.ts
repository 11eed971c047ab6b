// The HTTP store (W2): the port, over a server that has a store. Every method is one request, or rides in one with others; the
// server puts it to its own store, whose answers come back as they are, so that the manager above is the same as over any
// store. `remainingMs` counts from the server's decision, and the manager counts from its own send time (S7): the way there and
// back shortens what is trusted and never lengthens it.
//
// What cannot be JSON is refused here, with the words every store has for it.
import {
  checkAcquire,
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
import { invalid, LeaseError } from '../../domain/errors.js';
import type { Lease } from '../../domain/lease.js';
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
import { checkSettings, DEFAULT_SETTINGS } from '../../domain/settings.js';
import type { WaitGraph } from '../../domain/wait-graph.js';
import type { SequenceStore } from '../sequence-store.js';
import type * as port from '../store.js';
import type { Calls } from './calls.js';
import { HttpSequences } from './http-sequences.js';

const KIND = 'http';
/** Which of two bounds is the wider is for the server to say, which knows both. */
const ANY_TTL = { ...DEFAULT_SETTINGS, min_ttl_seconds: -Infinity, max_ttl_seconds: Infinity };

export interface ServerFacts {
  readonly version: string;
  readonly kind: string;
  readonly sequences: boolean;
  /** The owner the token is bound to. */
  readonly actsAs: string | undefined;
}

export class HttpStore implements port.Store {
  readonly kind = KIND;
  readonly namespace: string;
  readonly sequences: SequenceStore | undefined;
  readonly #calls: Calls;
  readonly #facts: ServerFacts;

  constructor(calls: Calls, namespace: string, facts: ServerFacts) {
    this.namespace = checkNamespace(namespace);
    this.#calls = calls;
    this.#facts = facts;
    this.sequences = facts.sequences ? new HttpSequences(calls, namespace) : undefined;
  }

  get actsAs(): string | undefined {
    return this.#facts.actsAs;
  }

  within(namespace: string): HttpStore {
    return new HttpStore(this.#calls, namespace, this.#facts);
  }

  async acquire(requests: readonly AcquireRequest[]): Promise<port.Answers<port.AcquireResult>> {
    const asked = Array.isArray(requests) ? requests.map(claimedByItself) : requests;
    const answers = await this.#items<AcquireRequest, port.AcquireResult>('acquire', asked, checkAcquire);
    this.#calls.hints.answered(this.namespace, requests, answers.results);
    return answers;
  }
  renew(requests: readonly RenewRequest[]): Promise<port.Answers<port.RenewResult>> {
    return this.#items('renew', requests, checkRenew);
  }
  async end(requests: readonly EndRequest[]): Promise<port.Answers<port.EndResult>> {
    const answers = await this.#items<EndRequest, port.EndResult>('end', requests, checkEnd);
    this.#calls.hints.answered(this.namespace, requests, answers.results);
    return answers;
  }
  change(requests: readonly ChangeRequest[]): Promise<port.Answers<port.ChangeResult>> {
    return this.#items('change', requests, checkChange);
  }

  async revoke(order: RevokeOrder): Promise<port.Revoked> {
    checkRevoke(order);
    return this.#one('revoke', order);
  }
  async failTicket(order: { readonly id: string; readonly cycle: readonly string[] }): Promise<port.FailedTicket> {
    return this.#one('failTicket', checkFailTicket(order));
  }
  async sweep(order: { readonly limit: number }): Promise<port.Swept> {
    checkLimit(order.limit);
    return this.#one('sweep', order);
  }
  async events(query: EventQuery): Promise<port.Events> {
    checkFilter(query);
    return this.#one('events', query);
  }
  async prune(order: port.PruneOrder): Promise<port.Pruned> {
    checkLimit(order.limit);
    return this.#one('prune', order);
  }
  async settings(): Promise<port.SettingsReply> {
    return this.#one('settings');
  }
  async setSettings(changes: Readonly<Record<string, unknown>>): Promise<port.SettingsReply> {
    checkSettings(changes, ANY_TTL);
    return this.#one('setSettings', changes);
  }
  async waitGraph(): Promise<port.Reply & WaitGraph> {
    return this.#one('waitGraph');
  }

  async get(ids: readonly string[]): ReturnType<port.Store['get']> {
    checkSoughtIds(ids);
    const reply = await this.#one<port.Reply & { items: readonly (Lease | null)[] }>('get', ids);
    return { ...reply, items: reply.items.map((lease) => lease ?? undefined) };
  }
  async list(filter: ListFilter): Promise<port.Listed> {
    checkFilter(filter);
    return this.#one('list', filter);
  }
  async show(resource: string, historyLimit: number): Promise<port.Shown> {
    checkName(resource);
    if (historyLimit !== 0) checkLimit(historyLimit);
    return this.#one('show', resource, historyLimit);
  }

  /** What the store behind the server can do, as far as it can be done from here: guards act where the data is. */
  async info(): Promise<port.StoreInfo> {
    const { kind, capabilities, details, ...reply } = await this.#one<port.StoreInfo>('info');
    const { version } = this.#facts;
    return {
      ...reply,
      kind: KIND,
      capabilities: { ...capabilities, guards: [] },
      details: { server: this.#calls.where, version, store: kind, ...details },
    };
  }
  async time(): Promise<port.TimeReply> {
    return this.#one('time');
  }
  migrate(order: { readonly dryRun: boolean }): ReturnType<port.Store['migrate']> {
    return this.#one('migrate', order);
  }
  async backup(): Promise<void> {
    this.#calls.checkOpen();
    const message = 'a backup is made where the data is: run `holdfast backup` on the machine of the server';
    throw new LeaseError('INVALID_ARGUMENT', message);
  }
  subscribe(listener: port.StoreListener): () => void {
    return this.#calls.hints.subscribe(this.namespace, listener);
  }
  async close(): Promise<void> {
    this.#calls.close();
  }

  #items<Q extends object, R>(
    method: string,
    requests: readonly Q[],
    check: (request: Q) => unknown,
  ): Promise<port.Answers<R>> {
    return this.#calls.items(this.namespace, method, requests, check);
  }
  async #one<T extends object>(method: string, ...args: readonly unknown[]): Promise<T> {
    if (args.some((arg) => arg === undefined)) throw invalid(`${method} lacks an argument`);
    return this.#calls.one(this.namespace, method, args);
  }
}

/** A grant that is won while an HTTP request waits is believed after a renewal only (S7): nobody else claims for it. */
function claimedByItself(request: AcquireRequest): AcquireRequest {
  return (request as AcquireRequest | null)?.handOver === undefined ? request : { ...request, handOver: undefined };
}
