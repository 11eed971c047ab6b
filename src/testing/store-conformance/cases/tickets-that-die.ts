// Q2: a ticket lives 10 s and is kept alive by refreshing it, which is itself a claim. A dead one vanishes by itself.
import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome } from '../context.js';

const LIFE_MS = 10_000;

export const ticketsThatDie: readonly ConformanceCase[] = [
  {
    tags: ['Q2'],
    title: 'a ticket has 10 s, and every refresh gives it 10 s again',
    run: async ({ ask, grant, acquire, passTime, record, lastNow }) => {
      await grant('orders/0');
      const request = await ask({ name: 'orders/0', join: true });
      assert.equal(expectOutcome(await acquire(request), 'queued').ticketLeftMs, LIFE_MS);
      const joined = await record(request.id);
      assert.equal(joined.expiresAt, lastNow() + LIFE_MS);
      await passTime(20);
      assert.equal(expectOutcome(await acquire(request), 'queued').ticketLeftMs, LIFE_MS);
      const refreshed = await record(request.id);
      assert.deepEqual([refreshed.expiresAt, refreshed.renewedAt], [lastNow() + LIFE_MS, lastNow()]);
      assert.equal(refreshed.acquiredAt, joined.acquiredAt, 'it joined when it joined');
    },
  },
  {
    tags: ['Q2'],
    title: 'a refreshed ticket outlives 10 s and keeps its place',
    needs: { passMs: 18_000 },
    run: async ({ grant, queue, acquire, passTime, release }) => {
      const held = await grant({ name: 'orders/0', ttlMs: 600_000 });
      const first = await queue('orders/0');
      const second = await queue('orders/0');
      for (let i = 0; i < 3; i += 1) {
        await passTime(6_000);
        assert.equal(expectOutcome(await acquire(first), 'queued').place, 1);
        assert.equal(expectOutcome(await acquire(second), 'queued').place, 2);
      }
      await release(held);
      await grant(first);
    },
  },
  {
    tags: ['Q2', 'Q1'],
    title: 'a dead head no longer holds up the others',
    needs: { passMs: 10_000 },
    run: async ({ grant, queue, refuse, release, acquire, passTime }) => {
      const held = await grant({ name: 'orders/0', ttlMs: 600_000 });
      const dead = await queue('orders/0');
      await passTime(6_000);
      const patient = await queue('orders/0');
      await release(held);
      assert.equal(expectOutcome(await acquire(patient), 'queued').place, 2);
      await passTime(4_000);
      await release(await grant(patient));
      const end = expectOutcome(await acquire(dead), 'ended');
      assert.deepEqual([end.status, end.reason], ['failed', 'died']);
      await grant('orders/0');
      assert.equal((await refuse('orders/0')).queueLength, 0);
    },
  },
  {
    tags: ['Q2', 'S3', 'S6'],
    title: 'the death of a ticket is seen by reads at once, and recorded once, as of the moment it died',
    needs: { passMs: 10_500 },
    run: async ({ grant, queue, acquire, cancel, passTime, record, events, store }) => {
      await grant({ name: 'orders/0', ttlMs: 600_000 });
      const ticket = await queue('orders/0');
      const { expiresAt } = await record(ticket.id);
      await passTime(LIFE_MS + 500);
      const seen = await record(ticket.id);
      assert.deepEqual([seen.status, seen.reason, seen.endedAt], ['failed', 'died', expiresAt]);
      assert.deepEqual((await store.list({ status: 'pending', limit: 10 })).items, []);
      assert.deepEqual((await store.show('orders/0', 10)).queue, []);
      assert.deepEqual((await store.waitGraph()).tickets, []);
      assert.equal((await events({ leaseId: ticket.id })).length, 1);
      assert.equal(expectOutcome(await acquire(ticket), 'ended').reason, 'died');
      expectOutcome(await cancel(ticket.id), 'left');
      assert.equal((await store.sweep({ limit: 10 })).tickets, 0);
      const rows = await events({ leaseId: ticket.id });
      assert.deepEqual(
        rows.map(({ type, from, to }) => [type, from, to]),
        [
          ['lease.queued', undefined, 'pending'],
          ['lease.failed', 'pending', 'failed'],
        ],
      );
      assert.deepEqual(await record(ticket.id), seen);
    },
  },
  {
    tags: ['Q2', 'S9'],
    title: 'a cancel that comes after the death finds nothing to end',
    needs: { passMs: 10_000 },
    run: async ({ grant, queue, cancel, passTime, record }) => {
      await grant({ name: 'orders/0', ttlMs: 600_000 });
      const ticket = await queue('orders/0');
      await passTime(LIFE_MS);
      expectOutcome(await cancel(ticket.id, 'timeout'), 'left');
      assert.equal((await record(ticket.id)).reason, 'died');
    },
  },
  {
    tags: ['Q2', 'S8'],
    title: 'a dead ticket is not brought back by its own acquire, also when everything is free',
    needs: { passMs: 10_000 },
    run: async ({ grant, queue, acquire, release, passTime }) => {
      const held = await grant({ name: 'orders/0', ttlMs: 600_000 });
      const ticket = await queue('orders/0');
      await release(held);
      await passTime(LIFE_MS);
      expectOutcome(await acquire(ticket), 'ended');
      await grant('orders/0');
    },
  },
];
