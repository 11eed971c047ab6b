// Q5: an upgrade is a ticket of its own; granted, the same lease becomes exclusive with a new epoch. A downgrade keeps id
// and epoch and never waits.
import assert from 'node:assert/strict';
import type { Lease } from '../../../domain/lease.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome, type Wanted } from '../context.js';
import { node, shared, sharedSubtree, subtree } from '../parts.js';

function upgradeOf(lease: Lease): Exclude<Wanted, string> {
  const parts = lease.parts.map(({ name, scope }) => ({ name, scope, mode: 'exclusive' as const }));
  return { parts, upgrades: { id: lease.id, epoch: lease.epoch } };
}

export const upgrades: readonly ConformanceCase[] = [
  {
    tags: ['Q5', 'S2'],
    title: 'an upgrade of the only holder is granted at once: same id, exclusive, a new epoch, the same expiry',
    run: async ({ grant, refuse, renew, release }) => {
      const lease = await grant({ parts: [sharedSubtree('a'), shared('b', 3)] });
      const upgraded = await grant(upgradeOf(lease));
      assert.equal(upgraded.id, lease.id);
      assert.ok(upgraded.epoch > lease.epoch);
      assert.deepEqual(upgraded.parts, [subtree('a'), node('b')]);
      assert.equal(upgraded.expiresAt, lease.expiresAt);
      await refuse({ parts: [shared('a/x')] });
      await refuse({ parts: [shared('b')] });
      const stale = expectOutcome(await renew(lease), 'notHeld');
      assert.deepEqual([stale.status, stale.epoch], ['active', upgraded.epoch]);
      expectOutcome(await renew(upgraded), 'renewed');
      assert.deepEqual(await release(lease), { outcome: 'stale', epoch: upgraded.epoch });
      expectOutcome(await release(upgraded), 'released');
      await grant('b');
    },
  },
  {
    tags: ['Q5', 'Q1'],
    title: 'an upgrade waits for the others; meanwhile the shared lease stays, is renewed, and new ones queue behind',
    run: async ({ ask, grant, acquire, queue, renew, refuse, release, record }) => {
      const lease = await grant({ parts: [shared('file')] });
      const other = await grant({ parts: [shared('file')] });
      const request = await ask({ ...upgradeOf(lease), join: true });
      const waiting = expectOutcome(await acquire(request), 'queued');
      assert.deepEqual(
        waiting.refusal.holders.map(({ id }) => id),
        [other.id],
        'its own lease is not in its way',
      );
      expectOutcome(await renew(lease), 'renewed');
      assert.equal((await refuse({ parts: [shared('file')] })).reason, 'queue');
      const late = await queue({ parts: [shared('file')] });
      await release(other);
      expectOutcome(await acquire(late), 'queued');
      const upgraded = expectOutcome(await acquire(request), 'granted');
      assert.deepEqual([upgraded.lease.id, upgraded.again], [lease.id, false]);
      assert.equal((await record(lease.id)).epoch, upgraded.lease.epoch);
    },
  },
  {
    tags: ['Q5'],
    title: 'an upgrade without join is refused while others share, and changes nothing',
    run: async ({ grant, refuse, record }) => {
      const lease = await grant({ parts: [shared('file')] });
      await grant({ parts: [shared('file')] });
      assert.equal((await refuse(upgradeOf(lease))).reason, 'held');
      assert.deepEqual(await record(lease.id), lease);
      await grant({ parts: [shared('file')] });
    },
  },
  {
    tags: ['Q5', 'Q1'],
    title: 'an upgrade passes over a waiter that waits for the very lease it upgrades',
    run: async ({ grant, queue, acquire }) => {
      const lease = await grant({ parts: [shared('file')] });
      const writer = await queue('file');
      await grant(upgradeOf(lease));
      expectOutcome(await acquire(writer), 'queued');
    },
  },
  {
    tags: ['Q5', 'S8'],
    title: 'repeating a granted upgrade answers the lease again and draws no epoch',
    run: async ({ ask, grant, acquire, release, store }) => {
      const lease = await grant({ parts: [shared('file')] });
      const request = await ask(upgradeOf(lease));
      const upgraded = await grant(request);
      const { epoch } = await store.time();
      const again = expectOutcome(await acquire(request), 'granted');
      assert.deepEqual([again.again, again.lease], [true, upgraded]);
      assert.equal((await store.time()).epoch, epoch);
      await release(upgraded);
      expectOutcome(await acquire(request), 'ended');
    },
  },
  {
    tags: ['Q5', 'S9'],
    title: 'cancelling a waiting upgrade leaves the shared lease; cancelling a granted one is stale',
    run: async ({ ask, grant, acquire, cancel, record, release }) => {
      const lease = await grant({ parts: [shared('file')] });
      const other = await grant({ parts: [shared('file')] });
      const first = await ask({ ...upgradeOf(lease), join: true });
      expectOutcome(await acquire(first), 'queued');
      expectOutcome(await cancel(first.id), 'left');
      assert.deepEqual(await record(lease.id), lease);
      await grant({ parts: [shared('file')], ttlMs: 20_000 }).then(release);
      await release(other);
      const second = await ask(upgradeOf(lease));
      const upgraded = await grant(second);
      assert.deepEqual(await cancel(second.id), { outcome: 'stale', epoch: upgraded.epoch });
      assert.equal((await record(lease.id)).status, 'active');
    },
  },
  {
    tags: ['Q5', 'S5'],
    title: 'an upgrade of a lease that is gone, or under a stale epoch, is ended: lease_lost',
    run: async ({ grant, acquire, release, passTime, shortTtlMs, newId, events }) => {
      const expected = { outcome: 'ended', status: 'failed', reason: 'lease_lost' };
      const lease = await grant({ parts: [shared('file')] });
      assert.deepEqual(await acquire({ ...upgradeOf(lease), upgrades: { id: lease.id, epoch: 1 } }), expected);
      assert.deepEqual(await acquire({ ...upgradeOf(lease), upgrades: { id: newId(), epoch: 1 } }), expected);
      await release(lease);
      assert.deepEqual(await acquire(upgradeOf(lease)), expected);
      const short = await grant({ parts: [shared('file')], ttlMs: shortTtlMs });
      await passTime(shortTtlMs);
      assert.deepEqual(await acquire(upgradeOf(short)), expected);
      assert.equal((await events({ type: 'lease.expired', leaseId: short.id })).length, 1);
    },
  },
  {
    tags: ['Q5', 'S9'],
    title: 'a waiting upgrade whose lease ends is failed by its next refresh and leaves the queue',
    run: async ({ ask, grant, acquire, release, record }) => {
      const lease = await grant({ parts: [shared('file')] });
      await grant({ parts: [shared('file')] });
      const request = await ask({ ...upgradeOf(lease), join: true });
      expectOutcome(await acquire(request), 'queued');
      await release(lease);
      const end = expectOutcome(await acquire(request), 'ended');
      assert.deepEqual([end.status, end.reason], ['failed', 'lease_lost']);
      assert.equal((await record(request.id)).status, 'failed');
      await grant({ parts: [shared('file')] });
    },
  },
  {
    tags: ['Q5', 'S18'],
    title: 'an upgrade asks for exactly the parts of its own shared lease, under an id of its own',
    run: async ({ grant, failItem, record }) => {
      const lease = await grant({ parts: [shared('file')] });
      const request = upgradeOf(lease);
      await failItem({ ...request, parts: [node('other')] });
      await failItem({ ...request, parts: [node('file'), node('other')] });
      await failItem({ ...request, parts: [subtree('file')] });
      await failItem({ ...request, parts: [shared('file')] });
      await failItem({ ...request, id: lease.id });
      await failItem({ ...request, reclaim: true });
      await failItem({ ...request, upgrades: { id: lease.id, epoch: 0 } });
      await failItem({ ...request, upgrades: { id: 'short', epoch: lease.epoch } });
      assert.deepEqual(await record(lease.id), lease);
      const exclusive = await grant('exclusive');
      await failItem(upgradeOf(exclusive));
    },
  },
  {
    tags: ['Q5', 'S2'],
    title: 'a downgrade keeps id, epoch and expiry, lets others share, and can be repeated',
    run: async ({ grant, change, refuse, renew, store }) => {
      const lease = await grant({ parts: [subtree('a'), node('b')] });
      const { epoch } = await store.time();
      const first = expectOutcome(await change(lease, 'downgrade', 'once'), 'changed');
      assert.deepEqual(first.lease, { ...lease, parts: [sharedSubtree('a'), shared('b')] });
      assert.equal(first.again, false);
      const again = expectOutcome(await change(lease, 'downgrade', 'once'), 'changed');
      assert.deepEqual([again.again, again.lease], [true, first.lease]);
      assert.equal(expectOutcome(await change(lease, 'downgrade', 'twice'), 'changed').again, true);
      assert.equal((await store.time()).epoch, epoch);
      await grant({ parts: [shared('a/x')] });
      await grant({ parts: [shared('b')] });
      await refuse('b');
      expectOutcome(await renew(lease), 'renewed');
    },
  },
  {
    tags: ['Q5', 'S5'],
    title: 'a late downgrade changes nothing and says what it found',
    run: async ({ grant, change, release, record }) => {
      const lease = await grant('a');
      const stale = expectOutcome(await change({ id: lease.id, epoch: lease.epoch - 1 }, 'downgrade'), 'notHeld');
      assert.deepEqual([stale.status, stale.epoch], ['active', lease.epoch]);
      assert.deepEqual(await record(lease.id), lease);
      await release(lease);
      assert.equal(expectOutcome(await change(lease, 'downgrade'), 'notHeld').status, 'released');
    },
  },
];
