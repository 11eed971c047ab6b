// H1: one log per namespace. Positions resume exactly and never skip; one that is pruned or foreign says so and names the
// oldest there is.
import assert from 'node:assert/strict';
import type { LogRow } from '../../../domain/events.js';
import type { EventQuery } from '../../../domain/requests.js';
import type { Store } from '../../../stores/store.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome, expectRejection, type CaseContext } from '../context.js';
import { node } from '../parts.js';

/** Six rows: two leases on each of three names, one after the other. */
async function write({ grant, release }: Pick<CaseContext, 'grant' | 'release'>): Promise<void> {
  for (const name of ['a', 'a/b', 'c']) await release(await grant({ name, owner: `of ${name}` }));
}

async function page(store: Store, query: Partial<EventQuery>) {
  return expectOutcome(await store.events({ limit: 1_000, ...query }), 'rows');
}

export const eventLog: readonly ConformanceCase[] = [
  {
    tags: ['H1'],
    title: 'the log is read from its oldest row, in the order things happened, with positions that differ',
    run: async (context) => {
      await write(context);
      const rows = await context.events();
      assert.deepEqual(
        rows.map(({ type, resource }) => [type, resource]),
        ['a', 'a/b', 'c'].flatMap((name) => [
          ['lease.acquired', name],
          ['lease.released', name],
        ]),
      );
      assert.equal(new Set(rows.map(({ id }) => id)).size, 6);
    },
  },
  {
    tags: ['H1'],
    title: 'every row is a position from which the rest follows exactly',
    run: async (context) => {
      await write(context);
      const rows = await context.events();
      for (const [i, row] of rows.entries()) {
        assert.deepEqual((await page(context.store, { after: row.id })).rows, rows.slice(i + 1));
      }
    },
  },
  {
    tags: ['H1'],
    title: 'pages of any size give the same rows, and say whether there is more',
    run: async (context) => {
      await write(context);
      const whole = await context.events();
      for (const limit of [1, 2, 4, 6, 7]) {
        const rows: LogRow[] = [];
        let after: string | undefined;
        let more = true;
        for (let pages = 0; more; pages += 1) {
          assert.ok(pages < 10, 'the log does not come to an end');
          const answer = await page(context.store, { after, limit });
          assert.ok(answer.rows.length <= limit);
          rows.push(...answer.rows);
          ({ next: after, more } = answer);
          assert.equal(more, rows.length < whole.length);
        }
        assert.deepEqual(rows, whole);
      }
    },
  },
  {
    tags: ['H1'],
    title: 'the position at the end, also of an empty log, gives what is written after it and nothing else',
    run: async (context) => {
      const empty = await page(context.store, {});
      assert.deepEqual([empty.rows, empty.more], [[], false]);
      await write(context);
      const first = await page(context.store, { after: empty.next });
      assert.equal(first.rows.length, 6);
      assert.deepEqual((await page(context.store, { after: first.next })).rows, []);
      await write(context);
      const second = await page(context.store, { after: first.next });
      assert.equal(second.rows.length, 6);
      assert.deepEqual([...first.rows, ...second.rows], await context.events());
    },
  },
  {
    tags: ['H1'],
    title: 'a reader that follows while others write misses nothing and sees nothing twice',
    run: async (context) => {
      const { store, anotherClient } = context;
      const writers = [context, await anotherClient(), await anotherClient()];
      const seen: LogRow[] = [];
      let isDone = false;
      let after = (await page(store, {})).next;
      const writing = Promise.all(
        writers.map(async ({ grant, release }, i) => {
          for (let n = 0; n < 25; n += 1) await release(await grant(`w${i}/${n}`));
        }),
      ).finally(() => (isDone = true));
      let isRead = false;
      while (!isRead && seen.length <= 150) {
        const wasDone = isDone;
        const answer = await page(store, { after, limit: 7 });
        seen.push(...answer.rows);
        after = answer.next;
        isRead = wasDone && answer.rows.length === 0;
      }
      await writing;
      assert.equal(seen.length, 150);
      assert.deepEqual(seen, await context.events());
    },
  },
  {
    tags: ['H1'],
    title: 'a filtered reader moves past what it does not want, and misses nothing it wants',
    run: async (context) => {
      const wanted: LogRow[] = [];
      let after: string | undefined;
      for (let i = 0; i < 3; i += 1) {
        await write(context);
        const answer = await page(context.store, { after, resource: 'c' });
        wanted.push(...answer.rows);
        after = answer.next;
      }
      assert.deepEqual(wanted, await context.events({ resource: 'c' }));
      assert.equal(wanted.length, 6);
    },
  },
  {
    tags: ['H1', 'A8'],
    title: 'the log can be asked by lease, owner, type, name, prefix and time',
    run: async (context) => {
      const { grant, release, events, passTime, store } = context;
      await write(context);
      await passTime(5);
      const { now: since } = await store.time();
      const set = await grant({ parts: [node('a/b/c'), node('d')], owner: 'set' });
      await passTime(5);
      await release(set);
      const all = await events();
      const last = all.at(-1) as LogRow;
      const count = async (query: Partial<EventQuery>): Promise<number> => (await events(query)).length;
      assert.deepEqual(await events({ leaseId: set.id }), all.slice(6));
      assert.deepEqual(await events({ owner: 'of c' }), all.slice(4, 6));
      assert.equal(await count({ type: 'lease.released' }), 4);
      assert.equal(await count({ resource: 'a' }), 2);
      assert.equal(await count({ resource: 'd' }), 2, 'any name of a set');
      assert.equal(await count({ prefix: 'a' }), 6, 'the name and what is below');
      assert.equal(await count({ prefix: 'a/b' }), 4);
      assert.deepEqual(await events({ since }), all.slice(6), 'since: at or after');
      assert.deepEqual(await events({ since, until: last.at }), all.slice(6, 7), 'until: before');
      assert.equal(await count({ owner: 'set', type: 'lease.acquired', prefix: 'a' }), 1, 'all together');
      assert.equal(await count({ type: 'lease.nothing' }), 0);
    },
  },
  {
    tags: ['H1', 'A8'],
    title: 'backward: newest first, and on from a position',
    run: async (context) => {
      await write(context);
      const newestFirst = (await context.events()).reverse();
      assert.deepEqual((await page(context.store, { backward: true })).rows, newestFirst);
      const first = await page(context.store, { backward: true, limit: 2 });
      assert.deepEqual([first.rows, first.more], [newestFirst.slice(0, 2), true]);
      const rest = await page(context.store, { backward: true, before: first.next });
      assert.deepEqual([rest.rows, rest.more], [newestFirst.slice(2), false]);
      const before = await page(context.store, { backward: true, before: newestFirst[3]?.id, resource: 'a' });
      assert.deepEqual(before.rows, newestFirst.slice(4));
    },
  },
  {
    tags: ['H1', 'A8'],
    title: 'a reader that saw everything, through whatever filter, stands at the end it read towards',
    run: async (context) => {
      await write(context);
      const filters: Partial<EventQuery>[] = [
        { resource: 'nothing' },
        { resource: 'c' },
        { prefix: 'c' },
        { owner: 'of c' },
        { type: 'lease.expired' },
      ];
      for (const filter of filters) {
        const { next: oldest } = await page(context.store, { backward: true, ...filter });
        assert.deepEqual((await page(context.store, { backward: true, before: oldest })).rows, [], 'nothing before it');
        const { next: newest } = await page(context.store, filter);
        assert.deepEqual((await page(context.store, { after: newest })).rows, [], 'nothing after it');
      }
    },
  },
  {
    tags: ['H1'],
    title: 'a position of another namespace, of other data, or no position at all, is lost, and says where to begin',
    run: async (context) => {
      const { inNamespace, elsewhere, store, events } = context;
      await write(context);
      const [neighbour, stranger] = [inNamespace('neighbour'), await elsewhere()];
      await write(neighbour);
      await write(stranger);
      const foreign = [...(await neighbour.events()), ...(await stranger.events())].map(({ id }) => id);
      const nonsense = ['', 'x', '!!!', '0', 'x'.repeat(10_000), "'; --", '\u0000'];
      for (const after of [...foreign, ...nonsense]) {
        const { oldest } = expectOutcome(await store.events({ after, limit: 10 }), 'lost');
        assert.deepEqual(await events({ after: oldest }), await events());
        expectOutcome(await store.events({ backward: true, before: after, limit: 10 }), 'lost');
      }
      await expectRejection(store.events({ limit: 0 }), 'INVALID_ARGUMENT');
    },
  },
];
