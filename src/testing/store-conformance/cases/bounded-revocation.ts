// A7, S18: a revocation ends at most 1,000 a step and says that there is more; repeating it reaches everything.
import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';
import type { CaseContext, Wanted } from '../context.js';

const COUNT = 1_100;

/** Takes many leases of one owner, a batch at a time. */
async function takeMany({ ask, acquireAll }: CaseContext, wanted: Exclude<Wanted, string>): Promise<void> {
  const one = await ask(wanted);
  const requests = Array.from({ length: COUNT }, (_, i) => ({
    ...one,
    id: `${one.id}-${String(i).padStart(5, '0')}`,
    parts: [{ name: `many/${i}`, scope: 'node' as const, mode: 'exclusive' as const }],
  }));
  const results = await acquireAll(requests);
  assert.ok(results.every(({ outcome }) => outcome === 'granted'));
}

/** Repeats the order while it says that there is more; it may not take more steps than there is work. */
async function revokeAll({ revoke, store }: CaseContext, target: { owner: string } | { under: string }): Promise<void> {
  const { epoch: upToEpoch } = await store.time();
  let ended = 0;
  for (let step = 0; step < 10; step += 1) {
    const revoked = await revoke(target, { upToEpoch });
    assert.ok(revoked.ended.length <= 1_000, 'at most 1,000 a step');
    ended += revoked.ended.length;
    if (!revoked.more) break;
  }
  assert.equal(ended, COUNT, 'everything that matched was ended');
  assert.deepEqual((await store.list({ limit: 10 })).items, []);
}

export const boundedRevocation: readonly ConformanceCase[] = [
  {
    tags: ['A7', 'S18'],
    title: 'a revocation of more than 1,000 leases takes several steps and ends them all',
    needs: { manyRequests: true },
    run: async (context) => {
      await takeMany(context, { owner: 'crowd' });
      await revokeAll(context, { owner: 'crowd' });
    },
  },
  {
    tags: ['A7', 'S18', 'Q6'],
    title: 'a revocation in steps gets past leases it has ended that still block',
    needs: { manyRequests: true },
    run: async (context) => {
      await takeMany(context, { owner: 'crowd', lockDelayMs: 60_000 });
      await revokeAll(context, { owner: 'crowd' });
    },
  },
  {
    tags: ['A7', 'S18', 'Q6'],
    title: 'a revocation reaches live leases behind more than 1,000 that were released and left a block',
    needs: { manyRequests: true },
    run: async (context) => {
      const { store, grant, revoke, record, newId } = context;
      await takeMany(context, { owner: 'crowd', minHoldMs: 100 });
      for (let at = 0; at < COUNT; at += 256) {
        const { items } = await store.list({ owner: 'crowd', limit: 256 });
        await store.end(items.map(({ id, epoch }) => ({ id, epoch, requestId: newId(), why: 'released' as const })));
      }
      await context.passTime(1_000);
      const live = await grant({ name: 'live', owner: 'crowd' });
      for (let step = 0; step < 10; step += 1) if (!(await revoke({ owner: 'crowd' })).more) break;
      assert.equal((await record(live.id)).status, 'revoked');
    },
  },
];
