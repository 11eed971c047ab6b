// Q4 where limits and upgrades meet it: a full limit is a wait for one of its holders, not for all of them; only what
// one's own leases block by themselves can never be waited for. Q3 where a subtree is freed.
import assert from 'node:assert/strict';
import { findCycles } from '../../../domain/wait-graph.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome } from '../context.js';
import { node, shared, subtree } from '../parts.js';

export const limitsAndDeadlock: readonly ConformanceCase[] = [
  {
    tags: ['Q4'],
    title: 'a wait on a full limit is no deadlock while a holder is outside, and is one when all its holders wait too',
    run: async ({ grant, queue, acquire, record, store }) => {
      const pool = [shared('sem', 2)];
      const a = await grant({ parts: pool, owner: 'a' });
      const c = await grant({ parts: pool, owner: 'c' });
      const x = await grant({ name: 'x', owner: 'b' });
      const first = await queue({ name: 'x', owner: 'a', holding: [a.id] });
      const second = await queue({ parts: pool, owner: 'b', holding: [x.id] });
      const cycle = [first.id, second.id];
      assert.deepEqual(findCycles(await store.waitGraph()), [], 'c may yet give its place back');
      for (const id of cycle) assert.equal((await store.failTicket({ id, cycle })).outcome, 'gone');
      for (const id of cycle) assert.equal((await record(id)).status, 'pending', 'an innocent ticket goes on waiting');

      await queue({ name: 'x', owner: 'c', holding: [c.id] });
      const found = findCycles(await store.waitGraph());
      assert.equal(found.length, 1, 'now nobody can go on');
      assert.ok(
        found[0]?.some(({ id }) => id === second.id),
        'every way round goes through the one that has x',
      );
      assert.equal((await store.failTicket({ id: second.id, cycle })).outcome, 'failed');
      const told = expectOutcome(await acquire(second), 'deadlock').cycle;
      assert.deepEqual(
        told.map(({ ticketId, owner, resource, heldBy }) => [ticketId, owner, resource, heldBy]),
        [
          [first.id, 'a', 'x', 'b'],
          [second.id, 'b', 'sem', 'a'],
        ],
      );
      assert.deepEqual(findCycles(await store.waitGraph()), []);
    },
  },
  {
    tags: ['Q4'],
    title: 'held_by_self only where one blocks oneself alone: a limit that others fill too may be waited for',
    run: async ({ grant, queue, refuse, release, acquire }) => {
      const pool = [shared('sem', 3)];
      const own = await grant({ parts: pool, owner: 'a' });
      const other = await grant({ parts: pool, owner: 'b' });
      await grant({ parts: pool, owner: 'b' });
      assert.equal((await refuse({ parts: pool, owner: 'a', holding: [own.id] })).reason, 'limit');
      const waiting = await queue({ parts: pool, owner: 'a', holding: [own.id] });
      await release(other);
      assert.notEqual(expectOutcome(await acquire(waiting), 'granted').lease.id, own.id);
      const alone = await grant({ parts: [shared('one', 1)], owner: 'a' });
      const refusal = await refuse({ parts: [shared('one', 1)], owner: 'a', holding: [alone.id], join: true });
      assert.equal(refusal.reason, 'held_by_self');
    },
  },
  {
    tags: ['Q4', 'Q5'],
    title: 'a second upgrade of the same lease is a deadlock at once; the first gets it',
    run: async ({ ask, grant, acquire, release, record }) => {
      const lease = await grant({ parts: [shared('file')], owner: 'one' });
      const other = await grant({ parts: [shared('file')], owner: 'two' });
      const upgrade = () =>
        ask({ parts: [node('file')], owner: 'one', upgrades: { id: lease.id, epoch: lease.epoch }, join: true });
      const [first, second] = [await upgrade(), await upgrade()];
      expectOutcome(await acquire(first), 'queued');
      const { cycle } = expectOutcome(await acquire(second), 'deadlock');
      assert.deepEqual(
        cycle.map(({ ticketId }) => ticketId),
        [second.id, first.id],
      );
      assert.deepEqual(await record(lease.id), lease);
      await release(other);
      const upgraded = expectOutcome(await acquire(first), 'granted').lease;
      assert.deepEqual([upgraded.id, upgraded.parts], [lease.id, [node('file')]]);
    },
  },
  {
    tags: ['Q3'],
    title: 'the release of a subtree wakes the first waiter of each name below it',
    needs: { wakeUps: true },
    run: async ({ grant, release, anotherClient, hint }) => {
      const waiter = await anotherClient();
      const woken = new Set<string>();
      waiter.store.subscribe({ wake: (ids) => ids.forEach((id) => woken.add(id)) });
      const tree = await grant({ parts: [subtree('a')] });
      const first = await waiter.queue('a/1');
      await waiter.queue('a/1');
      const elsewhere = await waiter.queue('a/2');
      await release(tree);
      await hint('the first on a/1 is woken', () => woken.has(first.id));
      await hint('the first on a/2 is woken', () => woken.has(elsewhere.id));
      for (const ticket of [first, elsewhere]) expectOutcome(await waiter.acquire(ticket), 'granted');
    },
  },
];
