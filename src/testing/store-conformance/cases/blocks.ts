// Q6: what keeps others out where no lease is live. minHold after a release, lockDelay after an expiry or a revocation,
// keepOut against the old owner alone.
import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome } from '../context.js';
import { node, shared, subtree } from '../parts.js';

export const blocks: readonly ConformanceCase[] = [
  {
    tags: ['Q6'],
    title: 'minHold: a lease released early stays taken until acquiredAt + minHold, for everybody, then is free',
    run: async ({ grant, release, refuse, passTime, lastNow }) => {
      const lease = await grant({ name: 'a', minHoldMs: 1_000 });
      const { blockedMs } = expectOutcome(await release(lease), 'released');
      assert.equal(blockedMs, lease.acquiredAt + 1_000 - lastNow());
      for (const owner of [lease.owner, 'other']) {
        const refusal = await refuse({ name: 'a', owner });
        assert.deepEqual([refusal.reason, refusal.holderCount, refusal.queueLength], ['min_hold', 0, 0]);
        assert.equal(refusal.retryAfterMs, lease.acquiredAt + 1_000 - lastNow());
      }
      await passTime(1_000);
      await grant('a');
    },
  },
  {
    tags: ['Q6', 'S9'],
    title: 'minHold: a grant that is cancelled, because nobody waits for it any more, leaves no block',
    run: async ({ grant, store }) => {
      const lease = await grant({ name: 'a', minHoldMs: 60_000 });
      const { results } = await store.end([{ id: lease.id, requestId: 'cancel-1', why: 'cancelled' }]);
      assert.deepEqual(results, [{ outcome: 'released', again: false, blockedMs: 0 }]);
      await grant('a');
    },
  },
  {
    tags: ['Q6'],
    title: 'minHold may reach beyond the ttl, and a lease held that long leaves no block',
    run: async ({ grant, release, refuse, passTime, lastNow }) => {
      const early = await grant({ name: 'a', ttlMs: 1_000, minHoldMs: 86_400_000 });
      await release(early);
      assert.equal((await refuse('a')).retryAfterMs, early.acquiredAt + 86_400_000 - lastNow());
      const late = await grant({ name: 'b', minHoldMs: 50 });
      await passTime(50);
      assert.equal(expectOutcome(await release(late), 'released').blockedMs, 0);
      await grant('b');
    },
  },
  {
    tags: ['Q6', 'S5'],
    title: 'a repeated release tells what is left of the block',
    run: async ({ grant, release, passTime }) => {
      const lease = await grant({ name: 'a', minHoldMs: 60_000 });
      const first = expectOutcome(await release(lease), 'released');
      await passTime(20);
      const again = expectOutcome(await release(lease), 'released');
      assert.equal(again.again, true);
      assert.ok(again.blockedMs > 0 && again.blockedMs <= first.blockedMs - 20);
    },
  },
  {
    tags: ['Q6', 'S3'],
    title: 'lockDelay: an expired lease keeps others out until expiresAt + lockDelay, written down or not',
    run: async ({ grant, refuse, passTime, shortTtlMs, lastNow, store }) => {
      const lease = await grant({ name: 'a', ttlMs: shortTtlMs, lockDelayMs: 2_000 });
      await passTime(shortTtlMs);
      for (let i = 0; i < 2; i += 1) {
        const refusal = await refuse('a');
        assert.deepEqual([refusal.reason, refusal.holderCount], ['lock_delay', 0]);
        assert.equal(refusal.retryAfterMs, lease.expiresAt + 2_000 - lastNow());
        await passTime(500); // so that it matters whether the delay counts from the expiry or from the sweep
        await store.sweep({ limit: 10 });
      }
      await passTime(2_000);
      await grant('a');
    },
  },
  {
    tags: ['Q6', 'A7'],
    title: 'lockDelay counts from a revocation too, but not after a release',
    run: async ({ grant, refuse, release, revoke }) => {
      const revoked = await grant({ name: 'a', lockDelayMs: 60_000 });
      const { now } = await revoke({ leaseId: revoked.id });
      const refusal = await refuse('a');
      assert.equal(refusal.reason, 'lock_delay');
      assert.ok(refusal.retryAfterMs <= 60_000 && refusal.retryAfterMs > 0 && now > 0);
      await release(await grant({ name: 'b', lockDelayMs: 60_000 }));
      await grant('b');
    },
  },
  {
    tags: ['Q6', 'A7'],
    title: 'minHold is for releases only: an expired or revoked lease leaves none',
    run: async ({ grant, revoke, passTime, shortTtlMs }) => {
      await grant({ name: 'a', ttlMs: shortTtlMs, minHoldMs: 600_000 });
      const revoked = await grant({ name: 'b', minHoldMs: 600_000 });
      await revoke({ leaseId: revoked.id });
      await passTime(shortTtlMs);
      await grant('a');
      await grant('b');
    },
  },
  {
    tags: ['Q6', 'S1'],
    title: 'a block conflicts as its lease did: names, subtrees, shared among shared, limits',
    run: async ({ grant, refuse, release }) => {
      const minHoldMs = 60_000;
      await release(await grant({ parts: [subtree('tree')], minHoldMs }));
      for (const name of ['tree', 'tree/a/b']) assert.equal((await refuse(name)).reason, 'min_hold');
      await grant('trees');
      await release(await grant({ parts: [shared('file')], minHoldMs }));
      await grant({ parts: [shared('file')] });
      assert.equal((await refuse({ parts: [subtree('file')] })).reason, 'held');
      await release(await grant({ parts: [shared('pool', 1)], minHoldMs }));
      assert.equal((await refuse({ parts: [shared('pool')] })).reason, 'min_hold');
      assert.equal((await refuse({ parts: [node('free'), node('pool')] })).reason, 'min_hold');
    },
  },
  {
    tags: ['Q6', 'S4'],
    title: 'a block cannot be renewed or released away',
    run: async ({ grant, renew, release, refuse }) => {
      const lease = await grant({ name: 'a', minHoldMs: 60_000 });
      await release(lease);
      expectOutcome(await renew(lease), 'notHeld');
      await release(lease);
      assert.equal((await refuse('a')).reason, 'min_hold');
    },
  },
  {
    tags: ['Q6', 'Q3'],
    title: 'retryAfterMs counts blocks and leases alike: the earliest end of anything in the way',
    run: async ({ grant, release, refuse, acquire, lastNow }) => {
      const blocked = await grant({ name: 'a', minHoldMs: 5_000 });
      await release(blocked);
      const held = await grant({ name: 'b', ttlMs: 20_000 });
      const refusal = await refuse({ parts: [node('a'), node('b')] });
      assert.deepEqual([refusal.reason, refusal.holderCount], ['held', 1]);
      assert.equal(refusal.retryAfterMs, blocked.acquiredAt + 5_000 - lastNow());
      const queued = expectOutcome(await acquire({ name: 'a', join: true }), 'queued');
      assert.deepEqual([queued.refusal.reason, queued.place], ['min_hold', 1]);
      assert.ok(held.expiresAt > lastNow());
    },
  },
  {
    tags: ['Q6', 'A7'],
    title: 'keepOut bars the old owner from everything that overlaps, and nobody else',
    run: async ({ grant, refuse, release, revoke, lastNow }) => {
      await grant({ parts: [node('a'), shared('b')], owner: 'bad' });
      const { now } = await revoke({ resource: 'a' }, { keepOutMs: 60_000 });
      for (const parts of [[node('a')], [shared('a')], [shared('b')], [subtree('b')]]) {
        const refusal = await refuse({ parts, owner: 'bad' });
        assert.equal(refusal.reason, 'lock_delay');
        assert.equal(refusal.retryAfterMs, now + 60_000 - lastNow());
      }
      await grant({ name: 'c', owner: 'bad' });
      await release(await grant({ name: 'a', owner: 'good' }));
      await grant({ name: 'b', owner: 'good' });
    },
  },
  {
    tags: ['Q6', 'A7'],
    title: 'keepOut ends by itself',
    run: async ({ grant, refuse, revoke, passTime }) => {
      await grant({ name: 'a', owner: 'bad' });
      await revoke({ owner: 'bad' }, { keepOutMs: 500 });
      await refuse({ name: 'a', owner: 'bad' });
      await passTime(500);
      await grant({ name: 'a', owner: 'bad' });
    },
  },
];
