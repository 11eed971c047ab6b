// The transitions a row can go through, each with its log row (S6). Nothing here decides; the files beside it do.
//
//   (nothing) → pending → active → released | expired | revoked
//                  └────→ failed | revoked          noted: an id ended before it was seen (content 0, no log row)
import { blockedUntilAfter } from '../../domain/blocks.js';
import { anyOverlap } from '../../domain/conflict.js';
import { isWaiting, type LeaseStatus } from '../../domain/expiry.js';
import type { LeaseRow, TicketEnd } from '../../domain/lease.js';
import { LIMITS } from '../../domain/limits.js';
import { copyPart, isPlain, type Part } from '../../domain/part.js';
import type { AcquireRequest } from '../../domain/requests.js';
import { rankOf } from '../../domain/queue-order.js';
import type { WaitStep } from '../../domain/wait-graph.js';
import type { LogEntry, Step } from './rows.js';

/** The row of an id seen for the first time, before it became ticket or lease. */
export function newRow(step: Step, request: AcquireRequest, content: number): LeaseRow {
  step.space.arrival += 1;
  return {
    id: request.id,
    content,
    owner: request.owner,
    parts: request.parts.map(copyPart),
    status: 'pending',
    reason: undefined,
    epoch: 0,
    grantEpoch: 0,
    ttlMs: request.ttlMs,
    acquiredAt: step.now,
    renewedAt: step.now,
    expiresAt: step.now,
    endedAt: undefined,
    renewals: 0,
    maxRenewals: request.maxRenewals,
    skewMs: Math.round(request.callerWall - step.wall),
    operationId: request.operationId,
    metadata: request.metadata === undefined ? undefined : structuredClone(request.metadata),
    rank: rankOf(step.now, request.priority),
    arrival: step.space.arrival,
    arrivedAt: step.now,
    joinedEpoch: step.space.epoch,
    priority: request.priority,
    maxHoldMs: request.maxHoldMs,
    minHoldMs: request.minHoldMs,
    lockDelayMs: request.lockDelayMs,
    holding: [...request.holding],
    upgrades: request.upgrades?.id,
    remote: request.remote,
    blockedUntil: 0,
    keepOutUntil: 0,
    blockEpoch: 0,
    handOver: request.handOver,
    lastRequest: undefined,
    becameEpoch: undefined,
    cycle: undefined,
  };
}

/** S8: an id that was ended before the store had seen it. An acquire still on its way finds it and is refused. */
export function notedRow(step: Step, id: string): LeaseRow {
  const nothing: AcquireRequest = {
    id,
    bornAt: step.now,
    owner: '',
    parts: [],
    ttlMs: 0,
    priority: 0,
    join: false,
    holding: [],
    reclaim: false,
    maxRenewals: -1,
    minHoldMs: 0,
    lockDelayMs: 0,
    remote: false,
    callerWall: step.wall,
  };
  return { ...newRow(step, nothing, 0), status: 'failed', reason: 'cancelled', endedAt: step.now };
}

/** S3: written once, as of `expiresAt`, before the effect of whatever came upon it. */
export function writeExpiry(step: Step, row: LeaseRow): void {
  row.status = 'expired';
  row.endedAt = row.expiresAt;
  row.blockedUntil = blockedUntilAfter(row, 'expired', step.now);
  row.blockEpoch = row.epoch; // as of its expiry, whoever writes it down and when
  step.rows.save(row, 'ended');
  step.rows.log({
    ...eventOf(row, 'lease.expired'),
    from: 'active',
    to: 'expired',
    actor: 'store',
    data: { expiresAt: row.expiresAt, overrunMs: step.now - row.expiresAt, heldMs: row.expiresAt - row.acquiredAt },
  });
  step.freed.push(...row.parts);
}

/** S3 for an acquire that writes: every lease that lapsed on the names it touches. Bounded (S18); reads see the rest. */
export function writeExpiries(step: Step, parts: readonly Part[], overlapping: readonly LeaseRow[]): void {
  const lapsed = overlapping.filter(
    (row) => row.status === 'active' && step.now >= row.expiresAt && anyOverlap(row.parts, parts),
  );
  lapsed.sort((a, b) => a.expiresAt - b.expiresAt || a.epoch - b.epoch);
  for (const row of lapsed.slice(0, LIMITS.rowsPerStep)) writeExpiry(step, row);
}

