// S10: several parts are granted together or not at all. S1: shared parts fit up to the smallest limit any of them gave.
import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome } from '../context.js';
import { node, shared, sharedSubtree, subtree } from '../parts.js';

export const setsAndLimits: readonly ConformanceCase[] = [
  {
    tags: ['S10', 'S2'],
    title: 'the parts of one acquire are one lease: one id, one epoch, one end',
    run: async ({ grant, refuse, release, record, events }) => {
      const parts = [node('a'), shared('b'), subtree('c')];
      const lease = await grant({ parts });
      assert.deepEqual(lease.parts, parts);
      for (const name of ['a', 'b', 'c/d']) assert.equal((await refuse(name)).holders[0]?.id, lease.id);
      await release(lease);
      for (const name of ['a', 'b', 'c/d']) await grant(name);
      assert.equal((await record(lease.id)).status, 'released');
      assert.equal((await events({ leaseId: lease.id })).length, 2);
    },
  },
  {
    tags: ['S10'],
    title: 'when one part is held, none is taken',
    run: async ({ grant, refuse }) => {
      await grant('b');
      assert.equal((await refuse({ parts: [node('a'), node('b'), node('c')] })).holderCount, 1);
      await grant('a');
      await grant('c');
    },
  },
  {
    tags: ['S10', 'Q1'],
    title: 'a queued set holds its place on every part, also on those that are free',
    run: async ({ grant, queue, refuse, release }) => {
      const held = await grant('b');
      const set = await queue({ parts: [node('a'), node('b')] });
      assert.equal((await refuse('a')).reason, 'queue');
      await release(held);
      const lease = await grant(set);
      assert.equal(lease.parts.length, 2);
    },
  },
  {
    tags: ['S10'],
    title: 'overlapping sets asked for in one batch: the first gets all, the second nothing',
    run: async ({ ask, grant, store }) => {
      const first = await ask({ parts: [node('a'), node('b')] });
      const second = await ask({ parts: [node('b'), node('c')] });
      const { results } = await store.acquire([first, second]);
      expectOutcome(results[0] as NonNullable<(typeof results)[0]>, 'granted');
      expectOutcome(results[1] as NonNullable<(typeof results)[0]>, 'refused');
      await grant('c');
    },
  },
  {
    tags: ['S10', 'S3'],
    title: 'a set expires as a whole',
    run: async ({ grant, passTime, shortTtlMs, events }) => {
      const lease = await grant({ parts: [node('a'), node('b')], ttlMs: shortTtlMs });
      await passTime(shortTtlMs);
      await grant('a');
      await grant('b');
      assert.equal((await events({ type: 'lease.expired', leaseId: lease.id })).length, 1);
    },
  },
  {
    tags: ['S1'],
    title: 'a limit of n lets n in and refuses the next with reason limit',
    run: async ({ grant, refuse, release, lastNow }) => {
      const held = [];
      for (let i = 0; i < 3; i += 1) held.push(await grant({ parts: [shared('pool', 3)], ttlMs: 30_000 + i }));
      const refusal = await refuse({ parts: [shared('pool', 3)] });
      assert.equal(refusal.reason, 'limit');
      assert.equal(refusal.holderCount, 3);
      assert.equal(refusal.retryAfterMs, Math.min(...held.map(({ expiresAt }) => expiresAt)) - lastNow());
      await release(held[1] as (typeof held)[0]);
      await grant({ parts: [shared('pool', 3)] });
      assert.equal((await refuse({ parts: [shared('pool', 3)] })).reason, 'limit');
    },
  },
  {
    tags: ['S1'],
    title: 'the smallest limit of all who hold decides, whoever gave it',
    run: async ({ grant, refuse, release }) => {
      const small = await grant({ parts: [shared('pool', 2)] });
      await grant({ parts: [shared('pool')] });
      assert.equal((await refuse({ parts: [shared('pool')] })).reason, 'limit', 'a holder gave 2');
      assert.equal((await refuse({ parts: [shared('pool', 100)] })).reason, 'limit', 'a holder gave 2');
      await release(small);
      await grant({ parts: [shared('pool', 100)] });
      assert.equal((await refuse({ parts: [shared('pool', 2)] })).reason, 'limit', 'the request itself gave 2');
      await grant({ parts: [shared('pool', 3)] });
    },
  },
  {
    tags: ['S1'],
    title: 'a limit of one is as good as exclusive among those who share',
    run: async ({ grant, refuse }) => {
      await grant({ parts: [shared('pool', 1)] });
      assert.equal((await refuse({ parts: [shared('pool')] })).reason, 'limit');
      assert.equal((await refuse('pool')).reason, 'held');
    },
  },
  {
    tags: ['S1'],
    title: 'limits count on one name: shared subtrees above and names below do not fill it',
    run: async ({ grant, refuse }) => {
      await grant({ parts: [sharedSubtree('pool')] });
      await grant({ parts: [sharedSubtree('pool')] });
      await grant({ parts: [shared('pool/a', 1)] });
      await grant({ parts: [shared('pool/b', 1)] });
      assert.equal((await refuse({ parts: [shared('pool/a', 1)] })).reason, 'limit');
    },
  },
  {
    tags: ['S1', 'S3'],
    title: 'an expired holder no longer fills a limit',
    run: async ({ grant, refuse, passTime, shortTtlMs }) => {
      await grant({ parts: [shared('pool', 1)], ttlMs: shortTtlMs });
      await refuse({ parts: [shared('pool', 1)] });
      await passTime(shortTtlMs);
      await grant({ parts: [shared('pool', 1)] });
    },
  },
  {
    tags: ['S1', 'S10'],
    title: 'a set with one full limit takes nothing',
    run: async ({ grant, refuse }) => {
      await grant({ parts: [shared('pool', 1)] });
      assert.equal((await refuse({ parts: [node('a'), shared('pool', 1)] })).reason, 'limit');
      await grant('a');
    },
  },
];
