// S8: ids live once. Repeated, late, overtaking and unknown requests, each answered by the present state of the id.
import assert from 'node:assert/strict';
import type { AcquireRequest } from '../../../domain/requests.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome } from '../context.js';
import { node, shared } from '../parts.js';

export const idsAndRepeats: readonly ConformanceCase[] = [
  {
    tags: ['S8'],
    title: 'repeating an acquire answers the lease it got and never grants twice',
    run: async ({ ask, grant, acquire, events, store }) => {
      const request = await ask('orders/0');
      const lease = await grant(request);
      const { epoch } = await store.time();
      for (let i = 0; i < 3; i += 1) {
        const repeat = expectOutcome(await acquire(request), 'granted');
        assert.equal(repeat.again, true);
        assert.deepEqual(repeat.lease, lease);
      }
      assert.equal((await store.time()).epoch, epoch, 'no epoch is drawn for a repeat');
      assert.equal((await events({ type: 'lease.acquired' })).length, 1);
    },
  },
  {
    tags: ['S8', 'S13'],
    title: 'a repeat tells what remains of the lease, and does not prolong it',
    run: async ({ ask, grant, acquire, passTime, lastNow }) => {
      const request = await ask('orders/0');
      const lease = await grant(request);
      await passTime(50);
      const repeat = expectOutcome(await acquire(request), 'granted');
      assert.equal(repeat.lease.expiresAt, lease.expiresAt);
      assert.equal(repeat.remainingMs, lease.expiresAt - lastNow());
      assert.ok(repeat.remainingMs <= lease.ttlMs - 50);
    },
  },
  {
    tags: ['S8'],
    title: 'the same request twice in one batch grants once',
    run: async ({ ask, store, events }) => {
      const request = await ask('orders/0');
      const { results } = await store.acquire([request, request]);
      const [first, second] = results.map((result) => expectOutcome(result, 'granted'));
      assert.deepEqual([first?.again, second?.again], [false, true]);
      assert.equal(first?.lease.epoch, second?.lease.epoch);
      assert.equal((await events()).length, 1);
    },
  },
  {
    tags: ['S8'],
    title: 'a repeat over another connection is the same id',
    run: async ({ ask, grant, anotherClient }) => {
      const request = await ask('orders/0');
      const lease = await grant(request);
      const repeat = expectOutcome(await (await anotherClient()).acquire(request), 'granted');
      assert.equal(repeat.again, true);
      assert.equal(repeat.lease.epoch, lease.epoch);
    },
  },
  {
    tags: ['S8'],
    title: 'a repeat after release, expiry or revocation answers how the lease ended, and grants nothing',
    run: async ({ ask, grant, acquire, release, revoke, passTime, shortTtlMs, store }) => {
      const released = await ask('a');
      await release(await grant(released));
      const expired = await ask({ name: 'b', ttlMs: shortTtlMs });
      await grant(expired);
      const revoked = await ask('c');
      await revoke({ leaseId: (await grant(revoked)).id }, { reason: 'stuck' });
      await passTime(shortTtlMs);
      assert.deepEqual(expectOutcome(await acquire(released), 'ended').status, 'released');
      assert.deepEqual(expectOutcome(await acquire(expired), 'ended').status, 'expired');
      const end = expectOutcome(await acquire(revoked), 'ended');
      assert.deepEqual([end.status, end.reason], ['revoked', 'stuck']);
      assert.deepEqual((await store.list({ limit: 10 })).items, []);
    },
  },
  {
    tags: ['S8'],
    title: 'a repeat after a delegation answers the lease as it is now',
    run: async ({ ask, grant, acquire, change, store }) => {
      const request = await ask('orders/0');
      const lease = await grant(request);
      const { lease: delegated } = expectOutcome(await change(lease, { delegate: 'heir' }), 'changed');
      const { epoch } = await store.time();
      const repeat = expectOutcome(await acquire(request), 'granted');
      assert.equal(repeat.again, true);
      assert.deepEqual(repeat.lease, delegated);
      assert.equal((await store.time()).epoch, epoch);
    },
  },
  {
    tags: ['S8', 'Q1'],
    title: 'repeating a queued acquire keeps its one ticket and its place, with or without join',
    run: async ({ grant, queue, acquire, events, store }) => {
      await grant('orders/0');
      const first = await queue('orders/0');
      const second = await queue('orders/0');
      for (const request of [second, { ...second, join: false }, first]) {
        const { place } = expectOutcome(await acquire(request), 'queued');
        assert.equal(place, request === first ? 1 : 2);
      }
      assert.equal((await events({ type: 'lease.queued' })).length, 2);
      assert.equal((await store.list({ status: 'pending', limit: 10 })).items.length, 2);
    },
  },
  {
    tags: ['S8'],
    title: 'a refused request leaves nothing behind, and its id may be tried again',
    run: async ({ ask, grant, refuse, release, store, events }) => {
      const lease = await grant('orders/0');
      const request = await ask('orders/0');
      await refuse(request);
      assert.deepEqual((await store.get([request.id])).items, [undefined]);
      assert.deepEqual(await events({ leaseId: request.id }), []);
      await release(lease);
      await grant(request);
    },
  },
  {
    tags: ['S8'],
    title: 'other content under a known id is a mismatch, field by field, and touches nothing',
    run: async ({ ask, grant, acquire, newId, store, events }) => {
      const request = await ask({ name: 'orders/0', maxHoldMs: 60_000, operationId: 'op', metadata: { a: 1 } });
      const lease = await grant(request);
      const others: Partial<AcquireRequest>[] = [
        { owner: 'somebody else' },
        { parts: [node('orders/1')] },
        { parts: [shared('orders/0')] },
        { parts: [{ ...node('orders/0'), scope: 'subtree' }] },
        { parts: [node('orders/0'), node('orders/1')] },
        { ttlMs: request.ttlMs + 1 },
        { priority: 1 },
        { maxRenewals: 5 },
        { maxHoldMs: 60_001 },
        { maxHoldMs: undefined },
        { minHoldMs: 1 },
        { lockDelayMs: 1 },
        { reclaim: true },
        { holding: [newId()] },
        { operationId: 'other' },
        { operationId: undefined },
        { metadata: { a: 2 } },
        { metadata: undefined },
      ];
      for (const other of others) {
        const result = await acquire({ ...request, ...other });
        assert.equal(result.outcome, 'mismatch', `with ${JSON.stringify(other)}`);
      }
      assert.deepEqual((await store.get([request.id])).items, [lease]);
      assert.equal((await events()).length, 1);
    },
  },
  {
    tags: ['S8'],
    title: 'what is not content may differ in a repeat: bornAt, callerWall, join, remote',
    run: async ({ ask, grant, acquire }) => {
      const request = await ask('orders/0');
      await grant(request);
      const differences = [{ bornAt: 1 }, { callerWall: 1 }, { join: true }, { remote: true }];
      for (const other of differences) expectOutcome(await acquire({ ...request, ...other }), 'granted');
    },
  },
  {
    tags: ['S8'],
    title: 'other content under the id of a ticket or of an ended lease is a mismatch too',
    run: async ({ ask, grant, queue, acquire, release }) => {
      const request = await ask('orders/0');
      const lease = await grant(request);
      const ticket = await queue('orders/0');
      expectOutcome(await acquire({ ...ticket, owner: 'other' }), 'mismatch');
      await release(lease);
      expectOutcome(await acquire({ ...request, owner: 'other' }), 'mismatch');
      await grant(ticket);
    },
  },
  {
    tags: ['S8'],
    title: 'ids that differ in case only are different ids',
    run: async ({ newId, grant, refuse }) => {
      const id = newId();
      await grant({ id: `${id}a`, name: 'orders/0' });
      await refuse({ id: `${id}A`, name: 'orders/0' });
      await grant({ id: `${id}A`, name: 'orders/1' });
    },
  },
];
