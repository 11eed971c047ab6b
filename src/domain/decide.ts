// Q1, the one rule of the queue: a request is granted if and only if it conflicts with no live lease, no block, and no
// live ticket ahead of it (counted as if granted). Pure: the store hands in every row whose names overlap the request's
// (more is harmless), the verdict says what stands in the way, and `refusalFor` turns it into facts for the caller.
import { blocksOf, type Block } from './blocks.js';
import { conflicts, fits, inTheWay, type Standing } from './conflict.js';
import { isLive, isWaiting } from './expiry.js';
import { leaseAt, type Lease, type LeaseRow } from './lease.js';
import { LIMITS } from './limits.js';
import type { Part } from './part.js';
import { comparePlaces, isAhead, type Place } from './queue-order.js';
import type { WaitStep } from './wait-graph.js';

export type RefusalReason = 'held' | 'queue' | 'limit' | 'min_hold' | 'lock_delay' | 'pinned' | 'held_by_self';

/** An expected "no" with its facts, as a store answers it. */
export interface StoreRefusal {
  readonly reason: RefusalReason;
  /** At most 20, oldest epoch first. */
  readonly holders: readonly Lease[];
  readonly holderCount: number;
  /** Live tickets ahead that count against this request. */
  readonly queueLength: number;
  /** Time to the earliest end of anything in the way (Q3). */
  readonly retryAfterMs: number;
}

export interface Claim {
  readonly id: string;
  readonly owner: string;
  readonly parts: readonly Part[];
  readonly place: Place;
  /** Leases the requester holds, the one it upgrades included: tickets that wait for these are passed over. */
  readonly heldRows: readonly LeaseRow[];
  /** The lease or block this claim replaces (upgrade, reclaim): not counted against it. */
  readonly replaces?: string | undefined;
}

export interface Verdict {
  readonly free: boolean;
  readonly leases: readonly LeaseRow[];
  /** True when leases stand in the way only because a limit is full. */
  readonly limited: boolean;
  readonly blocks: readonly Block[];
  readonly tickets: readonly LeaseRow[];
  /** Those of the leases, blocks and tickets that only fill a limit: it is enough that one of them goes. */
  readonly byLimit: ReadonlySet<LeaseRow | Block>;
  /** Q4: one of the leases in the way is the requester's own. */
  readonly ownLease: boolean;
}

const FREE: Verdict = {
  free: true,
  leases: [],
  limited: false,
  blocks: [],
  tickets: [],
  byLimit: new Set(),
  ownLease: false,
};

type Obstacle = Standing & { readonly lease?: LeaseRow; readonly ticket?: LeaseRow; readonly block?: Block };

export function decide(claim: Claim, overlapping: readonly LeaseRow[], now: number): Verdict {
  if (overlapping.length === 0) return FREE;
  const standing: Obstacle[] = [];
  for (const row of overlapping) {
    if (row.id === claim.id || row.id === claim.replaces) continue;
    if (isLive(row, now)) standing.push({ parts: row.parts, lease: row });
    else if (countsAhead(row, claim, now)) standing.push({ parts: row.parts, ticket: row });
    const blocks = blocksOf(row, now, claim.owner);
    if (blocks.length > 0) standing.push(...blocks.map((block) => ({ parts: block.parts, block })));
  }
  const { direct, byLimit } = inTheWay(claim.parts, standing);
  if (direct.length === 0 && byLimit.length === 0) return FREE;
  const leases: LeaseRow[] = [];
  const blocks: Block[] = [];
  const tickets: LeaseRow[] = [];
  for (const one of byLimit.length === 0 ? direct : [...direct, ...byLimit]) {
    if (one.ticket) tickets.push(one.ticket);
    else if (one.lease) leases.push(one.lease);
    else if (one.block) blocks.push(one.block);
  }
  return {
    free: false,
    leases: leases.sort((a, b) => a.epoch - b.epoch),
    limited: leases.length > 0 && !direct.some((one) => one.lease),
    blocks,
    tickets: tickets.sort(comparePlaces),
    byLimit: new Set(byLimit.flatMap((one) => one.lease ?? one.block ?? one.ticket ?? [])),
    ownLease: !fits(claim.parts, ownStanding(claim, now)),
  };
}

/** Q4: what the requester's own leases block by themselves. A limit that others fill too may yet have room. */
function ownStanding(claim: Claim, now: number): LeaseRow[] {
  return claim.heldRows.filter((row) => row.id !== claim.replaces && isLive(row, now));
}

/** A live ticket ahead counts, unless it waits for a lease the request is holding: that one must go first anyway. */
function countsAhead(ticket: LeaseRow, claim: Claim, now: number): boolean {
  if (!isWaiting(ticket, now) || !isAhead(ticket, claim.place)) return false;
  return !claim.heldRows.some((held) => isLive(held, now) && ticket.upgrades !== held.id && mayWaitFor(ticket, held));
}

/** Two parts conflict, or they meet on a limited name: then the lease may be what the ticket waits for. */
export function mayWaitFor(ticket: Standing, lease: Standing): boolean {
  return ticket.parts.some((a) =>
    lease.parts.some((b) => conflicts(a, b) || (a.name === b.name && (a.limit ?? b.limit) !== undefined)),
  );
}

export function refusalFor(verdict: Verdict, now: number): StoreRefusal {
  return {
    reason: reasonFor(verdict),
    holders: verdict.leases.slice(0, LIMITS.holdersInRefusal).map((lease) => leaseAt(lease, now)),
    holderCount: verdict.leases.length,
    queueLength: verdict.tickets.length,
    retryAfterMs: Math.max(1, earliestEnd(verdict) - now),
  };
}

function earliestEnd({ leases, blocks, tickets }: Verdict): number {
  let earliest = Infinity;
  for (const { expiresAt } of leases) earliest = Math.min(earliest, expiresAt);
  for (const { until } of blocks) earliest = Math.min(earliest, until);
  for (const { expiresAt } of tickets) earliest = Math.min(earliest, expiresAt);
  return earliest;
}

function reasonFor(verdict: Verdict): RefusalReason {
  if (verdict.ownLease) return 'held_by_self';
  if (verdict.leases.length > 0) return verdict.limited ? 'limit' : 'held';
  if (verdict.blocks.length === 0) return 'queue';
  return verdict.blocks.some((block) => block.reason === 'min_hold') ? 'min_hold' : 'lock_delay';
}

/** Q4: a second upgrade of one resource can never be granted beside the first. Returns the cycle the two would make. */
export function rivalUpgrade(
  claim: Claim,
  verdict: Verdict,
  overlapping: readonly LeaseRow[],
  now: number,
): WaitStep[] | undefined {
  const own = claim.heldRows.find((row) => row.id === claim.replaces);
  if (!own) return undefined;
  for (const rival of [...overlapping].sort(comparePlaces)) {
    if (rival.id === claim.id || rival.upgrades === undefined || !isWaiting(rival, now)) continue;
    const theirs = rival.upgrades === own.id ? own : verdict.leases.find((lease) => lease.id === rival.upgrades);
    if (!theirs || !mayWaitFor(rival, own)) continue;
    const resource = claim.parts[0]?.name ?? '';
    return [
      { ticketId: claim.id, owner: claim.owner, resource, heldBy: theirs.owner },
      { ticketId: rival.id, owner: rival.owner, resource: rival.parts[0]?.name ?? '', heldBy: own.owner },
    ];
  }
  return undefined;
}
