// H4: retention by age, in bounded steps. What was pruned is said to be lost; what was not is still read exactly.
import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome } from '../context.js';

export const pruning: readonly ConformanceCase[] = [
  {
    tags: ['H4'],
    title: 'a prune takes the rows older than asked, and only those',
    run: async ({ grant, passTime, events, store }) => {
      await grant('old/1');
      await grant('old/2');
      await passTime(2_000);
      const young = await grant('young');
      assert.equal((await store.prune({ olderThanMs: 3_600_000, limit: 100 })).events, 0);
      const pruned = await store.prune({ olderThanMs: 1_000, limit: 100 });
      assert.deepEqual([pruned.events, pruned.more], [2, false]);
      assert.deepEqual(
        (await events()).map(({ leaseId }) => leaseId),
        [young.id],
      );
    },
  },
  {
    tags: ['H4', 'S18'],
    title: 'a prune takes at most its limit, oldest first, and says that there is more',
    run: async ({ grant, passTime, events, store }) => {
      for (let i = 0; i < 5; i += 1) await grant(`orders/${i}`);
      const before = await events();
      await passTime(100);
      const first = await store.prune({ olderThanMs: 0, limit: 3 });
      assert.deepEqual([first.events, first.more], [3, true]);
      assert.deepEqual(await events(), before.slice(3));
      const second = await store.prune({ olderThanMs: 0, limit: 3 });
      assert.deepEqual([second.events, second.more], [2, false]);
      assert.deepEqual(await events(), []);
    },
  },
  {
    tags: ['H4'],
    title: 'with an archive, nothing past the archived position goes',
    run: async ({ grant, passTime, events, store }) => {
      for (let i = 0; i < 4; i += 1) await grant(`orders/${i}`);
      const before = await events();
      await passTime(100);
      assert.equal((await store.prune({ olderThanMs: 0, upTo: before[1]?.id, limit: 100 })).events, 2);
      assert.deepEqual(await events(), before.slice(2));
    },
  },
  {
    tags: ['H1', 'H4'],
    title: 'a pruned position is lost with an oldest that works; the last pruned one and later ones go on exactly',
    run: async ({ grant, passTime, events, store }) => {
      for (let i = 0; i < 4; i += 1) await grant(`orders/${i}`);
      const before = await events();
      await passTime(100);
      await store.prune({ olderThanMs: 0, limit: 3 });
      for (const row of before.slice(0, 2)) {
        const { oldest } = expectOutcome(await store.events({ after: row.id, limit: 10 }), 'lost');
        assert.deepEqual(await events({ after: oldest }), before.slice(3));
      }
      assert.deepEqual(await events({ after: before[2]?.id }), before.slice(3));
      assert.deepEqual(await events({ after: before[3]?.id }), []);
    },
  },
  {
    tags: ['H1', 'H4'],
    title: 'the end of a log that was pruned away entirely is still a position',
    run: async ({ grant, passTime, events, store }) => {
      await grant('a');
      const last = (await events())[0]?.id;
      await passTime(100);
      await store.prune({ olderThanMs: 0, limit: 100 });
      const next = await grant('b');
      const rows = await events({ after: last });
      assert.deepEqual(
        rows.map(({ leaseId }) => leaseId),
        [next.id],
      );
    },
  },
  {
    tags: ['H4', 'S2'],
    title: 'pruning everything changes no lease and never takes the epoch back',
    needs: { passMs: 300_000 },
    run: async ({ grant, release, passTime, record, store }) => {
      const live = await grant({ name: 'live', ttlMs: 3_600_000 });
      const ended = await grant('ended');
      await release(ended);
      await passTime(300_000);
      await store.prune({ olderThanMs: 0, limit: 1_000 });
      assert.deepEqual(await record(live.id), live);
      assert.ok((await grant('ended')).epoch > ended.epoch);
    },
  },
];
