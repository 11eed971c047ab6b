// Q4: a wait that could never end is refused in the step that would begin it, or found in the wait-for graph; failing a
// ticket first checks that the whole cycle still stands; the victim is told the cycle and keeps its leases.
import assert from 'node:assert/strict';
import type { Lease } from '../../../domain/lease.js';
import type { AcquireRequest } from '../../../domain/requests.js';
import { findCycles, youngest } from '../../../domain/wait-graph.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome, type CaseContext } from '../context.js';
import { node, shared, subtree } from '../parts.js';

interface Circle {
  readonly leases: Lease[];
  /** Ticket i waits for lease i + 1, and its requester holds lease i. */
  readonly tickets: AcquireRequest[];
  readonly cycle: string[];
}

async function circle({ grant, queue }: CaseContext, size: number): Promise<Circle> {
  const leases: Lease[] = [];
  for (let i = 0; i < size; i += 1) leases.push(await grant({ name: `r${i}`, owner: `o${i}` }));
  const tickets: AcquireRequest[] = [];
  for (const [i, lease] of leases.entries()) {
    tickets.push(await queue({ name: `r${(i + 1) % size}`, owner: lease.owner, holding: [lease.id] }));
  }
  return { leases, tickets, cycle: tickets.map(({ id }) => id) };
}

