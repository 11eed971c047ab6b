// What a case works with: one client of the store under test, with helpers that fill in complete, valid requests, and
// ways to open further clients and to let time pass. Every helper fails the case when the store answers another outcome.
import assert from 'node:assert/strict';
import type { StoreRefusal } from '../../domain/decide.js';
import { LeaseError, type LeaseErrorCode } from '../../domain/errors.js';
import type { LogRow } from '../../domain/events.js';
import { makeId } from '../../domain/ids.js';
import type { Lease } from '../../domain/lease.js';
import { LIMITS } from '../../domain/limits.js';
import type { AcquireRequest, ChangeRequest, EventQuery, RevokeOrder, RevokeTarget } from '../../domain/requests.js';
import type {
  AcquireResult,
  Answers,
  ChangeResult,
  EndResult,
  Failed,
  RenewResult,
  Revoked,
  Store,
} from '../../stores/store.js';
import type { Opened, StoreHarness } from './harness.js';
import { node } from './parts.js';

/** A name, to be leased exclusively, or any part of a request; the rest is filled in. */
export type Wanted = string | (Partial<AcquireRequest> & { readonly name?: string });
type Held = Pick<Lease, 'id' | 'epoch'>;
type Change = 'downgrade' | { readonly delegate: string } | { readonly resume: string };

export interface Client {
  readonly store: Store;
  /** The owner of its requests, where a case names no other. */
  readonly owner: string;
  /** The complete request; sent again it is a repeat. */
  readonly ask: (wanted: Wanted) => Promise<AcquireRequest>;
  readonly acquire: (wanted: Wanted) => Promise<AcquireResult>;
  /** In batches as large as allowed; a failed item stays in the list. */
  readonly acquireAll: (requests: readonly AcquireRequest[]) => Promise<(AcquireResult | Failed)[]>;
  /** Must be granted for the first time. */
  readonly grant: (wanted: Wanted) => Promise<Lease>;
  /** Must be queued. Answers the request, to be sent again as a claim. */
  readonly queue: (wanted: Wanted) => Promise<AcquireRequest>;
  readonly refuse: (wanted: Wanted) => Promise<StoreRefusal>;
  /** The item must fail alone: its neighbours in the batch are granted. */
  readonly failItem: (wanted: Wanted, code?: LeaseErrorCode) => Promise<void>;
  readonly renew: (held: Held, options?: { ttlMs?: number; requestId?: string }) => Promise<RenewResult>;
  readonly release: (held: Held) => Promise<EndResult>;
  /** An end without an epoch, as a waiter sends it. */
  readonly cancel: (id: string, why?: 'cancelled' | 'timeout') => Promise<EndResult>;
  readonly change: (held: Held, how: Change, requestId?: string) => Promise<ChangeResult>;
  readonly revoke: (target: RevokeTarget, order?: Partial<RevokeOrder>) => Promise<Revoked>;
  /** The whole log, oldest first. */
  readonly events: (query?: Partial<EventQuery>) => Promise<LogRow[]>;
  /** What the store answers about an id it must know. */
  readonly record: (id: string) => Promise<Lease>;
  /** Store time as of the last answer of acquire, grant, queue, refuse, renew, release, cancel or change. */
  readonly lastNow: () => number;
}

export interface CaseContext extends Client {
  readonly anotherClient: () => Promise<Client>;
  /** A client of the same kind of store with other data, closed with this one. */
  readonly elsewhere: () => Promise<Client>;
  /** A client of the same connection in another namespace. */
  readonly inNamespace: (namespace: string) => Client;
  readonly passTime: (ms: number) => Promise<void>;
  readonly wall: () => number;
  readonly stepWall: (ms: number) => void;
  readonly newId: () => string;
  /** A ttl that is over soon. */
  readonly shortTtlMs: number;
  /** Waits until `arrived` is true, letting hints come in; fails the case when it never is. */
  readonly hint: (what: string, arrived: () => boolean) => Promise<void>;
}

const SHORT_MS = 200;
const HINT_TRIES = 250;
/** No case writes more; a store that pages in circles fails instead of hanging the suite. */
const MOST_PAGES = 1_000;
const LONG_ENOUGH_MS = 30_000;

