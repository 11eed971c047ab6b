// The wait-for graph around one resource, as sentences: who waits for what, held by whom, which itself waits for what … Tickets
// that wait for the same lease are told together. Bounded in depth and breadth; a circle is told as one and not followed.
import type { WaitGraph } from '../../api/types.js';

type Ticket = WaitGraph['tickets'][number];

export interface Chain {
  readonly key: string;
  /** Who waits; the first few of them. */
  readonly waiters: readonly string[];
  readonly count: number;
  readonly resource: string;
  readonly heldBy: string;
  /** What the holder waits for in its turn. */
  readonly next: readonly Chain[];
  /** The holder was met before on this way: nobody on it can go on. */
  readonly isCircle: boolean;
}

const MOST_DEPTH = 12;
/** Of all sentences together: a dense graph has more ways through it than anybody reads. */
const MOST_CHAINS = 60;
const NAMED = 3;

interface Held {
  readonly id: string;
  readonly owner: string;
  readonly resource: string;
}

export function chainsFor(graph: WaitGraph, name: string): Chain[] {
  const byHeld = new Map<string, Ticket[]>();
  for (const ticket of graph.tickets) for (const id of ticket.holding) push(byHeld, id, ticket);
  const touches = (ticket: Ticket): boolean =>
    ticket.resource === name || obstaclesOf(ticket).some(({ resource }) => resource === name);
  return follow(graph.tickets.filter(touches), { byHeld, left: MOST_CHAINS }, new Set());
}

/** Whether some holder waits itself: a plain queue is not stuck. */
export function isStuck(chains: readonly Chain[]): boolean {
  return chains.some(({ next, isCircle }) => isCircle || next.length > 0);
}

interface Walk {
  readonly byHeld: ReadonlyMap<string, readonly Ticket[]>;
  /** Sentences that may still be made. */
  left: number;
}

function follow(tickets: readonly Ticket[], walk: Walk, met: ReadonlySet<string>): Chain[] {
  const groups = new Map<string, { held: Held; waiters: string[] }>();
  for (const ticket of tickets) {
    for (const held of obstaclesOf(ticket)) {
      const group = groups.get(held.id) ?? { held, waiters: [] };
      group.waiters.push(ticket.owner);
      groups.set(held.id, group);
    }
  }
  const told = [...groups.values()].slice(0, Math.max(0, walk.left));
  walk.left -= told.length;
  return told.map(({ held, waiters }) => {
    const isCircle = met.has(held.id);
    const isEnd = isCircle || met.size >= MOST_DEPTH;
    const further = isEnd ? [] : (walk.byHeld.get(held.id) ?? []);
    return {
      key: held.id,
      waiters: waiters.slice(0, NAMED),
      count: waiters.length,
      resource: held.resource,
      heldBy: held.owner,
      next: follow(further, walk, new Set([...met, held.id])),
      isCircle,
    };
  });
}

function obstaclesOf({ waitsForLeases, waitsForOneOf }: Ticket): readonly Held[] {
  return [...waitsForLeases, ...(waitsForOneOf?.leases ?? [])];
}

function push(lists: Map<string, Ticket[]>, key: string, ticket: Ticket): void {
  const list = lists.get(key);
  if (list) list.push(ticket);
  else lists.set(key, [ticket]);
}
