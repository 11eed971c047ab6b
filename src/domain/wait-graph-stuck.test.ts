// Which tickets are stuck: what the counting finds is what letting go one by one finds, full limits included, and a long queue
// is read a few times and not once for each that leaves.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lease, ticket } from '../../test/support/waiting-tickets.js';
import { cycleStands, findCycles, type WaitedLease, type WaitGraph, type WaitingTicket } from './wait-graph.js';

const some = (highest: number) => fc.array(fc.nat(highest), { maxLength: 2 }); // the same one twice, too
const leases = (numbers: readonly number[]) => numbers.map((n) => lease(`lease-${n}`));
const nodes = (numbers: readonly number[]) => numbers.map((n) => `node-${n}`);

// Some point at themselves, and at tickets and leases that nobody here has.
const limitedGraph: fc.Arbitrary<WaitGraph> = fc
  .array(
    fc.record({
      holding: fc.uniqueArray(fc.nat(5), { maxLength: 2 }),
      waitsForLeases: some(6),
      waitsForTickets: some(7),
      oneOf: fc.option(fc.record({ leases: some(6), tickets: some(7) }), { nil: undefined }),
    }),
    { maxLength: 7 },
  )
  .map((rows) => ({
    tickets: rows.map(({ oneOf, ...row }, i) =>
      ticket(`node-${i}`, {
        holding: row.holding.map((n) => `lease-${n}`),
        waitsForLeases: leases(row.waitsForLeases),
        waitsForTickets: nodes(row.waitsForTickets),
        ...(oneOf && { waitsForOneOf: { leases: leases(oneOf.leases), tickets: nodes(oneOf.tickets) } }),
      }),
    ),
  }));

/** The rule as it is told: look at everybody again whenever one has gone. */
function plainlyStuck({ tickets }: WaitGraph): WaitingTicket[] {
  const free = tickets.find((one) => !isStuckAmong(one, tickets));
  return free ? plainlyStuck({ tickets: tickets.filter((one) => one !== free) }) : [...tickets];
}

function isStuckAmong(one: WaitingTicket, tickets: readonly WaitingTicket[]): boolean {
  const others = tickets.filter((other) => other !== one);
  const isQueued = (id: string): boolean => others.some((other) => other.id === id);
  const isHeld = ({ id }: WaitedLease): boolean => others.some(({ holding }) => holding.includes(id));
  if (one.waitsForTickets.some(isQueued) || one.waitsForLeases.some(isHeld)) return true;
  const places = one.waitsForOneOf ?? { leases: [], tickets: [] };
  if (places.leases.length + places.tickets.length === 0) return false;
  return places.tickets.every(isQueued) && places.leases.every((at) => one.holding.includes(at.id) || isHeld(at));
}

function waitsFor(a: WaitingTicket, b: WaitingTicket): boolean {
  const wanted = [...a.waitsForLeases, ...(a.waitsForOneOf?.leases ?? [])];
  const ahead = [...a.waitsForTickets, ...(a.waitsForOneOf?.tickets ?? [])];
  return a !== b && (ahead.includes(b.id) || wanted.some(({ id }) => b.holding.includes(id)));
}

const isRing = (cycle: readonly WaitingTicket[]): boolean =>
  cycle.length >= 2 && cycle.every((one, i) => waitsFor(one, cycle[(i + 1) % cycle.length]!));

function canReach(from: WaitingTicket, to: WaitingTicket, tickets: readonly WaitingTicket[]): boolean {
  const seen = new Set<WaitingTicket>();
  const todo = [from];
  for (let one = todo.pop(); one; one = todo.pop()) {
    for (const next of tickets.filter((other) => waitsFor(one, other) && !seen.has(other))) {
      seen.add(next);
      todo.push(next);
    }
  }
  return seen.has(to);
}

test('Q4: a cycle is found if and only if there is one among those that are stuck by the plain rule', () => {
  fc.assert(
    fc.property(limitedGraph, (graph) => {
      const stuck = plainlyStuck(graph);
      const found = findCycles(graph);
      expect(found.length > 0).toBe(stuck.some((one) => canReach(one, one, stuck)));
      for (const cycle of found) expect(isRing(cycle) && cycle.every((one) => stuck.includes(one))).toBe(true);
    }),
    { numRuns: 5_000 },
  );
});

test("Q4: two stand in each other's way if and only if both are stuck by the plain rule", () => {
  fc.assert(
    fc.property(limitedGraph, (graph) => {
      const stuck = plainlyStuck(graph);
      for (const a of graph.tickets)
        for (const b of graph.tickets)
          expect(cycleStands(graph, [a.id, b.id])).toBe(isRing([a, b]) && stuck.includes(a) && stuck.includes(b));
    }),
    { numRuns: 3_000 },
  );
});

const LONG = 1_000;
const EDGES = (LONG * (LONG - 1)) / 2;

/** A queue in which each waits for all ahead, and how often a place ahead was read. Far too many reads end it at once. */
function longQueue(waiting: (ahead: readonly string[]) => Partial<WaitingTicket>): { graph: WaitGraph; reads: number } {
  const counted = {
    reads: 0,
    graph: {
      tickets: Array.from({ length: LONG }, (_, i) => {
        const ahead = Array.from({ length: i }, (_unused, n) => `node-${n}`);
        return ticket(`node-${i}`, waiting(new Proxy(ahead, { get: read })));
      }),
    },
  };
  function read(ahead: string[], key: string | symbol): unknown {
    if (typeof key === 'string' && /^\d/.test(key)) counted.reads += 1;
    if (counted.reads > 10 * EDGES) throw new Error(`${counted.reads} reads of ${EDGES} edges`);
    return Reflect.get(ahead, key);
  }
  return counted;
}

test.each([
  ['wait for all ahead', (ahead: readonly string[]) => ({ waitsForTickets: ahead })],
  ['wait for one of those ahead', (tickets: readonly string[]) => ({ waitsForOneOf: { leases: [], tickets } })],
])('Q4, S18, S20: a thousand that %s: each edge is read a few times at most', (_what, waiting) => {
  const queue = longQueue(waiting);
  expect(findCycles(queue.graph)).toEqual([]);
  expect(cycleStands(queue.graph, ['node-0', 'node-1'])).toBe(false);
  expect(queue.reads).toBeLessThanOrEqual(4 * EDGES);
});