/** With the epoch that was drawn for it. A row that waited is there already. */
export function grant(step: Step, row: LeaseRow, expiresAt: number, hasWaited: boolean): void {
  row.status = 'active';
  row.epoch = step.space.epoch;
  row.grantEpoch = step.space.epoch;
  row.acquiredAt = step.now;
  row.renewedAt = step.now;
  row.expiresAt = expiresAt;
  if (hasWaited) {
    step.space.tickets -= 1;
    step.rows.save(row, 'whole');
  } else {
    step.rows.add(row);
  }
  const facts = { ttlMs: row.ttlMs, expiresAt: row.expiresAt, waitedMs: step.now - row.arrivedAt };
  const data = isPlain(row.parts) ? facts : { ...facts, ...partsData(row) };
  logChange(step, row, 'lease.acquired', hasWaited ? 'pending' : undefined, 'active', data);
}

export interface RowRenewal {
  readonly until: number;
  readonly ttlMs?: number;
  readonly callerWall: number;
  readonly requestId?: string;
}

export function renewRow(step: Step, row: LeaseRow, renewal: RowRenewal): void {
  const { until, ttlMs = row.ttlMs, callerWall, requestId } = renewal;
  const changed = ttlMs === row.ttlMs ? 'renewed' : 'whole';
  row.expiresAt = until;
  row.ttlMs = ttlMs;
  row.renewedAt = step.now;
  row.renewals += 1;
  row.skewMs = Math.round(callerWall - step.wall);
  row.lastRequest = requestId;
  step.rows.save(row, changed);
  if (!step.space.settings.history_renewals) return;
  const data = { expiresAt: until, renewals: row.renewals, maxRenewals: row.maxRenewals };
  step.rows.log({ ...eventOf(row, 'lease.renewed'), from: 'active', to: 'active', data });
}

export function release(step: Step, row: LeaseRow, reason?: string): void {
  row.status = 'released';
  row.reason = reason;
  row.endedAt = step.now;
  row.blockedUntil = reason === undefined ? blockedUntilAfter(row, 'released', step.now) : 0;
  row.blockEpoch = step.space.epoch;
  step.rows.save(row, 'ended');
  const heldMs = step.now - row.acquiredAt;
  const data = row.blockedUntil > step.now ? { heldMs, blockedUntil: row.blockedUntil } : { heldMs };
  logChange(step, row, 'lease.released', 'active', 'released', data);
  step.freed.push(...row.parts);
}

/** A ticket that never became a lease. A dead one ends as of the moment it died. */
export function failTicket(step: Step, row: LeaseRow, reason: TicketEnd, cycle?: readonly WaitStep[]): void {
  const died = !isWaiting(row, step.now);
  row.status = 'failed';
  row.reason = died ? 'died' : reason;
  row.endedAt = died ? row.expiresAt : step.now;
  row.cycle = died ? undefined : cycle;
  leaveQueue(step, row);
  const isVictim = row.cycle !== undefined;
  step.rows.log({
    ...eventOf(row, isVictim ? 'deadlock.detected' : 'lease.failed'),
    from: 'pending',
    to: 'failed',
    ...(died ? { actor: 'store' } : {}),
    data: { waitedMs: row.endedAt - row.arrivedAt, ...(isVictim ? { cycle: row.cycle } : {}) },
  });
}

export function leaveQueue(step: Step, row: LeaseRow): void {
  step.space.tickets -= 1;
  step.rows.save(row, 'whole');
  step.freed.push(...row.parts);
}

/** The log row of a change of status. One literal: this is on the way of every grant and every release. */
export function logChange(
  step: Step,
  row: LeaseRow,
  type: LogEntry['type'],
  from: LeaseStatus | undefined,
  to: LeaseStatus,
  data: Readonly<Record<string, unknown>>,
): void {
  step.rows.log({
    type,
    resource: row.parts[0]?.name,
    resources: otherNames(row),
    leaseId: row.id,
    owner: row.owner,
    epoch: row.epoch,
    from,
    to,
    actor: undefined,
    reason: row.reason,
    error: undefined,
    data,
  });
}

function otherNames(row: LeaseRow): string[] | undefined {
  return row.parts.length > 1 ? row.parts.map((part) => part.name) : undefined;
}

/** What every event of a lease says about it. Parts are spelled out unless they are one exclusive node. */
export function eventOf(row: LeaseRow, type: LogEntry['type']): Omit<LogEntry, 'data'> {
  return {
    type,
    resource: row.parts[0]?.name,
    resources: otherNames(row),
    leaseId: row.id,
    owner: row.owner,
    epoch: row.epoch === 0 ? undefined : row.epoch,
    reason: row.reason,
  };
}

export function partsData(row: LeaseRow): { parts?: readonly Part[] } {
  return isPlain(row.parts) ? {} : { parts: row.parts.map(copyPart) };
}
