// Leases as the functions of the schema answer them: arrays of JSON, in the order of record_v1 and waiting_json_v1. Numbers are
// exact up to 2^53 on the way (S17).
import type { LeaseStatus } from '../../domain/expiry.js';
import { statusAt } from '../../domain/expiry.js';
import type { Lease, LeaseRow } from '../../domain/lease.js';
import type { Part } from '../../domain/part.js';
import { rankOf } from '../../domain/queue-order.js';

const STATUSES: readonly LeaseStatus[] = ['pending', 'active', 'released', 'expired', 'revoked', 'failed'];

export type RecordColumns = [
  id: string,
  name: string,
  parts: Part[] | null,
  owner: string,
  epoch: number,
  status: number,
  reason: string | null,
  ttlMs: number,
  acquiredAt: number,
  renewedAt: number,
  expiresAt: number,
  endedAt: number | null,
  renewals: number,
  maxRenewals: number,
  skewMs: number,
  operationId: string | null,
  metadata: string | null,
];
export type WaitingColumns = [
  record: RecordColumns,
  priority: number,
  arrival: number,
  arrivedAt: number,
  holding: string[] | null,
  upgrades: string | null,
  minHoldMs: number,
  lockDelayMs: number,
  blockedUntil: number,
  keepOutUntil: number,
];

export function statusOf(code: number): LeaseStatus {
  return STATUSES[code] as LeaseStatus;
}
export function statusCode(status: LeaseStatus): number {
  return STATUSES.indexOf(status);
}

/** The record as a reader sees it at `now`: expired from `expiresAt` on, written down or not (S3). */
export function decodeLease(columns: RecordColumns, now: number): Lease {
  const [id, name, parts, owner, epoch, code, reason, ttlMs, acquiredAt, renewedAt, expiresAt] = columns;
  const written = statusOf(code);
  const status = statusAt({ status: written, expiresAt }, now);
  const unwritten = status !== written;
  return {
    id,
    parts: partsOf(name, parts),
    owner,
    epoch,
    status,
    reason: unwritten && status === 'failed' ? 'died' : (reason ?? undefined),
    ttlMs,
    acquiredAt,
    renewedAt,
    expiresAt,
    endedAt: unwritten ? expiresAt : (columns[11] ?? undefined),
    renewals: columns[12],
    maxRenewals: columns[13],
    skewMs: columns[14],
    operationId: columns[15] ?? undefined,
    metadata: columns[16] === null ? undefined : (JSON.parse(columns[16]) as unknown),
  };
}

/** As much of a row as the domain's rules about waiting look at. */
export function decodeRow(columns: WaitingColumns): LeaseRow {
  const [record, priority, arrival, arrivedAt, holding, upgrades, minHoldMs, lockDelayMs, blockedUntil] = columns;
  const lease = decodeLease(record, 0);
  return {
    ...lease,
    reason: lease.reason,
    content: 1,
    grantEpoch: lease.epoch,
    priority,
    rank: rankOf(arrivedAt, priority),
    arrival,
    arrivedAt,
    joinedEpoch: 0,
    minHoldMs,
    lockDelayMs,
    holding: holding ?? [],
    upgrades: upgrades ?? undefined,
    remote: false,
    blockedUntil,
    keepOutUntil: columns[9],
    blockEpoch: 0,
  };
}

function partsOf(name: string, parts: readonly Part[] | null): readonly Part[] {
  return parts ?? (name === '' ? [] : [{ name, scope: 'node', mode: 'exclusive' }]);
}
