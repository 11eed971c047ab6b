// Acting on leases one may not hold oneself (A7, A8): revocation, raw renew and release in lists, the sweep by hand.
import { checkKeys } from '../domain/check-keys.js';
import { checkEnd, checkItem, checkOwner, checkRenew, checkText } from '../domain/check-request.js';
import { parseDuration, type Duration } from '../domain/duration.js';
import { isEpoch } from '../domain/epoch.js';
import { invalid, LeaseError, shown } from '../domain/errors.js';
import { isoTime, toRecord, type Lease, type LeaseRecord } from '../domain/lease.js';
import { LIMITS } from '../domain/limits.js';
import type { RevokeTarget } from '../domain/requests.js';
import type { EndResult, Failed, RenewResult } from '../stores/store.js';
import type { Released, Renewed } from './face.js';
import type { LeaseManager } from './lease-manager.js';

export type RevokeInput = ({ resource: string } | { under: string } | { leaseId: string } | { owner: string }) & {
  reason: string;
  actor?: string;
  /** Bars the old owner, and only it, for this long. */
  keepOut?: Duration;
  /** Ends only what has an epoch up to this one: what was handed on since somebody looked is spared. */
  upToEpoch?: number;
};

export interface Authority {
  readonly id: string;
  readonly epoch: number;
}
export type RawRenewed = ({ ok: true } & Renewed) | { ok: false; code: string; record?: LeaseRecord };

const CALL_TIMEOUT_MS = 10_000;
const TARGETS = ['resource', 'under', 'leaseId', 'owner'] as const;
const KNOWN: ReadonlySet<string> = new Set([...TARGETS, 'reason', 'actor', 'keepOut', 'upToEpoch']);
/** Steps of a thousand rows; more than a namespace can hold. */
const MAX_STEPS = 10_000;

/** Ends what matches and was there at the call: a repeat, or a slow one, cannot hit the next holder (A7). */
export async function revoke(manager: LeaseManager, order: RevokeInput): Promise<LeaseRecord[]> {
  const { link, announcer, defaults } = manager;
  const target = targetOf(order);
  const reason = checkText(order.reason, 'reason', 1, LIMITS.reasonBytes);
  const actor = order.actor === undefined ? defaults.owner : checkOwner(order.actor, 'actor');
  const bounds = { name: 'keepOut', minMs: 0, maxMs: LIMITS.keepOutMs };
  const keepOutMs = order.keepOut === undefined ? 0 : parseDuration(order.keepOut, bounds);
  const { upToEpoch = Infinity } = order;
  if (upToEpoch !== Infinity && !isEpoch(upToEpoch)) throw invalid(`not an epoch: ${shown(upToEpoch)}`);
  const time = await link.within(
    CALL_TIMEOUT_MS,
    'time',
    link.call('time', (store) => store.time()),
  );
  const request = { target, reason, actor, keepOutMs, upToEpoch: Math.min(time.epoch, upToEpoch) };
  const ended: Lease[] = [];
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const answer = await link.within(
      CALL_TIMEOUT_MS,
      'revoke',
      link.call('revoke', (store) => store.revoke(request)),
    );
    for (const lease of answer.ended) {
      announcer.revoked(lease, actor);
      manager.revoked(lease);
    }
    ended.push(...answer.ended);
    if (!answer.more) break;
  }
  return ended.map(toRecord);
}

function targetOf(order: RevokeInput): RevokeTarget {
  if (typeof order !== 'object' || order === null) throw invalid(`revoke takes an order, got ${shown(order)}`);
  checkKeys(order, KNOWN, 'of revoke');
  const given = TARGETS.filter((key) => (order as Partial<Record<string, unknown>>)[key] !== undefined);
  const [key] = given;
  if (key === undefined || given.length > 1) throw invalid(`revoke takes exactly one of ${TARGETS.join(', ')}`);
  return { [key]: (order as Partial<Record<string, unknown>>)[key] } as unknown as RevokeTarget;
}

export async function renewRaw(
  { link, clock }: LeaseManager,
  leases: readonly (Authority & { ttl?: Duration })[],
): Promise<RawRenewed[]> {
  const bounds = { name: 'ttl', minMs: LIMITS.minTtlManualMs, maxMs: LIMITS.ttlMs };
  const callerWall = clock.wall();
  const requests = listOf(leases).map(({ id, epoch, ttl }) => {
    const ttlMs = ttl === undefined ? undefined : parseDuration(ttl, bounds);
    return { id, epoch, requestId: clock.randomText(), ttlMs, callerWall };
  });
  requests.forEach(checkRenew);
  const asked = requests.map(async (request): Promise<RawRenewed> => {
    try {
      const { result, now } = await link.within(CALL_TIMEOUT_MS, 'renew', link.renew(request));
      return renewedOf(result, now);
    } catch (error) {
      if (error instanceof LeaseError) return { ok: false, code: error.code };
      throw error;
    }
  });
  return Promise.all(asked);
}

/** Everything wrong with a list is said before any of it is sent; afterwards each item has an answer of its own (S21). */
function listOf<T>(leases: readonly T[]): readonly T[] {
  const given: unknown = leases;
  if (!Array.isArray(given)) throw invalid(`leases are given as a list of { id, epoch }, got ${shown(given)}`);
  given.forEach(checkItem);
  return leases;
}

function renewedOf(result: RenewResult, now: number): RawRenewed {
  if (result.outcome === 'renewed') {
    return {
      ok: true,
      expiresAt: isoTime(result.expiresAt),
      storeNow: isoTime(now),
      renewals: result.renewals,
    };
  }
  if (result.outcome === 'maxHold') return { ok: false, code: 'MAX_HOLD' };
  if (result.outcome === 'maxRenewals') return { ok: false, code: 'MAX_RENEWALS' };
  return { ok: false, code: result.epoch === undefined ? 'NOT_HELD' : 'STALE_EPOCH' };
}

export async function releaseRaw({ link, clock }: LeaseManager, leases: readonly Authority[]): Promise<Released[]> {
  const requests = listOf(leases).map(({ id, epoch }) => {
    if (epoch === undefined) throw invalid('a lease is released by its id and its epoch: the epoch is missing');
    return { id, epoch, requestId: clock.randomText(), why: 'released' } as const;
  });
  requests.forEach(checkEnd);
  const asked = requests.map(async (request): Promise<Released> => {
    try {
      const { result } = await link.within(CALL_TIMEOUT_MS, 'release', link.end(request));
      return { outcome: outcomeOf(result) };
    } catch (error) {
      if (error instanceof LeaseError) return { outcome: 'unknown' };
      throw error;
    }
  });
  return Promise.all(asked);
}

function outcomeOf(result: EndResult | Failed): Released['outcome'] {
  if (result.outcome === 'released') return 'released';
  if (result.outcome === 'stale') return 'superseded';
  return result.outcome === 'pinned' ? 'unknown' : 'already_ended';
}

export async function sweep({ link }: LeaseManager): Promise<{ expired: number; overrunMaxMs: number }> {
  let [expired, overrunMaxMs] = [0, 0];
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const answer = await link.within(
      CALL_TIMEOUT_MS,
      'sweep',
      link.call('sweep', (store) => store.sweep({ limit: LIMITS.rowsPerStep })),
    );
    expired += answer.leases;
    overrunMaxMs = Math.max(overrunMaxMs, answer.overrunMaxMs);
    if (!answer.more) return { expired, overrunMaxMs };
  }
  throw new LeaseError('STORE_UNAVAILABLE', 'the sweep did not come to an end: look at the store');
}
