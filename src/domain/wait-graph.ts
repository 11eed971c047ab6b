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

/** What is left when every ticket that somebody may yet let through has been let through, again and again. Whenever one
 *  goes, only those that waited for it are looked at again: long queues cost by their edges, not by their square. */
function stuckTickets(graph: WaitGraph): WaitingTicket[] {
  const holders = holdersOf(graph.tickets);
  const stuck = new Set(graph.tickets.map((ticket) => ticket.id));
  const waiters = waitersOf(graph);
  const todo = [...graph.tickets];
  for (let ticket = todo.pop(); ticket; ticket = todo.pop()) {
    if (!stuck.has(ticket.id) || isStuck(ticket, holders, stuck)) continue;
    stuck.delete(ticket.id);
    todo.push(...(waiters.get(ticket.id) ?? []));
  }
  return graph.tickets.filter((ticket) => stuck.has(ticket.id));
}

/** For each ticket, those that wait for it or for what its requester holds. */
function waitersOf(graph: WaitGraph): Map<string, WaitingTicket[]> {
  const byId = new Map(graph.tickets.map((ticket) => [ticket.id, ticket]));
  const waiters = new Map<string, WaitingTicket[]>();
  for (const [from, targets] of edgesOf(graph)) {
    const waiter = byId.get(from) as WaitingTicket;
    for (const target of targets) {
      const known = waiters.get(target);
      if (known) known.push(waiter);
      else waiters.set(target, [waiter]);
    }
  }
  return waiters;
}

type Holders = ReadonlyMap<string, readonly string[]>;

function isStuck(ticket: WaitingTicket, holders: Holders, stuck: ReadonlySet<string>): boolean {
  const isQueued = (id: string): boolean => id !== ticket.id && stuck.has(id);
  const isHeld = ({ id }: WaitedLease): boolean => (holders.get(id) ?? []).some(isQueued);
  if (ticket.waitsForLeases.some(isHeld) || ticket.waitsForTickets.some(isQueued)) return true;
  const { leases = [], tickets = [] } = ticket.waitsForOneOf ?? {};
  const isOwn = ({ id }: WaitedLease): boolean => ticket.holding.includes(id); // it stays while its holder waits
  return (
    leases.length + tickets.length > 0 &&
    leases.every((lease) => isOwn(lease) || isHeld(lease)) &&
    tickets.every(isQueued)
  );
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
