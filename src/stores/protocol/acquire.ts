// acquire: try, join, refresh, claim, reclaim and upgrade in one atomic step.
//
// In words: an id the store knows is answered by its present state (S8). Otherwise, and for a ticket still alive, the
// one rule of the queue decides (Q1). Free: expiries on these names are written down (S3), the next epoch is drawn, the
// row becomes active. Not free: a request that joins gets or refreshes its ticket, another is refused with the facts.
// A wait that could never end (for a lease one holds, for a rival upgrade) is refused in this same step (Q4).
import { checkAcquire } from '../../domain/check-request.js';
import { contentOf } from '../../domain/content.js';
import { decide, refusalFor, rivalUpgrade, type Claim, type Verdict } from '../../domain/decide.js';
import { nextEpoch } from '../../domain/epoch.js';
import { invalid, LeaseError } from '../../domain/errors.js';
import { grantedUntil, isLive, isWaiting, livesAsTicket } from '../../domain/expiry.js';
import { leaseAt, type LeaseRow } from '../../domain/lease.js';
import { ID_MAX_AGE_MS, LIMITS, TICKET_LIFE_MS } from '../../domain/limits.js';
import { asExclusive, sameParts } from '../../domain/part.js';
import { LAST } from '../../domain/queue-order.js';
import type { AcquireRequest } from '../../domain/requests.js';
import type { AcquireResult } from '../store.js';
import { findReclaimed, replaceReclaimed } from './reclaim.js';
import type { Step } from './rows.js';
import {
  eventOf,
  failTicket,
  grant,
  leaveQueue,
  newRow,
  partsData,
  renewRow,
  writeExpiries,
  writeExpiry,
} from './transitions.js';

const NONE: LeaseRow[] = [];
const AHEAD_OF_ALL = { rank: -Infinity, arrival: -Infinity };

export function acquire(step: Step, request: AcquireRequest): AcquireResult {
  const content = contentOf(request, checkAcquire(request));
  const { known: ticket, overlapping } = step.rows.lookUp(request.id, request.parts);
  if (ticket) {
    const answer = answerKnown(step, ticket, content, request);
    if (answer) return answer;
  } else if (Math.abs(step.now - request.bornAt) > ID_MAX_AGE_MS) {
    return { outcome: 'tooOld' };
  }
  let upgraded: LeaseRow | undefined;
  if (request.upgrades) {
    upgraded = findUpgraded(step, request);
    if (!upgraded) return upgradeLost(step, ticket);
  }
  const reclaimed = request.reclaim ? findReclaimed(step, request, overlapping) : undefined;
  const claim: Claim = {
    id: request.id,
    owner: request.owner,
    parts: request.parts,
    place: reclaimed ? AHEAD_OF_ALL : (ticket ?? LAST),
    heldRows: heldRows(step, request, upgraded),
    replaces: (upgraded ?? reclaimed)?.id,
  };
  const verdict = decide(claim, overlapping, step.now);
  if (!verdict.free) return wait(step, request, content, claim, verdict, overlapping, ticket);
  const epoch = nextEpoch(step.space.epoch); // before any write: a counter at its end refuses and changes nothing
  if (overlapping.length > 0) writeExpiries(step, request.parts, overlapping);
  if (reclaimed) replaceReclaimed(step, reclaimed);
  step.space.epoch = epoch;
  if (upgraded) return grantUpgrade(step, request, content, upgraded, ticket);
  const row = ticket ?? newRow(step, request, content);
  row.skewMs = Math.round(request.callerWall - step.wall);
  grant(step, row, grantedUntil(step.now, row.ttlMs, row.maxHoldMs), ticket !== undefined);
  return granted(step, row, false);
}

/** S8: the present state of a known id, or undefined for a live ticket, which goes on to claim. Who was handed a lease and asks again has
 *  not heard of it yet, or too late: that question is the claim it would have been, and renews it (Q1). */
function answerKnown(
  step: Step,
  row: LeaseRow,
  content: number,
  { callerWall }: AcquireRequest,
): AcquireResult | undefined {
  if (row.content === 0) return { outcome: 'ended', status: row.status, reason: row.reason };
  if (row.content !== content) return { outcome: 'mismatch' };
  if (isWaiting(row, step.now)) return undefined;
  if (isLive(row, step.now)) {
    if (livesAsTicket(row)) renewRow(step, row, { until: step.now + row.ttlMs, callerWall });
    return granted(step, row, true);
  }
  if (row.status === 'pending') failTicket(step, row, 'died');
  if (row.status === 'active') writeExpiry(step, row);
  if (row.becameEpoch !== undefined) return answerUpgraded(step, row);
  if (row.cycle) return { outcome: 'deadlock', cycle: row.cycle };
  return { outcome: 'ended', status: row.status, reason: row.reason };
}

