// Expiry arithmetic: when a lease is live, how far a grant or a renewal reaches (S3, S4), in whole milliseconds of the
// store clock. Live means: active and now < expiresAt; at expiresAt itself it is over.

export type LeaseStatus = 'pending' | 'active' | 'released' | 'expired' | 'revoked' | 'failed';

export function isLive(lease: { status: LeaseStatus; expiresAt: number }, now: number): boolean {
  return lease.status === 'active' && now < lease.expiresAt;
}

export function isWaiting(ticket: { status: LeaseStatus; expiresAt: number }, now: number): boolean {
  return ticket.status === 'pending' && now < ticket.expiresAt;
}

/** What a reader sees at `now`, whether or not anybody has written the expiry down yet (S3). */
export function statusAt(lease: { status: LeaseStatus; expiresAt: number }, now: number): LeaseStatus {
  if (now < lease.expiresAt) return lease.status;
  if (lease.status === 'active') return 'expired';
  return lease.status === 'pending' ? 'failed' : lease.status;
}

export function grantedUntil(now: number, ttlMs: number, maxHoldMs: number | undefined): number {
  return now + Math.min(ttlMs, maxHoldMs ?? Infinity);
}

export interface Granted {
  readonly epoch: number;
  readonly grantEpoch: number;
  readonly acquiredAt: number;
  readonly expiresAt: number;
  readonly ttlMs: number;
  readonly renewals: number;
  readonly maxHoldMs?: number | undefined;
}

/** Handed over by whoever let go (Q1) and not renewed since: it has less than its ttl, because it lives as its ticket would have. */
export function livesAsTicket(lease: Granted): boolean {
  const { epoch, grantEpoch, acquiredAt, expiresAt, ttlMs, renewals, maxHoldMs } = lease;
  return renewals === 0 && epoch === grantEpoch && maxHoldMs === undefined && expiresAt < acquiredAt + ttlMs;
}

export interface Renewable {
  readonly acquiredAt: number;
  readonly expiresAt: number;
  readonly maxHoldMs?: number | undefined;
}

/** S4: max(old, now + ttl), cut only by maxHold. `undefined` when maxHold leaves nothing to add. */
export function renewedUntil(lease: Renewable, now: number, ttlMs: number): number | undefined {
  const wanted = Math.max(lease.expiresAt, now + ttlMs);
  if (lease.maxHoldMs === undefined) return wanted;
  const end = lease.acquiredAt + lease.maxHoldMs;
  if (lease.expiresAt >= end && now + ttlMs > end) return undefined;
  return Math.min(wanted, end);
}