export const deadlock: readonly ConformanceCase[] = [
  {
    tags: ['Q4'],
    title: 'waiting for a lease one holds oneself is refused at once: held_by_self',
    run: async ({ grant, refuse, queue, store }) => {
      const tree = await grant({ parts: [subtree('a')] });
      const reader = await grant({ parts: [shared('b')] });
      for (const join of [false, true]) {
        for (const [lease, part] of [
          [tree, node('a/x')],
          [reader, node('b')],
        ] as const) {
          const refusal = await refuse({ parts: [part], holding: [lease.id], join });
          assert.equal(refusal.reason, 'held_by_self');
          assert.deepEqual(refusal.holders[0]?.id, lease.id);
        }
      }
      assert.deepEqual((await store.waitGraph()).tickets, []);
      await queue({ name: 'a/x' });
    },
  },
  {
    tags: ['Q4', 'Q5'],
    title: 'a second upgrade of one resource is a deadlock at once; the first goes on waiting and gets it',
    run: async ({ ask, grant, acquire, release, record }) => {
      const first = await grant({ parts: [shared('file')], owner: 'one' });
      const second = await grant({ parts: [shared('file')], owner: 'two' });
      const upgrade = (lease: Lease, join: boolean) =>
        ask({ parts: [node('file')], owner: lease.owner, upgrades: { id: lease.id, epoch: lease.epoch }, join });
      const waiting = await upgrade(first, true);
      expectOutcome(await acquire(waiting), 'queued');
      const rival = await upgrade(second, true);
      for (let i = 0; i < 2; i += 1) {
        const { cycle } = expectOutcome(await acquire(rival), 'deadlock');
        assert.deepEqual(
          cycle.map(({ owner, resource, heldBy }) => [owner, resource, heldBy]),
          [
            ['two', 'file', 'one'],
            ['one', 'file', 'two'],
          ],
        );
      }
      expectOutcome(await acquire(await upgrade(second, false)), 'refused');
      assert.deepEqual(await record(second.id), second, 'the one refused keeps its lease');
      expectOutcome(await acquire(waiting), 'queued');
      await release(second);
      assert.equal(expectOutcome(await acquire(waiting), 'granted').lease.id, first.id);
    },
  },
  {
    tags: ['Q4'],
    title: 'the wait-for graph tells who waits for what, and what the waiter holds',
    run: async ({ grant, queue, store, passTime }) => {
      const a = await grant({ name: 'a', owner: 'holder' });
      const own = await grant({ name: 'own', owner: 'first' });
      const first = await queue({ name: 'a', owner: 'first', holding: [own.id] });
      await passTime(5);
      const second = await queue({ parts: [node('a'), node('b')], owner: 'second' });
      const { tickets } = await store.waitGraph();
      assert.deepEqual(
        tickets.map(({ arrival: _, ...rest }) => rest),
        [
          {
            id: first.id,
            owner: 'first',
            resource: 'a',
            holding: [own.id],
            waitsForLeases: [{ id: a.id, owner: 'holder', resource: 'a' }],
            waitsForTickets: [],
          },
          {
            id: second.id,
            owner: 'second',
            resource: 'a',
            holding: [],
            waitsForLeases: [{ id: a.id, owner: 'holder', resource: 'a' }],
            waitsForTickets: [first.id],
          },
        ],
      );
      assert.ok((tickets[1]?.arrival ?? 0) > (tickets[0]?.arrival ?? 0), 'arrival grows');
    },
  },
  ...[2, 3, 5].map((size): ConformanceCase => ({
    tags: ['Q4', 'H2'],
    title: `a cycle of ${size}: the youngest ticket is failed, is told the cycle, and keeps its lease`,
    run: async (context) => {
      const { acquire, release, record, cancel, events, store } = context;
      const { leases, tickets, cycle } = await circle(context, size);
      const found = findCycles(await store.waitGraph());
      assert.deepEqual(
        found.map((one) => one.map(({ id }) => id).sort()),
        [[...cycle].sort()],
      );
      const victim = tickets.at(-1) as AcquireRequest;
      assert.equal(youngest(found[0] ?? []).id, victim.id);
      assert.equal((await store.failTicket({ id: victim.id, cycle })).outcome, 'failed');
      const told = expectOutcome(await acquire(victim), 'deadlock');
      assert.deepEqual(
        told.cycle,
        tickets.map(({ id, owner }, i) => ({
          ticketId: id,
          owner,
          resource: `r${(i + 1) % size}`,
          heldBy: `o${(i + 1) % size}`,
        })),
      );
      const ended = await record(victim.id);
      assert.deepEqual([ended.status, ended.reason], ['failed', 'deadlock']);
      expectOutcome(await cancel(victim.id), 'left');
      const rows = await events({ type: 'deadlock.detected' });
      assert.deepEqual(
        rows.map(({ leaseId, from, to }) => [leaseId, from, to]),
        [[victim.id, 'pending', 'failed']],
      );
      const kept = leases.at(-1) as Lease;
      assert.equal((await record(kept.id)).status, 'active', 'the victim keeps its lease');
      assert.deepEqual(findCycles(await store.waitGraph()), []);
      await release(kept);
      expectOutcome(await acquire(tickets[size - 2] as AcquireRequest), 'granted');
    },
  })),
  {
    tags: ['Q4'],
    title: 'failTicket does nothing unless the whole cycle still stands',
    run: async (context) => {
      const { acquire, release, record, newId, events, store } = context;
      const { leases, tickets, cycle } = await circle(context, 3);
      const [first, second, third] = cycle as [string, string, string];
      const gone = async (id: string, order: string[]): Promise<void> => {
        assert.equal((await store.failTicket({ id, cycle: order })).outcome, 'gone', JSON.stringify(order));
      };
      const before = await events();
      await gone(third, []);
      await gone(third, [third]);
      await gone(third, [first, third]);
      await gone(third, [third, second, first]);
      await gone(newId(), [first, second, third]);
      await gone(third, [first, newId(), third]);
      assert.deepEqual(await events(), before, 'nothing was changed');
      await release(leases[1] as Lease);
      await gone(third, [first, second, third]);
      for (const ticket of tickets.slice(1)) expectOutcome(await acquire(ticket), 'queued');
      expectOutcome(await acquire(tickets[0] as AcquireRequest), 'granted');
      assert.equal((await record(third)).status, 'pending');
    },
  },
  {
    tags: ['Q4', 'S9'],
    title: 'failTicket does nothing when a waiter of the cycle has left, and nothing when it is repeated',
    run: async (context) => {
      const { cancel, events, store } = context;
      const { cycle } = await circle(context, 2);
      await cancel(cycle[0] as string);
      assert.equal((await store.failTicket({ id: cycle[1] as string, cycle })).outcome, 'gone');
      const other = await circleElsewhere(context);
      assert.equal((await store.failTicket({ id: other[1] as string, cycle: other })).outcome, 'failed');
      assert.equal((await store.failTicket({ id: other[1] as string, cycle: other })).outcome, 'gone');
      assert.equal((await events({ type: 'deadlock.detected' })).length, 1);
    },
  },
  {
    tags: ['Q4', 'Q1'],
    title: 'a cycle through a place in the queue is found and stands as one',
    run: async ({ grant, queue, store }) => {
      const x = await grant({ name: 'x', owner: 'a' });
      const z = await grant({ name: 'z', owner: 'c' });
      const middle = await queue({ parts: [node('y'), node('z')], owner: 'b' });
      const first = await queue({ name: 'y', owner: 'a', holding: [x.id] });
      const last = await queue({ name: 'x', owner: 'c', holding: [z.id] });
      const cycle = [first.id, middle.id, last.id];
      const found = findCycles(await store.waitGraph());
      assert.deepEqual(
        found.map((one) => one.map(({ id }) => id).sort()),
        [[...cycle].sort()],
      );
      assert.equal((await store.failTicket({ id: last.id, cycle })).outcome, 'failed');
    },
  },
];

/** A cycle of two on names of its own. */
async function circleElsewhere({ grant, queue }: CaseContext): Promise<string[]> {
  const a = await grant({ name: 'other/a', owner: 'p' });
  const b = await grant({ name: 'other/b', owner: 'q' });
  const first = await queue({ name: 'other/b', owner: 'p', holding: [a.id] });
  const second = await queue({ name: 'other/a', owner: 'q', holding: [b.id] });
  return [first.id, second.id];
}