/** Opens what a case works with; `close` closes whatever the case opened. */
export async function openContext(
  harness: StoreHarness,
  nearLimit: boolean,
): Promise<{ context: CaseContext; close: () => Promise<void> }> {
  const open = async (): Promise<Opened> =>
    (await (nearLimit ? harness.openNearLimit?.() : undefined)) ?? harness.open();
  const opened = [await open()];
  const elsewhere = async (): Promise<Client> => {
    const other = await open();
    opened.push(other);
    return clientOf(other.store, 'owner-elsewhere', other);
  };
  const close = async (): Promise<void> => {
    for (const one of opened) await one.close();
  };
  return { context: { ...(await contextOf(opened[0] as Opened)), elsewhere }, close };
}

async function contextOf(opened: Opened): Promise<Omit<CaseContext, 'elsewhere'>> {
  const { store } = opened;
  const { capabilities } = await store.info();
  let clients = 1;
  const letHintsArrive = opened.letHintsArrive ?? (() => opened.passTime(20));
  return {
    ...clientOf(store, 'owner-1', opened),
    anotherClient: async () => {
      clients += 1;
      return clientOf(await opened.another(), `owner-${clients}`, opened);
    },
    inNamespace: (namespace) => clientOf(store.within(namespace), 'owner-1', opened),
    passTime: (ms) => opened.passTime(ms),
    wall: () => opened.wall(),
    stepWall: (ms) => {
      assert.ok(opened.stepWall, 'the harness says it steps the wall clock, but has no stepWall');
      opened.stepWall(ms);
    },
    newId: () => makeId(opened.wall(), opened.randomText()),
    shortTtlMs: Math.max(SHORT_MS, capabilities.minTtlMs),
    hint: async (what, arrived) => {
      for (let attempt = 0; attempt < HINT_TRIES && !arrived(); attempt += 1) await letHintsArrive();
      assert.ok(arrived(), `no hint: ${what}`);
    },
  };
}

function clientOf(store: Store, owner: string, opened: Opened): Client {
  let lastNow = 0;
  const only = <R>(answers: Answers<R>): R => {
    lastNow = answers.now;
    assert.equal(answers.results.length, 1, 'one request has one result');
    const result = answers.results[0] as R | Failed;
    if (isFailed(result)) throw result.error;
    return result;
  };
  const ask: Client['ask'] = async (wanted) => {
    const { name, ...given } = typeof wanted === 'string' ? { name: wanted } : wanted;
    const bornAt = (given as Partial<AcquireRequest>).bornAt ?? (await store.time()).now;
    return {
      id: makeId(bornAt, opened.randomText()),
      bornAt,
      owner,
      parts: [node(name ?? 'orders/0')],
      ttlMs: LONG_ENOUGH_MS,
      priority: 0,
      join: false,
      holding: [],
      reclaim: false,
      maxRenewals: -1,
      minHoldMs: 0,
      lockDelayMs: 0,
      remote: false,
      callerWall: opened.wall(),
      ...given,
    };
  };
  const acquire: Client['acquire'] = async (wanted) => only(await store.acquire([await ask(wanted)]));
  const endOne = async (id: string, epoch: number | undefined, why: 'released' | 'cancelled' | 'timeout') =>
    only(await store.end([{ id, epoch, requestId: opened.randomText(), why }]));

  return {
    store,
    owner,
    ask,
    acquire,
    acquireAll: async (requests) => {
      const results: (AcquireResult | Failed)[] = [];
      for (let at = 0; at < requests.length; at += LIMITS.batchItems) {
        const answers = await store.acquire(requests.slice(at, at + LIMITS.batchItems));
        lastNow = answers.now;
        results.push(...answers.results);
      }
      return results;
    },
    grant: async (wanted) => {
      const { lease, again, remainingMs } = expectOutcome(await acquire(wanted), 'granted');
      assert.equal(again, false, 'a first grant says again: false');
      assert.equal(lease.status, 'active');
      assert.equal(remainingMs, lease.expiresAt - lastNow, 'remainingMs counts from the now of the same answer');
      return lease;
    },
    queue: async (wanted) => {
      const request = await ask(typeof wanted === 'string' ? { name: wanted, join: true } : { join: true, ...wanted });
      expectOutcome(await acquire(request), 'queued');
      return request;
    },
    refuse: async (wanted) => expectOutcome(await acquire(wanted), 'refused').refusal,
    failItem: async (wanted, code = 'INVALID_ARGUMENT') => {
      const before = await ask(`neighbour-before/${opened.randomText()}`);
      const after = await ask(`neighbour-after/${opened.randomText()}`);
      const { results } = await store.acquire([before, await ask(wanted), after]);
      assert.deepEqual(
        results.map(({ outcome }) => outcome),
        ['granted', 'failed', 'granted'],
        'a bad item fails, and fails alone',
      );
      expectError((results[1] as Failed).error, code);
    },
    renew: async (held, { ttlMs, requestId = opened.randomText() } = {}) => {
      const request = { id: held.id, epoch: held.epoch, requestId, ttlMs, callerWall: opened.wall() };
      return only(await store.renew([request]));
    },
    release: (held) => endOne(held.id, held.epoch, 'released'),
    cancel: (id, why = 'cancelled') => endOne(id, undefined, why),
    change: async (held, how, requestId = opened.randomText()) => {
      const authority = { id: held.id, epoch: held.epoch, requestId };
      return only(await store.change([changeRequest(authority, how, opened.wall())]));
    },
    revoke: async (target, order = {}) => {
      const upToEpoch = order.upToEpoch ?? (await store.time()).epoch;
      return store.revoke({ target, reason: 'for the test', actor: 'operator', keepOutMs: 0, ...order, upToEpoch });
    },
    events: (query = {}) => wholeLog(store, query),
    record: async (id) => {
      const { items } = await store.get([id]);
      assert.ok(items[0], `the store knows nothing of ${id}`);
      return items[0];
    },
    lastNow: () => lastNow,
  };
}

