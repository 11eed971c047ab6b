// The lease as stores keep it and as people see it. `LeaseRow` is the whole truth about one id, ticket and lease alike
// (S8: they share it); `Lease` is what a store answers; `LeaseRecord` is the public shape (A10), the same everywhere.
import { statusAt, type LeaseStatus } from './expiry.js';
import { copyPart, type Part } from './part.js';
import type { WaitStep } from './wait-graph.js';

/** Why a ticket ended without becoming a lease. */
export type TicketEnd = 'timeout' | 'cancelled' | 'deadlock' | 'died' | 'lease_lost';

/** What a store answers about an id. Times are whole milliseconds of the store clock. */
export interface Lease {
  readonly id: string;
  readonly parts: readonly Part[];
  readonly owner: string;
  /** 0 while it is a ticket. */
  readonly epoch: number;
  readonly status: LeaseStatus;
  readonly reason?: string | undefined;
  readonly ttlMs: number;
  /** For a ticket: when it joined the queue. */
  readonly acquiredAt: number;
  /** For a ticket: when it was last refreshed. */
  readonly renewedAt: number;
  readonly expiresAt: number;
  readonly endedAt?: number | undefined;
  readonly renewals: number;
  readonly maxRenewals: number;
  readonly skewMs: number;
  readonly operationId?: string | undefined;
  readonly metadata?: unknown;
}

/** The content of an acquire that stays with the id for as long as it is known. */
export interface LeaseTerms {
  readonly priority: number;
  readonly maxHoldMs?: number | undefined;
  readonly minHoldMs: number;
  readonly lockDelayMs: number;
  /** Ids of leases the requester holds while it waits (Q4). */
  readonly holding: readonly string[];
  /** Q5: the id of the shared lease this ticket wants to make exclusive. */
  readonly upgrades?: string | undefined;
  /** Taken through a server: survives the re-anchoring of an embedded store's clock (S13). */
  readonly remote: boolean;
}

/** Everything a store keeps about one id. Mutable inside a store, never handed out. */
export interface LeaseRow extends LeaseTerms {
  readonly id: string;
  /** Hash of what was asked: the same id with other content is a mismatch (S8). 0 for an id that was only ended. */
  readonly content: number;
  owner: string;
  parts: readonly Part[];
  status: LeaseStatus;
  reason?: string | undefined;
  epoch: number;
  /** The epoch of the grant itself: a cancel, which knows no epoch, touches nothing newer. */
  grantEpoch: number;
  ttlMs: number;
  acquiredAt: number;
  renewedAt: number;
  expiresAt: number;
  endedAt?: number | undefined;
  renewals: number;
  readonly maxRenewals: number;
  skewMs: number;
  readonly operationId?: string | undefined;
  readonly metadata?: unknown;
  /** Place in the queue, kept after the grant for the record of the wait. */
  readonly rank: number;
  readonly arrival: number;
  readonly arrivedAt: number;
  /** The namespace's epoch when the ticket joined: what a revocation "up to an epoch" compares (A7). */
  readonly joinedEpoch: number;
  /** Q6: until when the ended lease keeps everybody out, and its old owner. */
  blockedUntil: number;
  keepOutUntil: number;
  /** The namespace's epoch when the block began: a revocation lifts only what stood before it (A7). */
  blockEpoch: number;
  /** It joined with leave for others to claim for it (Q1). */
  readonly handOver?: boolean | undefined;
  /** The last request that changed this row: repeating it answers again and changes nothing (S5). */
  lastRequest?: string | undefined;
  /** What an upgrade ticket became: the epoch it gave the upgraded lease. */
  becameEpoch?: number | undefined;
  /** The cycle this ticket was failed for (Q4). */
  cycle?: readonly WaitStep[] | undefined;
}

export interface LeaseRecord {
  id: string;
  parts: readonly Part[];
  owner: string;
  epoch: number;
  status: LeaseStatus;
  reason?: string;
  ttlMs: number;
  acquiredAt: string;
  renewedAt: string;
  expiresAt: string;
  endedAt?: string;
  renewals: number;
  maxRenewals: number;
  skewMs: number;
  operationId?: string;
  metadata?: unknown;
}

/** The row as a reader sees it at `now`: expired from `expiresAt` on, written down or not (S3). */
export function leaseAt(row: LeaseRow, now: number): Lease {
  const status = statusAt(row, now);
  const unwritten = status !== row.status;
  return {
    id: row.id,
    parts: row.parts.map(copyPart),
    owner: row.owner,
    epoch: row.epoch,
    status,
    reason: unwritten && status === 'failed' ? 'died' : row.reason,
    ttlMs: row.ttlMs,
    acquiredAt: row.acquiredAt,
    renewedAt: row.renewedAt,
    expiresAt: row.expiresAt,
    endedAt: unwritten ? row.expiresAt : row.endedAt,
    renewals: row.renewals,
    maxRenewals: row.maxRenewals,
    skewMs: row.skewMs,
    operationId: row.operationId,
    metadata: row.metadata === undefined ? undefined : structuredClone(row.metadata),
  };
}

export function toRecord(lease: Lease): LeaseRecord {
  return toEndedRecord(lease, lease.status, lease.endedAt);
}

/** The same lease, with the end it has come to. Field by field: spreading optional ones in cost more than everything else a
 *  release does in this process. */
export function toEndedRecord(lease: Lease, status: LeaseStatus, endedAt: number | undefined): LeaseRecord {
  const { id, parts, owner, epoch } = lease;
  const record = { id, parts, owner, epoch, status } as LeaseRecord;
  if (lease.reason !== undefined) record.reason = lease.reason;
  record.ttlMs = lease.ttlMs;
  record.acquiredAt = isoTime(lease.acquiredAt);
  record.renewedAt = isoTime(lease.renewedAt);
  record.expiresAt = isoTime(lease.expiresAt);
  if (endedAt !== undefined) record.endedAt = isoTime(endedAt);
  record.renewals = lease.renewals;
  record.maxRenewals = lease.maxRenewals;
  record.skewMs = lease.skewMs;
  if (lease.operationId !== undefined) record.operationId = lease.operationId;
  if (lease.metadata !== undefined) record.metadata = lease.metadata;
  return record;
}

const MINUTE_MS = 60_000;
/** The last time a Date can have. */
const LAST_TIME_MS = 8.64e15;
/** The text of the minutes that were asked for last, one even and one odd: times of one lease lie close together, a record has
 *  four of them, and the one it expires at is often in the minute after the others. */
const minutes = [
  { minute: NaN, text: '' },
  { minute: NaN, text: '' },
];

export function isoTime(ms: number): string {
  if (!Number.isSafeInteger(ms) || ms < 0 || ms > LAST_TIME_MS) return new Date(ms).toISOString();
  const minute = Math.floor(ms / MINUTE_MS);
  let known = minutes[minute % 2];
  if (known?.minute !== minute) {
    known = { minute, text: new Date(minute * MINUTE_MS).toISOString().slice(0, -'00.000Z'.length) };
    minutes[minute % 2] = known;
  }
  const rest = 1_00_000 + (ms - minute * MINUTE_MS); // a leading digit keeps the zeros
  const digits = String(rest);
  return `${known.text}${digits.slice(1, 3)}.${digits.slice(3)}Z`;
}