function answerUpgraded(step: Step, ticket: LeaseRow): AcquireResult {
  const lease = step.rows.find(ticket.upgrades ?? '');
  if (lease && isLive(lease, step.now) && lease.epoch === ticket.becameEpoch) return granted(step, lease, true);
  return { outcome: 'ended', status: ticket.status, reason: ticket.reason };
}

function findUpgraded(step: Step, request: AcquireRequest): LeaseRow | undefined {
  const lease = step.rows.find(request.upgrades?.id ?? '');
  if (!lease || lease.epoch !== request.upgrades?.epoch || lease.status !== 'active') return undefined;
  if (!isLive(lease, step.now)) {
    writeExpiry(step, lease);
    return undefined;
  }
  if (!sameParts(asExclusive(lease.parts), request.parts))
    throw invalid('an upgrade asks for the parts of its own lease');
  if (lease.parts.every((part) => part.mode === 'exclusive')) throw invalid('the lease is exclusive already');
  return lease;
}

function upgradeLost(step: Step, ticket: LeaseRow | undefined): AcquireResult {
  if (ticket) failTicket(step, ticket, 'lease_lost');
  return { outcome: 'ended', status: 'failed', reason: 'lease_lost' };
}

function heldRows(step: Step, request: AcquireRequest, upgraded: LeaseRow | undefined): LeaseRow[] {
  if (request.holding.length === 0) return upgraded ? [upgraded] : NONE;
  const rows = request.holding.flatMap((id) => step.rows.find(id) ?? []);
  if (upgraded && !rows.some((row) => row.id === upgraded.id)) rows.push(upgraded);
  return rows;
}

function wait(
  step: Step,
  request: AcquireRequest,
  content: number,
  claim: Claim,
  verdict: Verdict,
  overlapping: readonly LeaseRow[],
  ticket: LeaseRow | undefined,
): AcquireResult {
  const refusal = refusalFor(verdict, step.now);
  const cycle = rivalUpgrade(claim, verdict, overlapping, step.now);
  if (verdict.ownLease || (cycle && (request.join || ticket))) {
    if (ticket) failTicket(step, ticket, 'deadlock', cycle);
    return verdict.ownLease || !cycle ? { outcome: 'refused', refusal } : { outcome: 'deadlock', cycle };
  }
  if (!ticket && !request.join) return { outcome: 'refused', refusal };
  if (!ticket) refuseWhenFull(step);
  writeExpiries(step, request.parts, overlapping);
  const row = ticket ?? newRow(step, request, content);
  row.renewedAt = step.now;
  row.expiresAt = step.now + TICKET_LIFE_MS;
  const place = refusal.queueLength + 1;
  if (ticket) {
    step.rows.save(row, 'whole');
  } else {
    step.space.tickets += 1;
    step.rows.add(row);
    step.rows.log({
      ...eventOf(row, 'lease.queued'),
      to: 'pending',
      data: { place, priority: row.priority, because: refusal.reason, ...partsData(row) },
    });
  }
  return { outcome: 'queued', place, ticketLeftMs: TICKET_LIFE_MS, refusal };
}

/** S18. Dead tickets at the front make room before anybody is turned away. */
function refuseWhenFull(step: Step): void {
  if (step.space.tickets < LIMITS.ticketsPerNamespace) return;
  for (const row of step.rows.deadTickets(step.now, LIMITS.rowsPerStep)) failTicket(step, row, 'died');
  if (step.space.tickets < LIMITS.ticketsPerNamespace) return;
  throw new LeaseError(
    'RATE_LIMITED',
    `${LIMITS.ticketsPerNamespace} requests are waiting in this namespace, which is the limit: try again later`,
    { details: { waiting: step.space.tickets } },
  );
}

/** Q5: the same lease becomes exclusive with a new epoch; the ticket's id is spent. */
function grantUpgrade(
  step: Step,
  request: AcquireRequest,
  content: number,
  lease: LeaseRow,
  known: LeaseRow | undefined,
): AcquireResult {
  const fromEpoch = lease.epoch;
  lease.parts = asExclusive(lease.parts);
  lease.epoch = step.space.epoch;
  lease.lastRequest = undefined; // what was asked under the old epoch is not answered again under the new
  step.rows.save(lease, 'whole');
  const ticket = known ?? newRow(step, request, content);
  ticket.status = 'released';
  ticket.reason = 'upgraded';
  ticket.endedAt = step.now;
  ticket.becameEpoch = lease.epoch;
  if (known) leaveQueue(step, ticket);
  else step.rows.add(ticket);
  step.rows.log({
    ...eventOf(lease, 'lease.upgraded'),
    from: 'active',
    to: 'active',
    data: { fromEpoch, ticketId: ticket.id, waitedMs: step.now - ticket.arrivedAt, ...partsData(lease) },
  });
  return granted(step, lease, false);
}

function granted(step: Step, row: LeaseRow, again: boolean): AcquireResult {
  return { outcome: 'granted', lease: leaseAt(row, step.now), remainingMs: row.expiresAt - step.now, again };
}