function changeRequest(
  authority: { id: string; epoch: number; requestId: string },
  how: Change,
  callerWall: number,
): ChangeRequest {
  if (how === 'downgrade') return { kind: 'downgrade', ...authority };
  if ('delegate' in how) return { kind: 'delegate', ...authority, toOwner: how.delegate };
  return { kind: 'resume', ...authority, toOwner: how.resume, callerWall };
}

async function wholeLog(store: Store, query: Partial<EventQuery>): Promise<LogRow[]> {
  const rows: LogRow[] = [];
  let after = query.after;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page = await store.events({ limit: LIMITS.rowsPerStep, ...query, after });
    assert.equal(page.outcome, 'rows', 'the log can be read from its oldest row');
    rows.push(...page.rows);
    if (!page.more) return rows;
    after = page.next;
  }
  assert.fail('the log does not come to an end');
}

function isFailed(result: unknown): result is Failed {
  return (result as Partial<Failed>).outcome === 'failed' && 'error' in (result as Failed);
}

/** The result, known to be of this outcome. */
export function expectOutcome<R extends { readonly outcome: string }, O extends R['outcome']>(
  result: R,
  outcome: O,
): Extract<R, { readonly outcome: O }> {
  if (result.outcome !== outcome) assert.fail(`expected ${outcome}, got ${JSON.stringify(result)}`);
  return result as Extract<R, { readonly outcome: O }>;
}

export function expectError(error: unknown, code: LeaseErrorCode): void {
  assert.ok(error instanceof LeaseError, `expected a LeaseError, got ${String(error)}`);
  assert.equal(error.code, code, error.message);
  assert.ok(error.message.length > 0, 'an error says what to do');
}

/** The whole call must fail with this code. */
export async function expectRejection(call: Promise<unknown>, code: LeaseErrorCode): Promise<void> {
  const outcome = await call.then(
    () => 'answered',
    (error: unknown) => ({ error }),
  );
  if (outcome === 'answered') assert.fail(`expected ${code}, got an answer`);
  else expectError((outcome as { error: unknown }).error, code);
}
