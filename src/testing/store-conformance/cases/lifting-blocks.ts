// Q6: blocks are lifted by revoking the resource (or by a reclaim, see there), and by nothing else.
import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';

export const liftingBlocks: readonly ConformanceCase[] = [
  {
    tags: ['Q6', 'A7'],
    title: 'revoking the resource lifts its minHold, its lockDelay and its keepOut',
    run: async ({ grant, release, refuse, revoke, passTime, shortTtlMs }) => {
      await release(await grant({ name: 'a', minHoldMs: 60_000 }));
      await grant({ name: 'b', ttlMs: shortTtlMs, lockDelayMs: 60_000 });
      await grant({ name: 'c', owner: 'bad' });
      await revoke({ resource: 'c' }, { keepOutMs: 60_000 });
      await passTime(shortTtlMs);
      for (const name of ['a', 'b', 'c']) {
        await refuse({ name, owner: 'bad' });
        const lifted = await revoke({ resource: name });
        assert.deepEqual(lifted.ended, [], 'a block is not a lease that was ended');
        await grant({ name, owner: 'bad' });
      }
    },
  },
  {
    tags: ['Q6', 'A7'],
    title: 'revoking everything under a name lifts the blocks there',
    run: async ({ grant, release, refuse, revoke }) => {
      await release(await grant({ name: 'a/b/c', minHoldMs: 60_000 }));
      await release(await grant({ name: 'ab', minHoldMs: 60_000 }));
      await revoke({ under: 'a' });
      await grant('a/b/c');
      await refuse('ab');
    },
  },
  {
    tags: ['Q6', 'A7'],
    title: 'revoking by owner or by lease lifts no block',
    run: async ({ grant, release, refuse, revoke }) => {
      const lease = await grant({ name: 'a', owner: 'me', minHoldMs: 60_000 });
      await release(lease);
      await revoke({ owner: 'me' });
      await revoke({ leaseId: lease.id });
      assert.equal((await refuse('a')).reason, 'min_hold');
    },
  },
  {
    tags: ['Q6', 'A7'],
    title: 'revoking up to an epoch lifts no block of a later lease',
    run: async ({ grant, release, refuse, revoke }) => {
      const lease = await grant({ name: 'a', minHoldMs: 60_000 });
      await release(lease);
      await revoke({ resource: 'a' }, { upToEpoch: lease.epoch - 1 });
      assert.equal((await refuse('a')).reason, 'min_hold');
      await revoke({ resource: 'a' }, { upToEpoch: lease.epoch });
      await grant('a');
    },
  },
  {
    tags: ['Q6', 'Q1'],
    title: 'a lifted block does not let a newcomer past those who waited for it',
    run: async ({ grant, release, queue, refuse, revoke, newId, store }) => {
      await release(await grant({ name: 'a', minHoldMs: 60_000 }));
      const { epoch } = await store.time();
      await grant(newId());
      const waiter = await queue('a');
      await revoke({ resource: 'a' }, { upToEpoch: epoch });
      assert.equal((await refuse('a')).reason, 'queue');
      await grant(waiter);
    },
  },
];
