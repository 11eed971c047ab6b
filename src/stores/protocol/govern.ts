// revoke, sweep and failTicket: what is done to leases and tickets from outside. Each is bounded (S18) and says when
// there is more to do.
import { blockedUntilAfter, blocksOf } from '../../domain/blocks.js';
import { checkFailTicket, checkLimit, checkRevoke } from '../../domain/check-request.js';
import { nextEpoch } from '../../domain/epoch.js';
import { isLive, isWaiting } from '../../domain/expiry.js';
import { leaseAt, type Lease, type LeaseRow } from '../../domain/lease.js';
import { LIMITS } from '../../domain/limits.js';
import type { RevokeOrder } from '../../domain/requests.js';
import { cycleStands, describeCycle } from '../../domain/wait-graph.js';
import type { FailedTicket, Reply, Revoked, Swept } from '../store.js';
import type { Step } from './rows.js';
import { eventOf, failTicket as endTicket, leaveQueue, writeExpiry } from './transitions.js';
import { waitGraph, waitingTicket } from './look.js';

type Without<R extends Reply> = Omit<R, keyof Reply>;

/** Whether this row is something the order acts on: alive or lapsed, or a block it lifts. Nothing that began after it. */
export function isRevocable(row: LeaseRow, order: RevokeOrder, now: number): boolean {
  if (row.status === 'pending') return row.joinedEpoch <= order.upToEpoch;
  if (row.epoch > order.upToEpoch) return false;
  if (row.status === 'active') return true;
  return isByName(order) && row.blockEpoch <= order.upToEpoch && blocksOf(row, now, row.owner).length > 0;
}

function isByName({ target }: RevokeOrder): boolean {
  return 'resource' in target || 'under' in target;
}

/** A7: ends what matches with an epoch up to the one named, tickets too; revoking a resource lifts its blocks (Q6). */
export function revoke(step: Step, order: RevokeOrder): Without<Revoked> {
  checkRevoke(order);
  const found = step.rows.matching(order, step.now, LIMITS.rowsPerStep + 1);
  const more = found.length > LIMITS.rowsPerStep;
  const ended: Lease[] = [];
  let epoch: number | undefined;
  for (const row of found.slice(0, LIMITS.rowsPerStep)) {
    if (isLive(row, step.now) || isWaiting(row, step.now)) {
      epoch ??= draw(step);
      revokeRow(step, row, order, epoch);
      ended.push(leaseAt(row, step.now));
      continue;
    }
    if (row.status === 'active') writeExpiry(step, row);
    if (row.status === 'pending') endTicket(step, row, 'died');
    else if (isByName(order) && blocksOf(row, step.now, row.owner).length > 0) {
      epoch ??= draw(step);
      liftBlocks(step, row, order, epoch);
    }
  }
  return { ended, epoch, more };
}

function revokeRow(step: Step, row: LeaseRow, order: RevokeOrder, revocationEpoch: number): void {
  const from = row.status;
  row.status = 'revoked';
  row.reason = order.reason;
  row.endedAt = step.now;
  row.keepOutUntil = order.keepOutMs > 0 ? step.now + order.keepOutMs : 0;
  row.blockEpoch = revocationEpoch;
  if (from === 'pending') {
    leaveQueue(step, row);
  } else {
    row.blockedUntil = blockedUntilAfter(row, 'revoked', step.now);
    step.rows.save(row, 'ended');
    step.freed.push(...row.parts);
  }
  step.rows.log({
    ...eventOf(row, 'lease.revoked'),
    from,
    to: 'revoked',
    actor: order.actor,
    data: { revocationEpoch, ...(order.keepOutMs > 0 ? { keepOutUntil: row.keepOutUntil } : {}) },
  });
}

/** S2: every revocation that ends or lifts anything draws an epoch, one for all of it. */
function draw(step: Step): number {
  step.space.epoch = nextEpoch(step.space.epoch);
  return step.space.epoch;
}

function liftBlocks(step: Step, row: LeaseRow, order: RevokeOrder, revocationEpoch: number): void {
  row.blockedUntil = 0;
  row.keepOutUntil = 0;
  step.rows.save(row, 'ended');
  const event = { ...eventOf(row, 'lease.revoked'), reason: order.reason, from: row.status, to: row.status };
  step.rows.log({ ...event, actor: order.actor, data: { lifted: true, revocationEpoch } });
  step.freed.push(...row.parts);
}

/** S3: writes down what lapsed on names nobody touched. Nothing depends on it but the log and the waiters' wake-up. */
export function sweep(step: Step, order: { limit: number }): Without<Swept> {
  const limit = checkLimit(order.limit);
  const due = step.rows.due(step.now, limit + 1);
  let leases = 0;
  let overrunMaxMs = 0;
  const now = due.slice(0, limit);
  for (const row of now) {
    if (row.status === 'pending') {
      endTicket(step, row, 'died');
      continue;
    }
    leases += 1;
    overrunMaxMs = Math.max(overrunMaxMs, step.now - row.expiresAt);
    writeExpiry(step, row);
  }
  return { leases, tickets: now.length - leases, overrunMaxMs, more: due.length > limit };
}

/** Q4: one step that first checks that the whole cycle still stands. The victim keeps its leases. */
export function failTicket(step: Step, order: { id: string; cycle: readonly string[] }): Without<FailedTicket> {
  const { id, cycle } = checkFailTicket(order);
  const tickets = new Map(waitGraph(step).tickets.map((ticket) => [ticket.id, ticket]));
  for (const one of cycle) {
    const row = step.rows.find(one);
    if (!row || !isWaiting(row, step.now)) return { outcome: 'gone' };
    if (!tickets.has(one)) tickets.set(one, waitingTicket(step, row));
  }
  const victim = cycle.includes(id) ? step.rows.find(id) : undefined;
  if (!victim || !cycleStands({ tickets: [...tickets.values()] }, cycle)) return { outcome: 'gone' };
  endTicket(step, victim, 'deadlock', describeCycle(cycle.flatMap((one) => tickets.get(one) ?? [])));
  step.wake.push(victim.id);
  return { outcome: 'failed' };
}
