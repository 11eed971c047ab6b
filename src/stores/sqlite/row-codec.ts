// LeaseRow to columns and back. Nearly every lease is one exclusive node taken without special terms: that form is
// stored in the columns alone. Everything rarer is in `parts` and `more`, as JSON, and left out where it is the default.
import type { LeaseStatus } from '../../domain/expiry.js';
import type { LeaseRow } from '../../domain/lease.js';
import { isPlain, type Part } from '../../domain/part.js';
import { rankOf } from '../../domain/queue-order.js';
import { NO_MORE } from './granted-row.js';
import { SPAN, STATE } from './schema.js';

/** The order of `LEASE_COLUMNS`, as better-sqlite3 answers raw rows. */
export type LeaseColumns = [
  id: string,
  name: string,
  owner: string,
  epoch: number,
  status: number,
  expiresAt: number,
  acquiredAt: number,
  renewedAt: number | null,
  endedAt: number | null,
  ttlMs: number,
  content: number,
  row: number,
  renewals: number | null,
  maxRenewals: number | null,
  skewMs: number,
  lastRequest: string | null,
  parts: string | null,
  more: string | null,
];
export const LEASE_COLUMNS =
  'id, name, owner, epoch, status, expires_at, acquired_at, renewed_at, ended_at, ttl_ms, content, row, ' +
  'renewals, max_renewals, skew_ms, last_request, parts, more';

const STATUSES: readonly LeaseStatus[] = ['pending', 'active', 'released', 'expired', 'revoked', 'failed'];
const FIRST_OVER = 2;

/** The fields that have a default, as they stand in `more`. */
interface More {
  reason?: string;
  grantEpoch?: number;
  arrivedAt?: number;
  joinedEpoch?: number;
  priority?: number;
  maxHoldMs?: number;
  minHoldMs?: number;
  lockDelayMs?: number;
  holding?: readonly string[];
  upgrades?: string;
  remote?: boolean;
  operationId?: string;
  metadata?: unknown;
  blockedUntil?: number;
  keepOutUntil?: number;
  blockEpoch?: number;
  becameEpoch?: number;
  cycle?: LeaseRow['cycle'];
}

export function decodeRow(columns: LeaseColumns): LeaseRow {
  // By number: taking an array apart in order costs the compiler 10 ms, in every process at the same moment of its life.
  const { 0: id, 1: name, 2: owner, 3: epoch, 4: status, 5: expiresAt, 6: acquiredAt, 7: renewedAt } = columns;
  const { 8: endedAt, 9: ttlMs, 10: content, 11: row, 12: renewals, 13: maxRenewals, 14: skewMs } = columns;
  const { 15: lastRequest, 16: parts, 17: moreText } = columns;
  const more = moreText === null || moreText === NO_MORE ? NOTHING : (JSON.parse(moreText) as More);
  const isOver = status >= FIRST_OVER;
  const arrivedAt = more.arrivedAt ?? acquiredAt;
  const priority = more.priority ?? 0;
  return {
    id,
    content,
    owner,
    parts: decodeParts(name, parts),
    status: STATUSES[status] as LeaseStatus,
    reason: more.reason,
    epoch,
    grantEpoch: more.grantEpoch ?? epoch,
    ttlMs,
    acquiredAt,
    renewedAt: renewedAt ?? acquiredAt,
    expiresAt,
    endedAt: isOver ? (endedAt ?? undefined) : undefined,
    renewals: renewals ?? 0,
    maxRenewals: maxRenewals ?? -1,
    skewMs,
    operationId: more.operationId,
    metadata: more.metadata,
    rank: rankOf(arrivedAt, priority),
    arrival: row % SPAN,
    arrivedAt,
    joinedEpoch: more.joinedEpoch ?? 0,
    priority,
    maxHoldMs: more.maxHoldMs,
    minHoldMs: more.minHoldMs ?? 0,
    lockDelayMs: more.lockDelayMs ?? 0,
    holding: more.holding ?? [],
    upgrades: more.upgrades,
    remote: more.remote ?? false,
    blockedUntil: more.blockedUntil ?? 0,
    keepOutUntil: more.keepOutUntil ?? 0,
    blockEpoch: more.blockEpoch ?? 0,
    lastRequest: lastRequest ?? undefined,
    becameEpoch: more.becameEpoch,
    cycle: more.cycle,
  };
}

const NOTHING: More = {};

function decodeParts(name: string, parts: string | null): readonly Part[] {
  if (parts === null) return [{ name, scope: 'node', mode: 'exclusive' }];
  return JSON.parse(parts) as Part[];
}

export function encodeStatus(status: LeaseStatus): number {
  return STATUSES.indexOf(status);
}

export function encodeParts(row: LeaseRow): string | null {
  return isPlain(row.parts) ? null : JSON.stringify(row.parts);
}

export function encodeState(row: LeaseRow): number {
  if (row.status === 'active') return STATE.active;
  if (row.status === 'pending') return STATE.pending;
  return row.blockedUntil > 0 || row.keepOutUntil > 0 ? STATE.blocking : STATE.over;
}

export function encodeMore(row: LeaseRow): string | null {
  if (isBare(row)) return null;
  const more: More = {
    ...(row.reason === undefined ? {} : { reason: row.reason }),
    ...(row.grantEpoch === row.epoch ? {} : { grantEpoch: row.grantEpoch }),
    ...(row.arrivedAt === row.acquiredAt ? {} : { arrivedAt: row.arrivedAt }),
    ...(row.status === 'pending' ? { joinedEpoch: row.joinedEpoch } : {}),
    ...(row.priority === 0 ? {} : { priority: row.priority }),
    ...(row.maxHoldMs === undefined ? {} : { maxHoldMs: row.maxHoldMs }),
    ...(row.minHoldMs === 0 ? {} : { minHoldMs: row.minHoldMs }),
    ...(row.lockDelayMs === 0 ? {} : { lockDelayMs: row.lockDelayMs }),
    ...(row.holding.length === 0 ? {} : { holding: row.holding }),
    ...(row.upgrades === undefined ? {} : { upgrades: row.upgrades }),
    ...(row.remote ? { remote: true } : {}),
    ...(row.operationId === undefined ? {} : { operationId: row.operationId }),
    ...(row.metadata === undefined ? {} : { metadata: row.metadata }),
    ...(row.blockedUntil === 0 ? {} : { blockedUntil: row.blockedUntil }),
    ...(row.keepOutUntil === 0 ? {} : { keepOutUntil: row.keepOutUntil }),
    ...(row.blockedUntil === 0 && row.keepOutUntil === 0 ? {} : { blockEpoch: row.blockEpoch }),
    ...(row.becameEpoch === undefined ? {} : { becameEpoch: row.becameEpoch }),
    ...(row.cycle === undefined ? {} : { cycle: row.cycle }),
  };
  return JSON.stringify(more);
}

/** Nothing out of the ordinary: `more` stays empty. */
function isBare(row: LeaseRow): boolean {
  return (
    row.status !== 'pending' &&
    row.reason === undefined &&
    row.grantEpoch === row.epoch &&
    row.arrivedAt === row.acquiredAt &&
    row.priority === 0 &&
    row.maxHoldMs === undefined &&
    row.minHoldMs === 0 &&
    row.lockDelayMs === 0 &&
    row.holding.length === 0 &&
    row.upgrades === undefined &&
    !row.remote &&
    row.operationId === undefined &&
    row.metadata === undefined &&
    row.blockedUntil === 0 &&
    row.keepOutUntil === 0
  );
}
