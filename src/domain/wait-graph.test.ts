// The wait-for graph: a cycle is found if and only if there is one, compared with plain reachability, and queues of any
// depth are walked without recursion.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lease, ticket } from '../../test/support/waiting-tickets.js';
import { cycleStands, describeCycle, findCycles, youngest, type WaitGraph, type WaitingTicket } from './wait-graph.js';

/** Each waits for the lease the next one holds; closed, the last waits for the first. */
function chain(length: number, closed: boolean): WaitGraph {
  const tickets = Array.from({ length }, (_, i) => {
    const next = closed ? (i + 1) % length : i + 1;
    return ticket(`node-${i}`, { arrival: i, holding: [`lease-${i}`], waitsForLeases: [lease(`lease-${next}`)] });
  });
  return { tickets };
}

// Small random graphs, with edges of both kinds; some point at tickets or leases that nobody here has.
const randomGraph: fc.Arbitrary<WaitGraph> = fc
  .array(
    fc.record({
      holding: fc.uniqueArray(fc.nat(5), { maxLength: 2 }),
      waitsForLeases: fc.uniqueArray(fc.nat(5), { maxLength: 2 }),
      waitsForTickets: fc.uniqueArray(fc.nat(8), { maxLength: 2 }),
      arrival: fc.nat(100),
    }),
    { maxLength: 7 },
  )
  .map((rows) => ({
    tickets: rows.map((row, i) =>
      ticket(`node-${i}`, {
        arrival: row.arrival,
        holding: row.holding.map((n) => `lease-${n}`),
        waitsForLeases: row.waitsForLeases.map((n) => lease(`lease-${n}`)),
        waitsForTickets: row.waitsForTickets.map((n) => `node-${n}`),
      }),
    ),
  }));

function waitsFor(a: WaitingTicket, b: WaitingTicket): boolean {
  if (a === b) return false;
  return a.waitsForTickets.includes(b.id) || a.waitsForLeases.some((wanted) => b.holding.includes(wanted.id));
}

function reaches(graph: WaitGraph): boolean[][] {
  const paths = graph.tickets.map((a) => graph.tickets.map((b) => waitsFor(a, b)));
  const all = graph.tickets.map((_, i) => i);
  for (const k of all) for (const i of all) for (const j of all) paths[i]![j] ||= paths[i]![k]! && paths[k]![j]!;
  return paths;
}

describe('Q4: cycles', () => {
  test('Q4: two that hold what the other wants', () => {
    const graph = chain(2, true);
    expect(findCycles(graph).map((cycle) => cycle.map((one) => one.id))).toEqual([['node-0', 'node-1']]);
  });

  test('Q4: a ticket ahead is waited for like a lease', () => {
    const holder = ticket('holder', { holding: ['lease-0'], waitsForTickets: ['queued'] });
    const queued = ticket('queued', { waitsForLeases: [lease('lease-0')] });
    expect(findCycles({ tickets: [holder, queued] })).toHaveLength(1);
  });

  test('Q4: an ordinary queue, a chain and a ring cut open are none', () => {
    const queue = [0, 1, 2].map((i) =>
      ticket(`node-${i}`, {
        waitsForLeases: [lease('lease')],
        waitsForTickets: [0, 1, 2].filter((n) => n < i).map((n) => `node-${n}`),
      }),
    );
    expect(findCycles({ tickets: queue })).toEqual([]);
    expect(findCycles(chain(5, false))).toEqual([]);
    expect(findCycles({ tickets: [] })).toEqual([]);
  });

  test('Q4: waiting for what one holds oneself is refused elsewhere and is no cycle of tickets', () => {
    expect(
      findCycles({
        tickets: [ticket('self', { holding: ['x'], waitsForLeases: [lease('x')], waitsForTickets: ['self'] })],
      }),
    ).toEqual([]);
  });

  test('Q4: two rings are both found', () => {
    const renamed = (graph: WaitGraph): WaitingTicket[] =>
      graph.tickets.map((one) =>
        ticket(`other-${one.id}`, {
          holding: one.holding.map((id) => `other-${id}`),
          waitsForLeases: one.waitsForLeases.map((wanted) => lease(`other-${wanted.id}`)),
        }),
      );
    const graph = chain(3, true);
    expect(findCycles({ tickets: [...graph.tickets, ...renamed(graph)] })).toHaveLength(2);
  });

  test('Q4: one is found if and only if some ticket reaches itself, and what is found is one', () => {
    fc.assert(
      fc.property(randomGraph, (graph) => {
        const exists = reaches(graph).some((row, i) => row[i]);
        const cycles = findCycles(graph);
        expect(cycles.length > 0).toBe(exists);
        for (const cycle of cycles) {
          expect(cycle.length).toBeGreaterThanOrEqual(2);
          expect(cycle.every((one, i) => waitsFor(one, cycle[(i + 1) % cycle.length]!))).toBe(true);
        }
        const members = cycles.flat();
        expect(new Set(members).size).toBe(members.length);
      }),
      { numRuns: 3_000 },
    );
  });

  test('Q4: when the youngest of every cycle found gives up, again and again, none is left', () => {
    fc.assert(
      fc.property(randomGraph, (graph) => {
        let { tickets } = graph;
        for (let found = findCycles({ tickets }); found.length > 0; found = findCycles({ tickets })) {
          const victims = new Set(found.map(youngest));
          tickets = tickets.filter((one) => !victims.has(one));
        }
        expect(reaches({ tickets }).some((row, i) => row[i])).toBe(false);
      }),
    );
  });

  test('Q4: ten thousand deep, open and closed, without running out of stack', () => {
    expect(findCycles(chain(10_000, false))).toEqual([]);
    const graph = chain(10_000, true);
    const cycles = findCycles(graph);
    expect(cycles.map((cycle) => cycle.length)).toEqual([10_000]);
    expect(
      cycleStands(
        graph,
        cycles[0]!.map((one) => one.id),
      ),
    ).toBe(true);
  });
});

