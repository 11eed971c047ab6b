// Work under a lease: `withLease` (A2) acquires, runs and always releases; `keep` holds again after every loss until its
// signal aborts: leader election in one call.
//
// keep:  acquiring ──held──▶ working ──fn returned, or lease lost──▶ released ──pause──▶ acquiring
//        any of them ──signal──▶ over, once fn has ended;   fn throws ──▶ released, and its error is the answer,
//        unless the error is the loss itself
import type { Clock } from '../domain/clock.js';
import { LeaseError, mayPass } from '../domain/errors.js';
import type { Resources } from '../domain/part.js';
import type { AcquireOptions, HeldLease } from './face.js';
import type { Hold } from './held-lease.js';
import type { LeaseManager } from './lease-manager.js';
import { onAbort } from './on-abort.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

export async function withLease<T>(
  manager: LeaseManager,
  resources: Resources,
  options: AcquireOptions,
  fn: (lease: HeldLease) => Promise<T>,
): Promise<T> {
  const lease = await manager.acquire(resources, options);
  let result: T;
  try {
    result = await fn(lease);
  } catch (error) {
    await letGo(lease);
    throw error;
  }
  const standing = lease.standing();
  const isTakenAway = standing === 'lost' || lease.lossReason !== undefined; // a shutdown takes it away too
  if (standing === 'left' && !isTakenAway) return result; // the work let go by itself
  const { outcome, record } = await lease.release();
  const isLapsed = standing === 'held' && record?.status === 'expired'; // after the work ended: until then it was trusted
  const isGone = (outcome === 'already_ended' && !isLapsed) || outcome === 'superseded';
  if (isTakenAway || isGone) throw lostMeanwhile(lease, result);
  return result;
}

/** Lost before the work ended: what it came to is in `details.result`, for the caller to judge. */
function lostMeanwhile(lease: HeldLease, result: unknown): LeaseError {
  return new LeaseError('LEASE_LOST', `the lease on ${lease.resources.join(', ')} was lost before the work ended`, {
    details: { leaseId: lease.id, epoch: lease.epoch, result },
    cause: lease.signal.reason,
  });
}

export async function keep(
  manager: LeaseManager,
  resources: Resources,
  options: AcquireOptions,
  fn: (lease: HeldLease) => Promise<void>,
): Promise<void> {
  const { clock } = manager;
  const { signal } = options;
  let pauseMs = FIRST_PAUSE_MS;
  while (!signal?.aborted) {
    const lease = await acquireOrWait(manager, resources, options);
    if (lease) {
      const began = clock.monotonic();
      let failure: { readonly error: unknown; readonly isLost: boolean } | undefined;
      try {
        if (!signal?.aborted) await fn(lease); // it may have been while the grant was told
      } catch (error) {
        failure = { error, isLost: lease.standing() === 'lost' };
      }
      const isGone = await letGo(lease);
      if (failure && !isItsLoss(failure.error, lease, failure.isLost || isGone)) throw failure.error;
      if (clock.monotonic() - began > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
    }
    if (signal?.aborted) return;
    await pauseUnless(clock, pauseMs * (0.5 + clock.random() / 2), signal);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

/** Nothing when it may be tried again later: not in time, a deadlock, a store that is away. */
async function acquireOrWait(
  manager: LeaseManager,
  resources: Resources,
  options: AcquireOptions,
): Promise<Hold | undefined> {
  try {
    return await manager.acquire(resources, { ...options, wait: options.wait ?? 'forever' });
  } catch (error) {
    const isAborted = error instanceof LeaseError && error.code === 'ACQUIRE_ABORTED';
    if (isAborted || mayPass(error)) return undefined;
    throw error;
  }
}

/** Work that ends because its lease is lost says so by its signal's reason, by `throwIfLost()`, by a guard, which may have known
 *  first, or wrapped by others. One that stopped in doubt stopped for that reason too, even if the store has said yes since. */
function isItsLoss(error: unknown, lease: Hold, isLost: boolean): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return [error, cause].some((one) => {
    if (!(one instanceof LeaseError) || one.details['leaseId'] !== lease.id) return false;
    return isLost || one.details['inDoubt'] === true;
  });
}

/** Whether it was gone already; what the work said comes first. */
async function letGo(lease: HeldLease): Promise<boolean> {
  const released = await lease.release().catch(() => undefined);
  return released?.outcome === 'already_ended' || released?.outcome === 'superseded';
}

function pauseUnless(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      forget?.();
      resolve();
    };
    const timer = clock.after(ms, done, true);
    const forget = signal && onAbort(signal, done);
  });
}
