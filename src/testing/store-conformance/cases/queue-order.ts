// Q1: the one rule of the queue. Order is arrival − priority × 30 s; nobody overtakes; a grant is made only by its own
// request; tickets that wait for what the request holds are passed over.
import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome } from '../context.js';
import { node, shared, subtree } from '../parts.js';

export const queueOrder: readonly ConformanceCase[] = [
  {
    tags: ['Q1'],
    title: 'waiters are served in the order they came, and a grant is made only by its own request',
    run: async ({ grant, queue, acquire, release, store }) => {
      let held = await grant('orders/0');
      const waiters = [await queue('orders/0'), await queue('orders/0'), await queue('orders/0')];
      while (waiters.length > 0) {
        await release(held);
        const active = await store.list({ status: 'active', limit: 10 });
        assert.deepEqual(active.items, [], 'a release grants nothing by itself');
        for (const [ahead, waiter] of waiters.entries()) {
          if (ahead === 0) continue;
          const { place, refusal } = expectOutcome(await acquire(waiter), 'queued');
          assert.deepEqual([place, refusal.queueLength, refusal.reason], [ahead + 1, ahead, 'queue']);
        }
        held = await grant(waiters.shift() as (typeof waiters)[0]);
      }
    },
  },
  {
    tags: ['Q1', 'S8'],
    title: 'a ticket becomes the lease of the same id; its time counts from the claim',
    run: async ({ grant, queue, release, passTime, record, lastNow }) => {
      const held = await grant('orders/0');
      const ticket = await queue('orders/0');
      const pending = await record(ticket.id);
      assert.deepEqual([pending.status, pending.epoch, pending.acquiredAt], ['pending', 0, lastNow()]);
      await release(held);
      await passTime(50);
      const lease = await grant(ticket);
      assert.equal(lease.id, ticket.id);
      assert.deepEqual([lease.acquiredAt, lease.expiresAt], [lastNow(), lastNow() + ticket.ttlMs]);
      assert.ok(lease.epoch > held.epoch);
    },
  },
  {
    tags: ['Q1'],
    title: 'nobody overtakes: what is free but waited for is refused to a newcomer, with reason queue',
    run: async ({ grant, queue, refuse, acquire, release, record, lastNow }) => {
      const held = await grant('orders/0');
      const ticket = await queue('orders/0');
      await release(held);
      const refusal = await refuse('orders/0');
      assert.deepEqual([refusal.reason, refusal.queueLength, refusal.holderCount], ['queue', 1, 0]);
      assert.equal(refusal.retryAfterMs, (await record(ticket.id)).expiresAt - lastNow());
      const joined = expectOutcome(await acquire({ name: 'orders/0', join: true }), 'queued');
      assert.equal(joined.place, 2);
      await grant(ticket);
    },
  },
  {
    tags: ['Q1', 'S21', 'S8'],
    title: 'a crowd that asks in one list is answered as if it had asked one by one',
    run: async ({ ask, grant, queue, release, acquire, record, store }) => {
      const held = await grant('orders/0');
      const [first, second, third] = [await queue('orders/0'), await queue('orders/0'), await queue('orders/0')];
      const others = [];
      for (let i = 0; i < 17; i += 1) others.push(await queue('orders/0'));
      await release(held);
      const late = await ask({ name: 'orders/0', join: true });
      const hasty = await ask('orders/0');
      const { results } = await store.acquire([second, third, first, late, ...others, hasty, late]);
      const places = results.map((result) => (result.outcome === 'queued' ? result.place : result.outcome));
      const from3 = others.map((_, i) => 3 + i);
      assert.deepEqual(places, [2, 3, 'granted', 20, ...from3, 'refused', 20]);
      const taken = await record(first.id);
      const [no] = results.flatMap((result) => (result.outcome === 'refused' ? [result.refusal] : []));
      assert.deepEqual([no?.reason, no?.holders[0]?.id, no?.queueLength], ['held', first.id, 20]);
      await release(taken);
      expectOutcome(await acquire(third), 'queued');
      await grant(second);
    },
  },
  {
    tags: ['Q1'],
    title: 'priority: a step is worth half a minute of waiting',
    run: async ({ grant, queue, acquire, release }) => {
      const held = await grant('orders/0');
      const normal = await queue('orders/0');
      const urgent = await queue({ name: 'orders/0', priority: 1 });
      const patient = await queue({ name: 'orders/0', priority: -1 });
      const second = await queue('orders/0');
      const places = [];
      for (const one of [urgent, normal, second, patient]) {
        places.push(expectOutcome(await acquire(one), 'queued').place);
      }
      assert.deepEqual(places, [1, 2, 3, 4]);
      await release(held);
      for (const one of [urgent, normal, second, patient]) await release(await grant(one));
    },
  },
  {
    tags: ['Q1'],
    title: 'priority never starves: after 30 s of waiting one step more does not overtake',
    needs: { passMs: 32_000 },
    run: async ({ grant, queue, acquire, passTime }) => {
      await grant({ name: 'orders/0', ttlMs: 600_000 });
      const old = await queue('orders/0');
      for (let i = 0; i < 4; i += 1) {
        await passTime(8_000);
        expectOutcome(await acquire(old), 'queued');
      }
      const urgent = await queue({ name: 'orders/0', priority: 1 });
      const veryUrgent = await queue({ name: 'orders/0', priority: 2 });
      const places = [];
      for (const one of [veryUrgent, old, urgent]) places.push(expectOutcome(await acquire(one), 'queued').place);
      assert.deepEqual(places, [1, 2, 3]);
    },
  },
  {
    tags: ['Q1'],
    title: 'new shared requests queue behind an exclusive ticket',
    run: async ({ grant, queue, acquire, refuse, release }) => {
      const reader = await grant({ parts: [shared('file')] });
      const writer = await queue('file');
      assert.equal((await refuse({ parts: [shared('file')] })).reason, 'queue');
      const late = await queue({ parts: [shared('file')] });
      await release(reader);
      assert.equal(expectOutcome(await acquire(late), 'queued').refusal.reason, 'queue');
      const written = await grant(writer);
      await release(written);
      await grant(late);
    },
  },
  {
    tags: ['Q1'],
    title: 'tickets that fit beside each other do not count against each other',
    run: async ({ grant, queue, release }) => {
      const writer = await grant('file');
      const first = await queue({ parts: [shared('file')] });
      const second = await queue({ parts: [shared('file')] });
      await release(writer);
      await grant(second);
      await grant(first);
    },
  },
  {
    tags: ['Q1', 'S1'],
    title: 'tickets ahead count as if granted, also against a limit',
    run: async ({ grant, queue, acquire, refuse, release }) => {
      const [held] = [await grant({ parts: [shared('pool', 2)] }), await grant({ parts: [shared('pool', 2)] })];
      const first = await queue({ parts: [shared('pool', 2)] });
      const second = await queue({ parts: [shared('pool', 2)] });
      await release(held);
      expectOutcome(await acquire(second), 'queued');
      assert.equal((await refuse({ parts: [shared('pool', 2)] })).queueLength, 2);
      await grant(first);
      expectOutcome(await acquire(second), 'queued');
    },
  },
  {
    tags: ['Q1'],
    title: 'a ticket for a subtree holds its place on everything below',
    run: async ({ grant, queue, refuse, release }) => {
      const held = await grant('a/b');
      const tree = await queue({ parts: [subtree('a')] });
      for (const name of ['a', 'a/c', 'a/b/d']) assert.equal((await refuse(name)).reason, 'queue', name);
      await grant('ab');
      await release(held);
      await grant(tree);
    },
  },
  {
    tags: ['Q1', 'Q4'],
    title: 'a ticket ahead that waits for a lease the request is holding is passed over',
    run: async ({ grant, refuse, anotherClient }) => {
      const second = await anotherClient();
      const outer = await grant('a');
      await second.queue({ parts: [node('a'), node('b')] });
      assert.equal((await refuse('b')).reason, 'queue', 'without holding a it has to queue');
      await grant({ name: 'b', holding: [outer.id] });
    },
  },
  {
    tags: ['Q1', 'Q4'],
    title: 'a ticket is passed over only for a lease that is still live and really in its way',
    run: async ({ grant, queue, refuse, passTime, shortTtlMs }) => {
      await grant({ name: 'busy', owner: 'third' });
      const unrelated = await grant('unrelated');
      const lapsed = await grant({ name: 'a', ttlMs: shortTtlMs });
      await queue({ parts: [node('a'), node('b'), node('busy')], owner: 'waiter' });
      await passTime(shortTtlMs);
      const holding = [unrelated.id, lapsed.id];
      assert.equal((await refuse({ name: 'b', holding })).reason, 'queue');
    },
  },
  {
    tags: ['Q1'],
    title: 'a request that joins and finds everything free is granted at once, without a ticket',
    run: async ({ grant, events }) => {
      await grant({ name: 'orders/0', join: true });
      assert.deepEqual(
        (await events()).map(({ type }) => type),
        ['lease.acquired'],
      );
    },
  },
];
