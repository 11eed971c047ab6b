// A6, delegation: the lease passes to another owner under a new epoch; from then on the old holder is nobody.
import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome } from '../context.js';

export const delegation: readonly ConformanceCase[] = [
  {
    tags: ['A6', 'S2'],
    title: 'a delegation gives the lease another owner and a new epoch, and leaves the rest as it was',
    run: async ({ grant, change, record, lastNow }) => {
      const lease = await grant({ name: 'orders/0', owner: 'giver', metadata: { a: 1 } });
      const changed = expectOutcome(await change(lease, { delegate: 'heir' }), 'changed');
      assert.ok(changed.lease.epoch > lease.epoch);
      assert.deepEqual(changed.lease, { ...lease, owner: 'heir', epoch: changed.lease.epoch });
      assert.deepEqual([changed.again, changed.remainingMs], [false, lease.expiresAt - lastNow()]);
      assert.deepEqual(await record(lease.id), changed.lease);
    },
  },
  {
    tags: ['A6', 'S5'],
    title: 'the old holder can neither renew, release nor delegate again',
    run: async ({ grant, change, renew, release, record }) => {
      const lease = await grant('orders/0');
      const { lease: given } = expectOutcome(await change(lease, { delegate: 'heir' }), 'changed');
      const late = { outcome: 'notHeld', status: 'active', epoch: given.epoch };
      assert.deepEqual(await renew(lease), late);
      assert.deepEqual(await change(lease, { delegate: 'other' }), late);
      assert.deepEqual(await change(lease, 'downgrade'), late);
      assert.deepEqual(await release(lease), { outcome: 'stale', epoch: given.epoch });
      assert.deepEqual(await record(lease.id), given);
      expectOutcome(await renew(given), 'renewed');
    },
  },
  {
    tags: ['A6', 'S5'],
    title: 'a repeated delegation answers the same lease and draws no second epoch',
    run: async ({ grant, change, events }) => {
      const lease = await grant('orders/0');
      const first = expectOutcome(await change(lease, { delegate: 'heir' }, 'once'), 'changed');
      const again = expectOutcome(await change(lease, { delegate: 'heir' }, 'once'), 'changed');
      assert.deepEqual([again.again, again.lease], [true, first.lease]);
      assert.equal((await events({ type: 'lease.delegated' })).length, 1);
    },
  },
  {
    tags: ['A6', 'S2'],
    title: 'resuming draws a new epoch, so the document is good for one holder',
    run: async ({ grant, change, release, anotherClient }) => {
      const second = await anotherClient();
      const lease = await grant('orders/0');
      const { lease: given } = expectOutcome(await change(lease, { delegate: 'heir' }), 'changed');
      const { lease: resumed } = expectOutcome(await second.change(given, { resume: 'heir-2' }), 'changed');
      assert.ok(resumed.epoch > given.epoch);
      assert.equal(resumed.owner, 'heir-2');
      const late = expectOutcome(await change(given, { resume: 'heir-3' }), 'notHeld');
      assert.deepEqual([late.status, late.epoch], ['active', resumed.epoch]);
      assert.deepEqual(await release(given), { outcome: 'stale', epoch: resumed.epoch });
      expectOutcome(await second.release(resumed), 'released');
    },
  },
  {
    tags: ['A6', 'S3', 'S5'],
    title: 'what has ended cannot be delegated or resumed',
    run: async ({ grant, change, release, revoke, passTime, shortTtlMs }) => {
      const released = await grant('a');
      await release(released);
      const revoked = await grant('b');
      await revoke({ resource: 'b' });
      const expired = await grant({ name: 'c', ttlMs: shortTtlMs });
      await passTime(shortTtlMs);
      for (const [lease, status] of [
        [released, 'released'],
        [revoked, 'revoked'],
        [expired, 'expired'],
      ] as const) {
        assert.equal(expectOutcome(await change(lease, { delegate: 'heir' }), 'notHeld').status, status);
        assert.equal(expectOutcome(await change(lease, { resume: 'heir' }), 'notHeld').status, status);
      }
    },
  },
  {
    tags: ['A6', 'S3'],
    title: 'a delegation does not prolong the lease',
    run: async ({ grant, change, passTime, shortTtlMs, record }) => {
      const lease = await grant({ name: 'a', ttlMs: shortTtlMs });
      await change(lease, { delegate: 'heir' });
      await passTime(shortTtlMs);
      const ended = await record(lease.id);
      assert.deepEqual([ended.status, ended.endedAt], ['expired', lease.expiresAt]);
      await grant('a');
    },
  },
  {
    tags: ['A6', 'S18'],
    title: 'a delegation to a bad owner fails and changes nothing',
    run: async ({ grant, newId, record, store }) => {
      const lease = await grant('a');
      for (const toOwner of ['', 'x'.repeat(129), 'a\u0000b', '\ud800']) {
        const request = { kind: 'delegate' as const, id: lease.id, epoch: lease.epoch, requestId: newId(), toOwner };
        assert.equal((await store.change([request])).results[0]?.outcome, 'failed');
      }
      assert.deepEqual(await record(lease.id), lease);
    },
  },
];
