// Q4: the wait-for graph, made here out of one snapshot by the domain's own rules, and the check that a cycle still stands. The
// database only says whether the graph it was found in is still the same when the victim is failed, under a lock of the
// namespace: deciding and acting are one step without the graph being written a second time in SQL.
import { anyOverlap } from '../../domain/conflict.js';
import { isWaiting } from '../../domain/expiry.js';
import type { LeaseRow } from '../../domain/lease.js';
import type { Part } from '../../domain/part.js';
import { cycleStands, describeCycle, type WaitGraph, type WaitStep } from '../../domain/wait-graph.js';
import { waitGraph, waitingTicket } from '../protocol/look.js';
import { decodeRow, type WaitingColumns } from './row-codec.js';

export type GraphColumns = [tickets: WaitingColumns[] | null, around: WaitingColumns[] | null, mark: string | null];

interface Look {
  readonly now: number;
  readonly rows: {
    find(id: string): LeaseRow | undefined;
    overlapping(parts: readonly Part[]): LeaseRow[];
    waiting(limit: number): LeaseRow[];
  };
}

export function lookAt([tickets, around]: GraphColumns, now: number): Look {
  const waiting = (tickets ?? []).map(decodeRow);
  const rows = new Map([...waiting, ...(around ?? []).map(decodeRow)].map((row) => [row.id, row]));
  const near = new Map<string, LeaseRow[]>();
  return {
    now,
    rows: {
      find: (id) => rows.get(id),
      overlapping: (parts) => {
        // Many tickets wait for the same parts: each is looked up once.
        const key = JSON.stringify(parts);
        const known = near.get(key) ?? [...rows.values()].filter((row) => anyOverlap(row.parts, parts));
        near.set(key, known);
        return known;
      },
      waiting: (limit) => waiting.slice(0, limit),
    },
  };
}

export function graphOf(columns: GraphColumns, now: number): WaitGraph {
  return waitGraph(lookAt(columns, now));
}

/** The cycle in words, when the whole of it stands in this snapshot and `id` is part of it. */
export function standingCycle(
  columns: GraphColumns,
  now: number,
  { id, cycle }: { readonly id: string; readonly cycle: readonly string[] },
): WaitStep[] | undefined {
  const look = lookAt(columns, now);
  const tickets = new Map(waitGraph(look).tickets.map((ticket) => [ticket.id, ticket]));
  for (const one of cycle) {
    const row = look.rows.find(one);
    if (!row || !isWaiting(row, now)) return undefined;
    if (!tickets.has(one)) tickets.set(one, waitingTicket(look, row));
  }
  if (!cycle.includes(id) || !cycleStands({ tickets: [...tickets.values()] }, cycle)) return undefined;
  return describeCycle(cycle.flatMap((one) => tickets.get(one) ?? []));
}
