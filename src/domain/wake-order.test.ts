// Whom a freed name wakes: the first in order, at least one, at most 64.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyPart, exclusive, leaseRow, partsFrom, shared, ticketRow } from '../../test/support/domain-values.js';
import { anyOverlap, fits } from './conflict.js';
import type { LeaseRow } from './lease.js';
import { wakeOrder } from './wake-order.js';

const ticket = (id: string, arrival: number, changes: Partial<LeaseRow> = {}): LeaseRow =>
  ticketRow({ id, arrival, arrivedAt: arrival, parts: [exclusive('a')], ...changes });
const reader = (id: string, arrival: number): LeaseRow => ticket(id, arrival, { parts: [shared('a')] });

describe('Q3: for each freed name', () => {
  test('Q3: nobody waits, nobody is woken', () => {
    expect(wakeOrder([exclusive('a')], [], [])).toEqual([]);
    expect(wakeOrder([exclusive('b')], [ticket('first', 1)], [])).toEqual([]);
    expect(wakeOrder([], [ticket('first', 1)], [])).toEqual([]);
  });

  test('Q3: of writers the first in order alone, whatever order they are handed in', () => {
    expect(wakeOrder([exclusive('a')], [ticket('second', 2), ticket('first', 1)], [])).toEqual(['first']);
    expect(wakeOrder([exclusive('a')], [ticket('second', 40, { priority: 1 }), ticket('first', 1)], [])).toEqual([
      'second',
    ]);
  });

  test('Q3: readers up to the first writer', () => {
    const queue = [reader('one', 1), reader('two', 2), ticket('writer', 3), reader('late', 4)];
    expect(wakeOrder([exclusive('a')], queue, [])).toEqual(['one', 'two']);
    expect(wakeOrder([exclusive('a')], [ticket('writer', 0), ...queue], [])).toEqual(['writer']);
  });

  test('Q3: as many as a limit has room for', () => {
    const queue = [1, 2, 3, 4].map((i) => ticket(`place-${i}`, i, { parts: [shared('a', 3)] }));
    expect(wakeOrder([shared('a', 3)], queue, [])).toEqual(['place-1', 'place-2', 'place-3']);
    expect(wakeOrder([shared('a', 3)], queue, [leaseRow({ parts: [shared('a', 3)] })])).toEqual(['place-1', 'place-2']);
  });

  test('Q3: at least one, also when it still conflicts: a needless wake-up is harmless', () => {
    expect(
      wakeOrder([exclusive('a')], [ticket('first', 1), ticket('second', 2)], [leaseRow({ parts: [shared('a')] })]),
    ).toEqual(['first']);
  });

  test('Q3: at most 64', () => {
    const queue = Array.from({ length: 100 }, (_, i) => reader(`reader-${i}`, i));
    expect(wakeOrder([exclusive('a')], queue, [])).toEqual(queue.slice(0, 64).map((row) => row.id));
  });

  test('Q3: a freed subtree wakes those below it and those above it', () => {
    const below = [ticket('one', 1, { parts: [exclusive('a/b')] }), ticket('two', 2, { parts: [exclusive('a/c')] })];
    expect(wakeOrder([exclusive('a', 'subtree')], below, [])).toEqual(['one', 'two']);
    const above = ticket('above', 0, { parts: [exclusive('a', 'subtree')] });
    expect(wakeOrder([exclusive('a/b')], [above, ...below], [])).toEqual(['above']);
  });

  test('Q3: each freed name has its own first, and nobody is named twice', () => {
    const both = ticket('both', 2, { parts: [exclusive('a'), exclusive('b')] });
    const queue = [ticket('first', 1), both, ticket('last', 3, { parts: [exclusive('b')] })];
    expect(wakeOrder([exclusive('a'), exclusive('b')], queue, [])).toEqual(['first', 'both']);
    expect(wakeOrder([exclusive('a'), exclusive('b')], [both], [])).toEqual(['both']);
  });

  test('Q5: an upgrade does not wait for the lease it upgrades', () => {
    const mine = leaseRow({ id: 'mine', parts: [shared('a')] });
    const upgrade = ticket('upgrade', 2, { upgrades: 'mine' });
    const below = ticket('below', 1, { parts: [exclusive('a/b')] });
    expect(wakeOrder([exclusive('a', 'subtree')], [below, upgrade], [mine])).toEqual(['below', 'upgrade']);
    const another = leaseRow({ id: 'another', parts: [shared('a')] });
    expect(wakeOrder([exclusive('a', 'subtree')], [below, upgrade], [mine, another])).toEqual(['below']);
  });
});

test('Q3: on random queues: the first in order, each fitting beside those before it; on one name up to the first that does not', () => {
  const queue = fc
    .array(fc.record({ parts: partsFrom(anyPart), arrivedAt: fc.nat(5), priority: fc.nat(1) }), { maxLength: 8 })
    .map((rows) => rows.map((row, i) => ticketRow({ ...row, id: `row-${i}`, arrival: i })));
  const leases = fc.array(partsFrom(anyPart), { maxLength: 3 }).map((all) => all.map((parts) => leaseRow({ parts })));
  fc.assert(
    fc.property(anyPart, queue, leases, (freed, tickets, held) => {
      const rank = (row: LeaseRow): number => row.arrivedAt - row.priority * 30_000;
      const here = tickets
        .filter((row) => anyOverlap(row.parts, [freed]))
        .sort((a, b) => rank(a) - rank(b) || a.arrival - b.arrival);
      const woken = wakeOrder([freed], tickets, held);
      expect(woken.length >= 1 || here.length === 0).toBe(true);
      const near = held.filter((row) => anyOverlap(row.parts, [freed]));
      const fitting = here.filter((row, i) => i === 0 || fits(row.parts, [...near, ...here.slice(0, i)]));
      const firstMiss = here.findIndex((row) => !fitting.includes(row));
      const reached = freed.scope === 'node' && firstMiss !== -1 ? here.slice(0, firstMiss) : fitting;
      expect(woken).toEqual(reached.map((row) => row.id));
    }),
    { numRuns: 1_000 },
  );
});
