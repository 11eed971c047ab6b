// S3: expired is free without any sweeper; reads show it from that instant; the first write records it once, as of
// `expiresAt`, before its own effect.
import assert from 'node:assert/strict';
import type { Lease } from '../../../domain/lease.js';
import type { AcquireRequest } from '../../../domain/requests.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome, type CaseContext } from '../context.js';
import { node } from '../parts.js';

/** What may come upon an expired lease and must write its expiry down. */
const discoveries: Readonly<
  Record<string, (context: CaseContext, lease: Lease, request: AcquireRequest) => Promise<void>>
> = {
  'a new acquire that is granted': async ({ grant }) => {
    await grant('orders/0');
  },
  'an acquire that takes its place in the queue of another lease': async ({ queue }) => {
    await queue({ parts: [node('busy'), node('orders/0')] });
  },
  'a sweep': async ({ store }) => {
    assert.equal((await store.sweep({ limit: 100 })).leases, 1);
  },
  'its own late renewal': async ({ renew }, lease) => {
    assert.equal(expectOutcome(await renew(lease), 'notHeld').status, 'expired');
  },
  'its own late release': async ({ release }, lease) => {
    expectOutcome(await release(lease), 'expired');
  },
  'its own late delegation': async ({ change }, lease) => {
    assert.equal(expectOutcome(await change(lease, { delegate: 'heir' }), 'notHeld').status, 'expired');
  },
  'its own repeated acquire': async ({ acquire }, _lease, request) => {
    assert.equal(expectOutcome(await acquire(request), 'ended').status, 'expired');
  },
};

const recordedOnce: ConformanceCase[] = Object.entries(discoveries).map(([who, discover]) => ({
  tags: ['S3', 'S6'],
  title: `${who} records the expiry once, as of expiresAt`,
  run: async (context) => {
    const { ask, grant, passTime, shortTtlMs, events, record, store } = context;
    await grant({ name: 'busy', owner: 'other' });
    const request = await ask({ name: 'orders/0', ttlMs: shortTtlMs });
    const lease = await grant(request);
    await passTime(shortTtlMs + 5);
    await discover(context, lease, request);
    const ended = await record(lease.id);
    assert.deepEqual([ended.status, ended.endedAt, ended.epoch], ['expired', lease.expiresAt, lease.epoch]);
    const rows = await events({ leaseId: lease.id });
    assert.deepEqual(
      rows.map(({ type }) => type),
      ['lease.acquired', 'lease.expired'],
    );
    const row = rows[1];
    assert.deepEqual([row?.from, row?.to, row?.epoch], ['active', 'expired', lease.epoch]);
    assert.ok((row?.at ?? 0) >= lease.expiresAt);
    await context.renew(lease);
    await context.release(lease);
    await context.acquire(request);
    await store.sweep({ limit: 100 });
    assert.equal((await events({ type: 'lease.expired' })).length, 1, 'once');
  },
}));

export const expiry: readonly ConformanceCase[] = [
  ...recordedOnce,
  {
    tags: ['S3', 'S1'],
    title: 'a lease is live before expiresAt and over at expiresAt, judged by the now of each answer',
    run: async ({ grant, acquire, passTime, shortTtlMs, lastNow, anotherClient }) => {
      const second = await anotherClient();
      const lease = await grant({ name: 'orders/0', ttlMs: shortTtlMs });
      await passTime(shortTtlMs - 10);
      for (;;) {
        const result = await second.acquire('orders/0');
        const isOver = second.lastNow() >= lease.expiresAt;
        assert.equal(result.outcome, isOver ? 'granted' : 'refused', `${lease.expiresAt - second.lastNow()} ms before`);
        if (isOver) break;
        await passTime(1);
      }
      assert.equal((await acquire('orders/0')).outcome, 'refused');
      assert.ok(lastNow() >= lease.expiresAt);
    },
  },
  {
    tags: ['S3'],
    title: 'reads show expired from that instant, before anybody wrote it down, and write nothing',
    run: async ({ grant, passTime, shortTtlMs, record, events, store }) => {
      const lease = await grant({ name: 'orders/0', ttlMs: shortTtlMs });
      await passTime(shortTtlMs);
      const seen = await record(lease.id);
      assert.deepEqual([seen.status, seen.endedAt], ['expired', lease.expiresAt]);
      assert.deepEqual((await store.list({ limit: 10 })).items, []);
      assert.deepEqual((await store.show('orders/0', 10)).holders, []);
      assert.deepEqual((await store.waitGraph()).tickets, []);
      assert.equal((await events()).length, 1, 'only the acquisition is in the log');
    },
  },
  {
    tags: ['S3', 'S6'],
    title: 'the expiry stands in the log before the grant that found it',
    run: async ({ grant, passTime, shortTtlMs, events }) => {
      const old = await grant({ parts: [node('a'), node('b')], ttlMs: shortTtlMs });
      const other = await grant({ name: 'c', ttlMs: shortTtlMs });
      await passTime(shortTtlMs);
      const next = await grant({ parts: [node('b'), node('c')] });
      const rows = (await events()).slice(2);
      assert.deepEqual(
        rows.map(({ type, leaseId }) => [type, leaseId]),
        [
          ['lease.expired', old.id],
          ['lease.expired', other.id],
          ['lease.acquired', next.id],
        ],
      );
    },
  },
  {
    tags: ['S3', 'S8'],
    title: 'a refused attempt writes nothing, not even an expiry beside what refused it',
    run: async ({ grant, refuse, passTime, shortTtlMs, events }) => {
      await grant({ name: 'a', ttlMs: shortTtlMs });
      await grant('b');
      await passTime(shortTtlMs);
      await refuse({ parts: [node('a'), node('b')] });
      assert.equal((await events()).length, 2);
    },
  },
  {
    tags: ['S3'],
    title: 'a lease that was renewed lives on where it would have expired',
    run: async ({ grant, renew, refuse, passTime, shortTtlMs, store }) => {
      const lease = await grant({ name: 'orders/0', ttlMs: shortTtlMs });
      expectOutcome(await renew(lease, { ttlMs: 30_000 }), 'renewed');
      await passTime(shortTtlMs);
      await refuse('orders/0');
      assert.equal((await store.sweep({ limit: 100 })).leases, 0);
    },
  },
];
