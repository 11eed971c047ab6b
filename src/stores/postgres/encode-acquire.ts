// A list of acquires as the function of the schema takes it: what to lock, worked out here because it needs no look at the
// database, and the items themselves. What is wrong with an item is found here too, so that it fails alone (S21).
import { checkAcquire } from '../../domain/check-request.js';
import { contentOf } from '../../domain/content.js';
import type { Lease } from '../../domain/lease.js';
import { isPlain, type Part } from '../../domain/part.js';
import type { AcquireRequest } from '../../domain/requests.js';
import { namesAbove } from '../../domain/resource-name.js';

/** Above this many locks a call locks the whole namespace instead: the server's lock table is shared by everybody. */
const MOST_LOCKS = 2_000;

export interface CheckedAcquire {
  readonly request: AcquireRequest;
  readonly content: number;
  readonly metadata: string | undefined;
}

export function checkedAcquire(request: AcquireRequest): CheckedAcquire {
  const metadata = checkAcquire(request);
  return { request, content: contentOf(request, metadata), metadata };
}

/** The form nearly every list has: see acquire_plain_v1. Undefined for any other. `known`: one of the ids is not new. */
export function encodePlain(items: readonly CheckedAcquire[], known: boolean): readonly unknown[] | undefined {
  if (items.length === 0 || !items.every(isOrdinary)) return undefined;
  const names = items.map(({ request }) => (request.parts[0] as Part).name);
  const ids = items.map(({ request }) => request.id);
  if (new Set(names).size < names.length || new Set(ids).size < ids.length) return undefined;
  const above = aboveAll(names, ids.length);
  if (above === undefined) return undefined;
  return [
    names,
    above,
    ids,
    oneForAll(items.map(({ request }) => request.owner)),
    oneForAll(items.map(({ request }) => request.ttlMs)),
    items.map(({ content }) => content),
    items.map(({ request }) => request.bornAt),
    items.map(({ request }) => request.callerWall),
    oneForAll(items.map(({ request }) => request.join)),
    known,
  ];
}

/** A list in which all are the same is sent as one of them. */
export function oneForAll<T>(values: readonly T[]): readonly T[] {
  return values.every((value) => value === values[0]) ? values.slice(0, 1) : values;
}

/** The names above these, each once. Undefined where that and `more` are too many locks. */
export function aboveAll(names: readonly string[], more = 0): string[] | undefined {
  const above = new Set<string>();
  for (const name of names) for (const upper of namesAbove(name)) above.add(upper);
  return names.length + above.size + more > MOST_LOCKS ? undefined : [...above];
}

/** The same for a list of one: see acquire_one_v1. */
export function encodeSingle(items: readonly CheckedAcquire[]): readonly unknown[] | undefined {
  const only = items[0];
  if (items.length !== 1 || only === undefined || !isOrdinary(only)) return undefined;
  const { id, parts, owner, ttlMs, bornAt, callerWall, join } = only.request;
  const { name } = parts[0] as Part;
  return [id, name, ...aboveOne(name), owner, ttlMs, only.content, bornAt, callerWall, join];
}

/** The topmost name above, if there is one; all of them, if there are more. */
export function aboveOne(name: string): [string | undefined, string[] | undefined] {
  const above = namesAbove(name);
  return [above[0], above.length > 1 ? above : undefined];
}

function isOrdinary({ request, metadata }: CheckedAcquire): boolean {
  return (
    isPlain(request.parts) &&
    request.priority === 0 &&
    request.maxRenewals === -1 &&
    request.minHoldMs === 0 &&
    request.lockDelayMs === 0 &&
    request.holding.length === 0 &&
    !request.reclaim &&
    !request.remote &&
    request.maxHoldMs === undefined &&
    request.upgrades === undefined &&
    request.operationId === undefined &&
    metadata === undefined
  );
}

/** The record of a grant that was made out of exactly this: nothing of it has to come back but the epoch. */
export function plainLease({ request }: CheckedAcquire, epoch: number, now: number, wall: number): Lease {
  return {
    id: request.id,
    parts: [{ name: (request.parts[0] as Part).name, scope: 'node', mode: 'exclusive' }],
    owner: request.owner,
    epoch,
    status: 'active',
    reason: undefined,
    ttlMs: request.ttlMs,
    acquiredAt: now,
    renewedAt: now,
    expiresAt: now + request.ttlMs,
    endedAt: undefined,
    renewals: 0,
    maxRenewals: -1,
    skewMs: Math.floor(request.callerWall - wall + 0.5),
    operationId: undefined,
    metadata: undefined,
  };
}

export function encodeAcquires(items: readonly CheckedAcquire[]): readonly unknown[] {
  const names = new Set<string>();
  const above = new Set<string>();
  const ids = new Set<string>();
  for (const { request } of items) {
    ids.add(request.id);
    for (const { name } of request.parts) {
      names.add(name);
      for (const upper of namesAbove(name)) above.add(upper);
    }
  }
  const isWhole = names.size + above.size + ids.size > MOST_LOCKS;
  return [isWhole, [...names], [...above], [...ids], JSON.stringify(items.map(wishOf))];
}

function wishOf({ request, content, metadata }: CheckedAcquire): object {
  const { id, bornAt, owner, ttlMs, priority, join, holding, upgrades, reclaim, maxRenewals } = request;
  return {
    id,
    content,
    born_at: bornAt,
    owner,
    parts: request.parts.map(partOf),
    ttl_ms: ttlMs,
    priority,
    joins: join,
    holding: holding.length === 0 ? undefined : holding,
    upgrades: upgrades?.id,
    upgrades_epoch: upgrades?.epoch,
    reclaim,
    max_renewals: maxRenewals,
    max_hold_ms: request.maxHoldMs,
    min_hold_ms: request.minHoldMs,
    lock_delay_ms: request.lockDelayMs,
    operation_id: request.operationId,
    metadata,
    remote: request.remote,
    caller_wall: request.callerWall,
  };
}

function partOf({ name, scope, mode, limit }: Part): object {
  return { name, scope, mode, lim: limit };
}
