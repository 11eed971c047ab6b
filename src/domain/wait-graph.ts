// The wait-for graph (Q4): who waits for whom, from one snapshot, and the search for a cycle in it. Nodes are tickets.
// T waits for U if a lease that U's requester holds is in T's way, or if U itself is a ticket ahead in T's way.
//
// Obstacles that conflict must all go; of those that fill up a limit, one is enough. So a cycle is a deadlock only among
// tickets that are stuck: a stuck one waits for something a stuck one has, or every place under its limit is with one.

export interface WaitingTicket {
  readonly id: string;
  readonly owner: string;
  readonly resource: string;
  /** Grows with every ticket of the namespace: the youngest has the highest. */
  readonly arrival: number;
  /** Leases the requester holds, the one it upgrades included. */
  readonly holding: readonly string[];
  readonly waitsForLeases: readonly WaitedLease[];
  readonly waitsForTickets: readonly string[];
  /** A full limit: it is enough that one of these goes. */
  readonly waitsForOneOf?: { readonly leases: readonly WaitedLease[]; readonly tickets: readonly string[] } | undefined;
}

export interface WaitedLease {
  readonly id: string;
  readonly owner: string;
  readonly resource: string;
}

/** One step of a cycle: `owner` waits with `ticketId` for `resource`, which `heldBy` has or is queued for. */
export interface WaitStep {
  readonly ticketId: string;
  readonly owner: string;
  readonly resource: string;
  readonly heldBy: string;
}

export interface WaitGraph {
  readonly tickets: readonly WaitingTicket[];
}

/** Every cycle that can be found by walking from each stuck ticket once; each appears in at most one of them. */
export function findCycles(graph: WaitGraph): WaitingTicket[][] {
  const stuck = stuckTickets(graph);
  const byId = new Map(stuck.map((ticket) => [ticket.id, ticket]));
  const edges = edgesOf({ tickets: stuck });
  const cycles: WaitingTicket[][] = [];
  const done = new Set<string>();
  for (const start of stuck) {
    if (done.has(start.id)) continue;
    const cycle = walk(start.id, edges, done);
    if (cycle) cycles.push(cycle.map((id) => byId.get(id) as WaitingTicket));
  }
  return cycles;
}

/** Depth-first without recursion: a queue may be thousands deep. */
function walk(start: string, edges: ReadonlyMap<string, string[]>, done: Set<string>): string[] | undefined {
  const path: string[] = [];
  const onPath = new Set<string>();
  const todo: { id: string; leave: boolean }[] = [{ id: start, leave: false }];
  let found: string[] | undefined;
  for (let step = todo.pop(); step; step = todo.pop()) {
    if (step.leave) {
      path.pop();
      onPath.delete(step.id);
      done.add(step.id);
      continue;
    }
    if (onPath.has(step.id)) {
      found ??= path.slice(path.indexOf(step.id));
      continue;
    }
    if (done.has(step.id)) continue;
    path.push(step.id);
    onPath.add(step.id);
    todo.push({ id: step.id, leave: true });
    for (const next of edges.get(step.id) ?? []) todo.push({ id: next, leave: false });
  }
  return found;
}

/** A ticket is stuck while it has conflicts, or while no place under its limit can be given back. */
interface Waiter {
  readonly id: string;
  hasConflicts: boolean;
  isFull: boolean;
}

/** All conflicts of a ticket together, or one place under its limit. Gone when no queued ticket keeps it there any more. */
interface Obstacle {
  readonly waiter: Waiter;
  readonly makes: 'hasConflicts' | 'isFull';
  keepers: number;
}

/** What is left when every ticket that somebody may yet let through has been let through, again and again. A ticket that
 *  goes is counted off wherever it was in the way, and nobody is looked at again: this costs by the edges of the graph. In a
 *  queue for one name those are half its square, as each waits for all ahead. */
function stuckTickets(graph: WaitGraph): WaitingTicket[] {
  const stuck = new Set(graph.tickets.map((ticket) => ticket.id));
  const { waiters, keptBy } = obstaclesOf(graph.tickets);
  const leaving: string[] = [];
  const letThrough = ({ id, hasConflicts, isFull }: Waiter): void => {
    if (!hasConflicts && !isFull && stuck.delete(id)) leaving.push(id);
  };
  waiters.forEach(letThrough);
  for (let id = leaving.pop(); id !== undefined; id = leaving.pop()) {
    for (const obstacle of keptBy.get(id) ?? []) {
      obstacle.keepers -= 1;
      if (obstacle.keepers > 0) continue;
      obstacle.waiter[obstacle.makes] = false;
      letThrough(obstacle.waiter);
    }
  }
  return graph.tickets.filter((ticket) => stuck.has(ticket.id));
}

