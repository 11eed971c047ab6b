// S3, S18: the sweep writes down what nobody came upon, a bounded number of rows a step, and says when to come again.
import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';
import { expectRejection } from '../context.js';

export const sweeping: readonly ConformanceCase[] = [
  {
    tags: ['S3', 'S18'],
    title: 'a sweep takes at most its limit and says that there is more',
    run: async ({ grant, passTime, shortTtlMs, events, store }) => {
      for (let i = 0; i < 5; i += 1) await grant({ name: `orders/${i}`, ttlMs: shortTtlMs });
      await grant('orders/live');
      await passTime(shortTtlMs);
      const steps = [];
      for (let i = 0; i < 4; i += 1) {
        const { leases, tickets, more } = await store.sweep({ limit: 2 });
        steps.push({ leases, tickets, more });
      }
      assert.deepEqual(steps, [
        { leases: 2, tickets: 0, more: true },
        { leases: 2, tickets: 0, more: true },
        { leases: 1, tickets: 0, more: false },
        { leases: 0, tickets: 0, more: false },
      ]);
      assert.equal((await events({ type: 'lease.expired' })).length, 5);
    },
  },
  {
    tags: ['S3'],
    title: 'a sweep begins with what expired first and tells the longest overrun',
    run: async ({ grant, passTime, shortTtlMs, events, store }) => {
      const late = await grant({ name: 'a', ttlMs: shortTtlMs + 50 });
      const early = await grant({ name: 'b', ttlMs: shortTtlMs });
      await passTime(shortTtlMs + 60);
      const swept = await store.sweep({ limit: 10 });
      assert.equal(swept.overrunMaxMs, swept.now - early.expiresAt);
      assert.deepEqual(
        (await events({ type: 'lease.expired' })).map(({ leaseId }) => leaseId),
        [early.id, late.id],
      );
    },
  },
  {
    tags: ['S3'],
    title: 'what lapsed in one millisecond is swept in the order it came, also one at a time',
    run: async ({ ask, passTime, shortTtlMs, events, store }) => {
      const requests = [];
      for (const name of ['a', 'b', 'c', 'd', 'e']) requests.push(await ask({ name, ttlMs: shortTtlMs }));
      await store.acquire(requests);
      await passTime(shortTtlMs);
      for (const _ of requests) await store.sweep({ limit: 1 });
      assert.deepEqual(
        (await events({ type: 'lease.expired' })).map(({ leaseId }) => leaseId),
        requests.map(({ id }) => id),
      );
    },
  },
  {
    tags: ['S3'],
    title: 'a sweep says when the next thing expires, or earlier, never later',
    run: async ({ grant, release, store }) => {
      assert.equal((await store.sweep({ limit: 10 })).nextAt, undefined, 'nothing can expire in an empty store');
      const lease = await grant({ name: 'a', ttlMs: 20_000 });
      await release(await grant({ name: 'b', ttlMs: 10_000 }));
      const { nextAt } = await store.sweep({ limit: 10 });
      assert.ok(nextAt !== undefined && nextAt <= lease.expiresAt, 'known, and not later than the expiry');
    },
  },
  {
    tags: ['Q2', 'S18'],
    title: 'a sweep takes dead tickets with it, counted apart',
    needs: { passMs: 10_000 },
    run: async ({ grant, queue, passTime, record, store }) => {
      await grant({ name: 'a', ttlMs: 60_000 });
      const ticket = await queue('a');
      await grant({ name: 'b', ttlMs: 5_000 });
      await passTime(10_000);
      const { leases, tickets, more } = await store.sweep({ limit: 10 });
      assert.deepEqual({ leases, tickets, more }, { leases: 1, tickets: 1, more: false });
      const dead = await record(ticket.id);
      assert.deepEqual([dead.status, dead.reason], ['failed', 'died']);
    },
  },
  {
    tags: ['S18'],
    title: 'sweep, prune, list and events take a limit from 1 to 1,000',
    run: async ({ store }) => {
      for (const limit of [1, 1_000]) {
        await store.sweep({ limit });
        await store.prune({ olderThanMs: 0, limit });
        await store.list({ limit });
        await store.events({ limit });
      }
      for (const limit of [0, -1, 1_001, 1e9, 1.5, NaN, Infinity]) {
        await expectRejection(store.sweep({ limit }), 'INVALID_ARGUMENT');
        await expectRejection(store.prune({ olderThanMs: 0, limit }), 'INVALID_ARGUMENT');
        await expectRejection(store.list({ limit }), 'INVALID_ARGUMENT');
        await expectRejection(store.events({ limit }), 'INVALID_ARGUMENT');
      }
    },
  },
];
