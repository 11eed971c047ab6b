// A4, reclaim: the owner's own live lease or block with exactly these parts is replaced in one step, ahead of the queue.
import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome } from '../context.js';
import { node, shared, subtree } from '../parts.js';

export const reclaim: readonly ConformanceCase[] = [
  {
    tags: ['A4', 'S2', 'S6'],
    title: 'an owner reclaims its own live lease: new id, new epoch, the old one ends in the same step',
    run: async ({ grant, renew, release, record, events, lastNow }) => {
      const old = await grant({ name: 'orders/0', owner: 'me', ttlMs: 600_000 });
      const next = await grant({ name: 'orders/0', owner: 'me', reclaim: true });
      assert.notEqual(next.id, old.id);
      assert.ok(next.epoch > old.epoch);
      const ended = await record(old.id);
      assert.deepEqual([ended.status, ended.reason, ended.endedAt], ['released', 'reclaimed', lastNow()]);
      assert.equal(expectOutcome(await renew(old), 'notHeld').status, 'released');
      assert.equal(expectOutcome(await release(old), 'released').again, true);
      assert.equal((await record(next.id)).status, 'active');
      assert.deepEqual(
        (await events()).map(({ type, leaseId }) => [type, leaseId]),
        [
          ['lease.acquired', old.id],
          ['lease.released', old.id],
          ['lease.acquired', next.id],
        ],
      );
    },
  },
  {
    tags: ['A4', 'Q1'],
    title: 'a reclaim goes ahead of the queue',
    run: async ({ grant, queue, acquire }) => {
      await grant({ name: 'orders/0', owner: 'me' });
      const waiter = await queue({ name: 'orders/0', owner: 'other', priority: 100 });
      await grant({ name: 'orders/0', owner: 'me', reclaim: true });
      expectOutcome(await acquire(waiter), 'queued');
    },
  },
  {
    tags: ['A4'],
    title: "somebody else's lease, or other parts, cannot be reclaimed",
    run: async ({ grant, refuse, record }) => {
      const lease = await grant({ parts: [node('a'), node('b')], owner: 'me' });
      const reclaiming = { owner: 'me', reclaim: true };
      await refuse({ parts: lease.parts, owner: 'other', reclaim: true });
      await refuse({ ...reclaiming, parts: [node('a')] });
      await refuse({ ...reclaiming, parts: [node('a'), node('b'), node('c')] });
      await refuse({ ...reclaiming, parts: [node('a'), subtree('b')] });
      await refuse({ ...reclaiming, parts: [node('a'), shared('b')] });
      assert.deepEqual(await record(lease.id), lease);
      await grant({ ...reclaiming, parts: lease.parts });
    },
  },
  {
    tags: ['A4', 'Q6'],
    title: 'an owner reclaims the block its own lease left, after a release and after an expiry',
    run: async ({ grant, refuse, release, passTime, shortTtlMs }) => {
      await release(await grant({ name: 'a', owner: 'me', minHoldMs: 60_000 }));
      assert.equal((await refuse({ name: 'a', owner: 'me' })).reason, 'min_hold');
      assert.equal((await refuse({ name: 'a', owner: 'other', reclaim: true })).reason, 'min_hold');
      await release(await grant({ name: 'a', owner: 'me', reclaim: true }));
      await grant({ name: 'a', owner: 'other' });
      await grant({ name: 'b', owner: 'me', ttlMs: shortTtlMs, lockDelayMs: 60_000 });
      await passTime(shortTtlMs);
      assert.equal((await refuse({ name: 'b', owner: 'other' })).reason, 'lock_delay');
      await release(await grant({ name: 'b', owner: 'me', reclaim: true }));
      await grant({ name: 'b', owner: 'other' });
    },
  },
  {
    tags: ['A4', 'Q6'],
    title: 'a reclaimed lease leaves no block of its own',
    run: async ({ grant, release }) => {
      await grant({ name: 'a', owner: 'me', minHoldMs: 60_000, lockDelayMs: 60_000 });
      await release(await grant({ name: 'a', owner: 'me', reclaim: true }));
      await grant({ name: 'a', owner: 'other' });
    },
  },
  {
    tags: ['A4', 'A7'],
    title: 'an owner that a revocation keeps out cannot reclaim its way back in',
    run: async ({ grant, refuse, revoke }) => {
      await grant({ name: 'a', owner: 'me' });
      await revoke({ resource: 'a' }, { keepOutMs: 60_000 });
      assert.equal((await refuse({ name: 'a', owner: 'me', reclaim: true })).reason, 'lock_delay');
    },
  },
  {
    tags: ['A4', 'Q1'],
    title: 'a reclaim that finds nothing to reclaim is an ordinary request, behind the queue',
    run: async ({ grant, queue, refuse, release }) => {
      await release(await grant({ name: 'a', owner: 'me', reclaim: true }));
      const held = await grant({ name: 'a', owner: 'other' });
      const waiter = await queue({ name: 'a', owner: 'third' });
      await release(held);
      assert.equal((await refuse({ name: 'a', owner: 'me', reclaim: true })).reason, 'queue');
      await grant(waiter);
    },
  },
  {
    tags: ['A4', 'S8'],
    title: 'a repeated reclaim answers its lease and replaces nothing again',
    run: async ({ ask, grant, acquire, events }) => {
      await grant({ name: 'a', owner: 'me' });
      const request = await ask({ name: 'a', owner: 'me', reclaim: true });
      const lease = await grant(request);
      const again = expectOutcome(await acquire(request), 'granted');
      assert.deepEqual([again.again, again.lease], [true, lease]);
      assert.equal((await events({ type: 'lease.released' })).length, 1);
    },
  },
  {
    tags: ['A4', 'S1'],
    title: 'of several shared leases of the owner, a reclaim replaces one and respects the limit',
    run: async ({ grant, refuse, record }) => {
      const first = await grant({ parts: [shared('pool', 2)], owner: 'me' });
      const second = await grant({ parts: [shared('pool', 2)], owner: 'me' });
      await refuse({ parts: [shared('pool', 2)], owner: 'me' });
      await grant({ parts: [shared('pool', 2)], owner: 'me', reclaim: true });
      assert.equal((await record(first.id)).status, 'released', 'the one with the lowest epoch');
      assert.equal((await record(second.id)).status, 'active');
    },
  },
];
