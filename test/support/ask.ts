// Asking a real store: a request born now by its clock, and its answer.
import { makeId } from '../../src/domain/ids.js';
import type { AcquireRequest } from '../../src/domain/requests.js';
import type { Clock } from '../../src/domain/clock.js';
import type { AcquireResult, Store } from '../../src/stores/store.js';
import type { Lease } from '../../src/domain/lease.js';
import { acquireRequest, exclusive } from './domain-values.js';

export async function ask(
  store: Store,
  clock: Clock,
  name: string,
  changes: Partial<AcquireRequest> = {},
): Promise<AcquireRequest> {
  const { now } = await store.time();
  return acquireRequest({
    id: makeId(now, clock.randomText()),
    bornAt: now,
    parts: [exclusive(name)],
    callerWall: clock.wall(),
    ...changes,
  });
}

export async function acquire(store: Store, request: AcquireRequest): Promise<AcquireResult> {
  const [result] = (await store.acquire([request])).results;
  if (!result || result.outcome === 'failed') throw result?.error ?? new Error('no result');
  return result;
}

export async function grant(
  store: Store,
  clock: Clock,
  name: string,
  changes: Partial<AcquireRequest> = {},
): Promise<Lease> {
  const result = await acquire(store, await ask(store, clock, name, changes));
  if (result.outcome !== 'granted') throw new Error(`expected ${name} to be granted, it was ${result.outcome}`);
  return result.lease;
}