/** How each ticket stands while all are queued, and the obstacles that each keeps in the way of others. */
function obstaclesOf(tickets: readonly WaitingTicket[]): { waiters: Waiter[]; keptBy: Map<string, Obstacle[]> } {
  const holders = holdersOf(tickets);
  const heldBy = ({ id }: WaitedLease): readonly string[] => holders.get(id) ?? [];
  const keptBy = new Map(tickets.map((ticket): [string, Obstacle[]] => [ticket.id, []]));
  const isKept = (waiter: Waiter, makes: Obstacle['makes'], keepers: readonly string[]): boolean => {
    const obstacle = { waiter, makes, keepers: 0 };
    for (const id of keepers) {
      const kept = id === waiter.id ? undefined : keptBy.get(id);
      if (!kept) continue; // who does not wait may go at any time
      kept.push(obstacle);
      obstacle.keepers += 1;
    }
    return obstacle.keepers > 0;
  };
  const waiters = tickets.map((ticket) => {
    const waiter = { id: ticket.id, hasConflicts: false, isFull: false };
    const conflicts = [...ticket.waitsForLeases.flatMap(heldBy), ...ticket.waitsForTickets];
    waiter.hasConflicts = isKept(waiter, 'hasConflicts', conflicts);
    const { leases = [], tickets: ahead = [] } = ticket.waitsForOneOf ?? {};
    const own = new Set(ticket.holding); // these stay while their holder waits
    const places = [...leases.filter(({ id }) => !own.has(id)).map(heldBy), ...ahead.map((id) => [id])];
    const kept = places.filter((keepers) => isKept(waiter, 'isFull', keepers));
    waiter.isFull = leases.length + ahead.length > 0 && kept.length === places.length;
    return waiter;
  });
  return { waiters, keptBy };
}

/** Which tickets' requesters hold each lease. */
function holdersOf(tickets: readonly WaitingTicket[]): Map<string, string[]> {
  const holders = new Map<string, string[]>();
  for (const ticket of tickets) {
    for (const lease of ticket.holding) {
      const known = holders.get(lease);
      if (known) known.push(ticket.id);
      else holders.set(lease, [ticket.id]);
    }
  }
  return holders;
}

function edgesOf(graph: WaitGraph): Map<string, string[]> {
  const holders = holdersOf(graph.tickets);
  const edges = new Map<string, string[]>();
  for (const ticket of graph.tickets) {
    const oneOf = ticket.waitsForOneOf ?? { leases: [], tickets: [] };
    const leases = [...ticket.waitsForLeases, ...oneOf.leases].flatMap((lease) => holders.get(lease.id) ?? []);
    const next = [...leases, ...ticket.waitsForTickets, ...oneOf.tickets];
    edges.set(
      ticket.id,
      next.filter((id) => id !== ticket.id),
    );
  }
  return edges;
}

/** Whether each ticket of `cycle` is stuck and still waits for the next, the last for the first. `graph` must be whole:
 *  whether a ticket is stuck depends on tickets outside the cycle too. */
export function cycleStands(graph: WaitGraph, cycle: readonly string[]): boolean {
  if (cycle.length < 2) return false;
  const edges = edgesOf({ tickets: stuckTickets(graph) });
  return cycle.every((id, i) => (edges.get(id) ?? []).includes(cycle[(i + 1) % cycle.length] as string));
}

export function youngest(cycle: readonly WaitingTicket[]): WaitingTicket {
  return cycle.reduce((a, b) => (b.arrival > a.arrival ? b : a));
}

/** The cycle in words a victim can be told: who waits for what, and who has it. */
export function describeCycle(cycle: readonly WaitingTicket[]): WaitStep[] {
  return cycle.map((ticket, i) => {
    const next = cycle[(i + 1) % cycle.length] as WaitingTicket;
    const wanted = [...ticket.waitsForLeases, ...(ticket.waitsForOneOf?.leases ?? [])];
    const lease = wanted.find((held) => next.holding.includes(held.id));
    return {
      ticketId: ticket.id,
      owner: ticket.owner,
      resource: lease?.resource ?? ticket.resource,
      heldBy: lease?.owner ?? next.owner,
    };
  });
}
