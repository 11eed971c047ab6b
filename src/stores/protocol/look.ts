// Reads that follow from the protocol: who waits for whom, and how one resource stands. They change nothing.
import { anyOverlap } from '../../domain/conflict.js';
import { blocksOf } from '../../domain/blocks.js';
import { decide } from '../../domain/decide.js';
import { isLive, isWaiting } from '../../domain/expiry.js';
import { leaseAt, type Lease, type LeaseRow } from '../../domain/lease.js';
import { LIMITS } from '../../domain/limits.js';
import type { Part } from '../../domain/part.js';
import { comparePlaces } from '../../domain/queue-order.js';
import { checkName } from '../../domain/resource-name.js';
import type { WaitedLease, WaitGraph, WaitingTicket } from '../../domain/wait-graph.js';
import type { Rows } from './rows.js';

/** No owner has an empty name: blocks that bar one owner only are not counted. */
const NOBODY = '';

interface Look {
  readonly now: number;
  readonly rows: Pick<Rows, 'find' | 'overlapping' | 'waiting'>;
}

/** Q4: the oldest thousand tickets (S18) from one snapshot. Each names all that are ahead of it, so a queue for one name has half its
 *  square of edges: half a million at most. */
export function waitGraph(look: Look): WaitGraph {
  const waiting = look.rows.waiting(LIMITS.rowsPerStep).filter((row) => isWaiting(row, look.now));
  return { tickets: waiting.map((row) => waitingTicket(look, row)) };
}

export function waitingTicket(look: Look, row: LeaseRow): WaitingTicket {
  const holding = row.upgrades === undefined ? row.holding : [...row.holding, row.upgrades];
  const heldRows = holding.flatMap((id) => look.rows.find(id) ?? []);
  const claim = { id: row.id, owner: row.owner, parts: row.parts, place: row, heldRows, replaces: row.upgrades };
  const verdict = decide(claim, look.rows.overlapping(row.parts), look.now);
  const waited = (lease: LeaseRow): WaitedLease => ({
    id: lease.id,
    owner: lease.owner,
    resource: sharedName(lease, row),
  });
  const fillsLimit = (one: LeaseRow): boolean => verdict.byLimit.has(one);
  const [fillers, obstacles] = divide(verdict.leases, fillsLimit);
  const [fillingTickets, ticketsAhead] = divide(verdict.tickets, fillsLimit);
  const isBlockAmongThem = verdict.blocks.some((block) => verdict.byLimit.has(block)); // a block ends by itself
  const oneOf = { leases: fillers.map(waited), tickets: fillingTickets.map((ticket) => ticket.id) };
  const isFull = fillers.length + fillingTickets.length > 0 && !isBlockAmongThem;
  return {
    id: row.id,
    owner: row.owner,
    resource: row.parts[0]?.name ?? '',
    arrival: row.arrival,
    holding,
    waitsForLeases: obstacles.map(waited),
    waitsForTickets: ticketsAhead.map((ticket) => ticket.id),
    ...(isFull ? { waitsForOneOf: oneOf } : {}),
  };
}

function divide<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

function sharedName(lease: LeaseRow, ticket: LeaseRow): string {
  return (lease.parts.find((part) => anyOverlap([part], ticket.parts)) ?? lease.parts[0])?.name ?? '';
}

/** Everything that stands on or waits for this one name, subtrees above it included. */
export function standingOn(look: Look, resource: string): { holders: Lease[]; queue: Lease[]; blockedMs: number } {
  const here: Part[] = [{ name: checkName(resource), scope: 'node', mode: 'exclusive' }];
  const rows = look.rows.overlapping(here).filter((row) => anyOverlap(row.parts, here));
  const holders = rows.filter((row) => isLive(row, look.now)).sort((a, b) => a.epoch - b.epoch);
  const queue = rows.filter((row) => isWaiting(row, look.now)).sort(comparePlaces);
  const blocks = rows.flatMap((row) => blocksOf(row, look.now, NOBODY));
  return {
    holders: holders.slice(0, LIMITS.rowsPerStep).map((row) => leaseAt(row, look.now)),
    queue: queue.slice(0, LIMITS.rowsPerStep).map((row) => leaseAt(row, look.now)),
    blockedMs: blocks.reduce((longest, block) => Math.max(longest, block.until - look.now), 0),
  };
}
