// Where a held lease comes from: its store, its clock, and whom to tell of a refused write. For guards, which are given a
// lease and nothing else. It stands beside the public face, not in it: users see no store through a lease.
import type { Clock } from '../domain/clock.js';
import { invalid, LeaseError, shown } from '../domain/errors.js';
import type { Lease } from '../domain/lease.js';
import type { Store } from '../stores/store.js';
import type { HeldLease } from './face.js';
import { Hold } from './held-lease.js';

export interface Origin {
  readonly store: Store;
  readonly clock: Clock;
  /** A guard met a stale epoch: counted as a conflict and announced as `guard.rejected`. */
  rejected(lease: Lease, guard: string, error: LeaseError): void;
}

/** Undefined for a lease that no manager of this package looks after. */
export function findOrigin(lease: HeldLease): Origin | undefined {
  return lease instanceof Hold ? lease.origin : undefined;
}

export function originOf(lease: HeldLease): Origin {
  const origin = findOrigin(lease);
  if (origin) return origin;
  throw invalid(`this guard takes the lease that acquire() answered, got ${shown(lease)}`);
}

/** Answers the error, so that it can be thrown where it was met; it says whose lease it is about. */
export function tellRejected(lease: HeldLease, guard: string, error: unknown): unknown {
  const isRejection = error instanceof LeaseError && (error.code === 'STALE_EPOCH' || error.code === 'LEASE_LOST');
  if (!isRejection || !(lease instanceof Hold)) return error;
  error.details['leaseId'] = lease.id;
  lease.origin?.rejected(lease.lease, guard, error);
  return error;
}
