// renew, end and change: what a holder does to its own lease. All carry id and epoch; a stale one changes nothing and
// says what it found (S5). Repeating one answers again: the row remembers the request that last changed it.
import { checkChange, checkEnd, checkRenew } from '../../domain/check-request.js';
import { nextEpoch } from '../../domain/epoch.js';
import { isLive, livesAsTicket, renewedUntil, statusAt } from '../../domain/expiry.js';
import { leaseAt, type LeaseRow } from '../../domain/lease.js';
import { asShared, sameParts } from '../../domain/part.js';
import type { ChangeRequest, EndRequest, RenewRequest } from '../../domain/requests.js';
import type { ChangeResult, EndResult, NotHeld, RenewResult } from '../store.js';
import { handOver } from './hand-over.js';
import type { Step } from './rows.js';
import { eventOf, failTicket, notedRow, partsData, release, renewRow, writeExpiry } from './transitions.js';

/** S4: only for the same id and epoch while live; never revives, never shortens. */
export function renew(step: Step, request: RenewRequest): RenewResult {
  checkRenew(request);
  const row = step.rows.find(request.id);
  if (!row || row.epoch !== request.epoch || !isLive(row, step.now)) return notHeld(step, row, request.epoch);
  const ttlMs = request.ttlMs ?? row.ttlMs;
  if (row.lastRequest === request.requestId) return renewed(step, row);
  const remainingMs = row.expiresAt - step.now;
  if (row.maxRenewals >= 0 && row.renewals >= row.maxRenewals) return { outcome: 'maxRenewals', remainingMs };
  const until = renewedUntil(row, step.now, ttlMs);
  if (until === undefined) return { outcome: 'maxHold', remainingMs };
  const { callerWall, requestId } = request;
  renewRow(step, row, { until, ttlMs, callerWall, requestId });
  return renewed(step, row);
}

function renewed(step: Step, row: LeaseRow): RenewResult {
  return {
    outcome: 'renewed',
    remainingMs: row.expiresAt - step.now,
    expiresAt: row.expiresAt,
    renewals: row.renewals,
  };
}

/** Writes the expiry down when it is this holder's own late message that came upon it (S3). */
function notHeld(step: Step, row: LeaseRow | undefined, epoch: number): NotHeld {
  if (!row || row.content === 0) return { outcome: 'notHeld', status: 'unknown' };
  if (row.status === 'active' && row.epoch === epoch) writeExpiry(step, row);
  const status = statusAt(row, step.now);
  return { outcome: 'notHeld', status, epoch: row.epoch === epoch || row.epoch === 0 ? undefined : row.epoch };
}

export function end(step: Step, request: EndRequest): EndResult {
  checkEnd(request);
  const row = step.rows.find(request.id);
  if (!row) {
    step.rows.add(notedRow(step, request.id));
    return { outcome: 'noted' };
  }
  if (row.content === 0) return { outcome: 'noted' };
  if (row.becameEpoch !== undefined) return { outcome: 'stale', epoch: row.becameEpoch };
  if (row.status === 'pending') {
    failTicket(step, row, request.why === 'timeout' ? 'timeout' : 'cancelled');
    return { outcome: 'left' };
  }
  if (row.status === 'failed') return { outcome: 'left' };
  const isTicket = row.epoch === 0; // revoked while it waited: there is no epoch to compare
  if (!isTicket && row.epoch !== (request.epoch ?? row.grantEpoch)) return { outcome: 'stale', epoch: row.epoch };
  if (row.status === 'active' && !isLive(row, step.now)) writeExpiry(step, row);
  if (row.status === 'expired') return { outcome: 'expired' };
  if (row.status === 'revoked') return { outcome: 'revoked' };
  const again = row.status === 'released';
  if (!again) {
    row.lastRequest = request.requestId;
    // A grant nobody ever held (its waiter was gone) leaves no block: no work was done that minHold could stand for.
    const { length } = step.freed;
    release(step, row, request.epoch === undefined ? 'cancelled' : undefined);
    const handedTo = step.handing && handOver(step, step.handing, length);
    if (handedTo) return { outcome: 'released', again, blockedMs: 0, handedTo };
  }
  return { outcome: 'released', again, blockedMs: Math.max(0, row.blockedUntil - step.now) };
}

/** Delegation and its resumption draw an epoch (S2); a downgrade keeps it, never waits, and wakes (Q5). */
export function change(step: Step, request: ChangeRequest): ChangeResult {
  checkChange(request);
  const row = step.rows.find(request.id);
  if (row && isLive(row, step.now) && row.lastRequest === request.requestId) return changed(step, row, true);
  if (!row || row.epoch !== request.epoch || !isLive(row, step.now)) return notHeld(step, row, request.epoch);
  // Of what was handed over this is the first its owner says: a claim as well (Q1).
  if (livesAsTicket(row)) renewRow(step, row, { until: step.now + row.ttlMs, callerWall: step.wall + row.skewMs });
  if (request.kind === 'downgrade') return downgrade(step, request, row);
  const { owner: fromOwner, epoch: fromEpoch } = row;
  step.space.epoch = nextEpoch(step.space.epoch);
  row.epoch = step.space.epoch;
  row.owner = request.toOwner;
  row.lastRequest = request.requestId;
  if (request.kind === 'resume') row.skewMs = Math.round(request.callerWall - step.wall);
  step.rows.save(row, 'whole');
  const data = { fromOwner, fromEpoch, resumed: request.kind === 'resume' };
  step.rows.log({ ...eventOf(row, 'lease.delegated'), from: 'active', to: 'active', actor: fromOwner, data });
  return changed(step, row, false);
}

function downgrade(step: Step, request: ChangeRequest, row: LeaseRow): ChangeResult {
  const parts = asShared(row.parts);
  if (sameParts(parts, row.parts)) return changed(step, row, true);
  row.parts = parts;
  row.lastRequest = request.requestId;
  step.rows.save(row, 'whole');
  step.rows.log({ ...eventOf(row, 'lease.downgraded'), from: 'active', to: 'active', data: partsData(row) });
  step.freed.push(...row.parts);
  return changed(step, row, false);
}

function changed(step: Step, row: LeaseRow, again: boolean): ChangeResult {
  return { outcome: 'changed', lease: leaseAt(row, step.now), remainingMs: row.expiresAt - step.now, again };
}