describe('Q4: whether a cycle still stands', () => {
  const graph = chain(3, true);

  test.each([
    ['as it was found', ['node-0', 'node-1', 'node-2'], true],
    ['from another start', ['node-2', 'node-0', 'node-1'], true],
    ['the wrong way round', ['node-2', 'node-1', 'node-0'], false],
    ['with one missing', ['node-0', 'node-1'], false],
    ['with a stranger', ['node-0', 'node-1', 'node-2', 'gone'], false],
    ['of one', ['node-0'], false],
    ['of none', [], false],
  ])('%s: %j: %s', (_what, cycle, stands) => {
    expect(cycleStands(graph, cycle)).toBe(stands);
  });

  test('Q4: it does not when one of them has left, or no longer waits', () => {
    const ids = ['node-0', 'node-1', 'node-2'];
    expect(cycleStands({ tickets: graph.tickets.slice(1) }, ids)).toBe(false);
    const freed = graph.tickets.map((one, i) => (i === 1 ? { ...one, waitsForLeases: [] } : one));
    expect(cycleStands({ tickets: freed }, ids)).toBe(false);
  });

  test('Q4: any sequence stands if and only if each waits for the next', () => {
    fc.assert(
      fc.property(randomGraph, fc.array(fc.nat(7), { maxLength: 5 }), (random, order) => {
        const found = order.flatMap((i) => random.tickets[i] ?? []);
        const expected = found.length >= 2 && found.every((one, i) => waitsFor(one, found[(i + 1) % found.length]!));
        expect(
          cycleStands(
            random,
            found.map((one) => one.id),
          ),
        ).toBe(expected);
      }),
      { numRuns: 1_000 },
    );
  });
});

test('Q4: the youngest is the last to have arrived', () => {
  const cycle = [ticket('a', { arrival: 5 }), ticket('b', { arrival: 9 }), ticket('c', { arrival: 7 })];
  expect(youngest(cycle).id).toBe('b');
});

test('Q4: the victim is told who waits for what, and who has it', () => {
  const holder = ticket('holder', { holding: ['lease-0'], waitsForTickets: ['queued'] });
  const queued = ticket('queued', { waitsForLeases: [lease('lease-9'), lease('lease-0')] });
  expect(describeCycle([holder, queued])).toEqual([
    { ticketId: 'holder', owner: 'owner of holder', resource: 'wanted by holder', heldBy: 'owner of queued' },
    { ticketId: 'queued', owner: 'owner of queued', resource: 'name of lease-0', heldBy: 'holder of lease-0' },
  ]);
});

describe('Q4: a full limit', () => {
  const full = (...ids: string[]) => ({ leases: ids.map(lease), tickets: [] });

  test('is no deadlock while one of its places may yet be given back', () => {
    const graph: WaitGraph = {
      tickets: [
        ticket('a', { holding: ['lease-a'], waitsForOneOf: full('lease-b', 'lease-of-nobody-here') }),
        ticket('b', { holding: ['lease-b'], waitsForLeases: [lease('lease-a')] }),
      ],
    };
    expect(findCycles(graph)).toEqual([]);
    expect(cycleStands(graph, ['a', 'b'])).toBe(false);
  });

  test('is one when every place is with somebody who waits, the waiter itself included', () => {
    const graph: WaitGraph = {
      tickets: [
        ticket('a', { holding: ['lease-a', 'place-1'], waitsForOneOf: full('place-1', 'place-2') }),
        ticket('b', { arrival: 1, holding: ['place-2'], waitsForLeases: [lease('lease-a')] }),
      ],
    };
    expect(findCycles(graph).map((cycle) => youngest(cycle).id)).toEqual(['b']);
    expect(cycleStands(graph, ['a', 'b'])).toBe(true);
  });
});
