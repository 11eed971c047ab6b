// S5, S9: release and cancel. Late ones touch nothing and say what they found; a waiter that gives up leaves no orphan.
import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome } from '../context.js';

export const releaseAndCancel: readonly ConformanceCase[] = [
  {
    tags: ['S5'],
    title: 'release ends the lease at once and is idempotent',
    run: async ({ grant, release, record, events, lastNow }) => {
      const lease = await grant('orders/0');
      assert.deepEqual(await release(lease), { outcome: 'released', again: false, blockedMs: 0 });
      const ended = await record(lease.id);
      assert.deepEqual([ended.status, ended.endedAt], ['released', lastNow()]);
      for (let i = 0; i < 2; i += 1) {
        assert.deepEqual(await release(lease), { outcome: 'released', again: true, blockedMs: 0 });
      }
      assert.deepEqual(await record(lease.id), ended);
      assert.equal((await events({ type: 'lease.released' })).length, 1);
      await grant('orders/0');
    },
  },
  {
    tags: ['S5', 'S1'],
    title: 'a release with another epoch is stale, names the present one and frees nothing',
    run: async ({ grant, release, refuse, record }) => {
      const lease = await grant('orders/0');
      for (const epoch of [lease.epoch - 1, lease.epoch + 1, 1]) {
        assert.deepEqual(await release({ id: lease.id, epoch }), { outcome: 'stale', epoch: lease.epoch });
      }
      assert.deepEqual(await record(lease.id), lease);
      await refuse('orders/0');
    },
  },
  {
    tags: ['S5'],
    title: 'the late release of a former holder does not touch the present one',
    run: async ({ grant, release, refuse, passTime, shortTtlMs, record, anotherClient }) => {
      const second = await anotherClient();
      const old = await grant({ name: 'orders/0', ttlMs: shortTtlMs });
      await passTime(shortTtlMs);
      const next = await second.grant('orders/0');
      expectOutcome(await release(old), 'expired');
      expectOutcome(await release(old), 'expired');
      assert.equal((await record(next.id)).status, 'active');
      await refuse('orders/0');
    },
  },
  {
    tags: ['S5'],
    title: 'releasing what was revoked answers revoked',
    run: async ({ grant, release, revoke }) => {
      const lease = await grant('orders/0');
      await revoke({ resource: 'orders/0' });
      expectOutcome(await release(lease), 'revoked');
    },
  },
  {
    tags: ['S9'],
    title: 'a cancel without an epoch ends the grant its own acquire was still waiting for',
    run: async ({ ask, grant, cancel, acquire }) => {
      const request = await ask('orders/0');
      await grant(request);
      assert.equal(expectOutcome(await cancel(request.id), 'released').again, false);
      assert.equal(expectOutcome(await cancel(request.id), 'released').again, true);
      assert.equal(expectOutcome(await acquire(request), 'ended').status, 'released');
      await grant('orders/0');
    },
  },
  {
    tags: ['S9', 'S5', 'A6'],
    title: 'a cancel without an epoch is stale after a delegation: it belongs to the first holder',
    run: async ({ grant, cancel, change, record }) => {
      const lease = await grant('orders/0');
      const { lease: given } = expectOutcome(await change(lease, { delegate: 'heir' }), 'changed');
      assert.deepEqual(await cancel(lease.id), { outcome: 'stale', epoch: given.epoch });
      assert.equal((await record(lease.id)).status, 'active');
    },
  },
  {
    tags: ['S9', 'Q1'],
    title: 'a waiter that cancels or times out leaves the queue, with the reason in its record',
    run: async ({ grant, queue, cancel, release, acquire, record, store }) => {
      const lease = await grant('orders/0');
      const cancelled = await queue('orders/0');
      const timedOut = await queue('orders/0');
      const patient = await queue('orders/0');
      expectOutcome(await cancel(cancelled.id, 'cancelled'), 'left');
      expectOutcome(await cancel(timedOut.id, 'timeout'), 'left');
      expectOutcome(await cancel(timedOut.id, 'timeout'), 'left');
      const [first, second] = [await record(cancelled.id), await record(timedOut.id)];
      assert.deepEqual([first.status, first.reason], ['failed', 'cancelled']);
      assert.deepEqual([second.status, second.reason], ['failed', 'timeout']);
      const end = expectOutcome(await acquire(cancelled), 'ended');
      assert.deepEqual([end.status, end.reason], ['failed', 'cancelled']);
      assert.equal(expectOutcome(await acquire(patient), 'queued').place, 1);
      await release(lease);
      await grant(patient);
      assert.deepEqual((await store.list({ status: 'pending', limit: 10 })).items, []);
    },
  },
  {
    tags: ['S9', 'S3'],
    title: 'a cancel that finds the grant expired says so',
    run: async ({ ask, grant, cancel, passTime, shortTtlMs }) => {
      const request = await ask({ name: 'orders/0', ttlMs: shortTtlMs });
      await grant(request);
      await passTime(shortTtlMs);
      expectOutcome(await cancel(request.id), 'expired');
    },
  },
  {
    tags: ['S5', 'S21'],
    title: 'a batch of releases answers each lease for itself',
    run: async ({ grant, release, newId, store }) => {
      const first = await grant('a');
      const second = await grant('b');
      await release(first);
      const end = (id: string, epoch: number) => ({ id, epoch, requestId: newId(), why: 'released' as const });
      const { results } = await store.end([end(first.id, 1), end(second.id, second.epoch), end(newId(), 9)]);
      assert.deepEqual(
        results.map(({ outcome }) => outcome),
        ['stale', 'released', 'noted'],
      );
    },
  },
];
