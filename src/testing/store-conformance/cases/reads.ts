// A8, A10: get, list and show. Whole records, in order, by page and by filter; what is over is not shown as live.
import assert from 'node:assert/strict';
import type { Lease } from '../../../domain/lease.js';
import type { ListFilter } from '../../../domain/requests.js';
import type { Store } from '../../../stores/store.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectRejection } from '../context.js';
import { node, shared, sharedSubtree, subtree } from '../parts.js';

async function listAll(store: Store, filter: Partial<ListFilter>): Promise<Lease[]> {
  const items: Lease[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 100; pages += 1) {
    const page = await store.list({ limit: 1_000, ...filter, cursor });
    items.push(...page.items);
    cursor = page.cursor;
    if (cursor === undefined) return items;
  }
  assert.fail('the list does not come to an end');
}
const names = (leases: readonly Lease[]): (string | undefined)[] => leases.map(({ parts }) => parts[0]?.name);

export const reads: readonly ConformanceCase[] = [
  {
    tags: ['A10'],
    title: 'a record says everything about its lease',
    run: async ({ ask, grant, record, wall, lastNow }) => {
      const request = await ask({
        parts: [node('a'), shared('b', 2), subtree('c')],
        owner: 'me',
        ttlMs: 20_000,
        maxRenewals: 3,
        operationId: 'op-1',
        metadata: { host: 'h' },
        callerWall: wall() + 5_000,
      });
      const lease = await grant(request);
      const now = lastNow();
      const { skewMs, epoch, ...rest } = await record(lease.id);
      const given = Object.entries(rest).filter(([, value]) => value !== undefined);
      assert.deepEqual(Object.fromEntries(given), {
        id: request.id,
        parts: request.parts,
        owner: 'me',
        status: 'active',
        ttlMs: 20_000,
        acquiredAt: now,
        renewedAt: now,
        expiresAt: now + 20_000,
        renewals: 0,
        maxRenewals: 3,
        operationId: 'op-1',
        metadata: { host: 'h' },
      });
      assert.ok(Number.isSafeInteger(epoch) && Number.isSafeInteger(skewMs));
      assert.ok(Math.abs(skewMs - 5_000) < 2_000, "the holder's wall clock against the store's");
    },
  },
  {
    tags: ['A8'],
    title: 'get answers in the order asked, unknown ids as nothing, the same id twice twice',
    run: async ({ grant, newId, store }) => {
      const [a, b] = [await grant('a'), await grant('b')];
      const { items } = await store.get([b.id, newId(), a.id, b.id]);
      assert.deepEqual(items, [b, undefined, a, b]);
    },
  },
  {
    tags: ['A8'],
    title: 'list gives live leases and tickets in byte order of their first name, each once',
    run: async ({ grant, queue, release, store }) => {
      const order = ['A', 'a', 'a-b', 'a/b', 'a0', 'b', 'z\uff5e', 'z\u{1f600}', 'é'];
      for (const name of [...order].reverse()) await grant(name);
      await queue({ parts: [node('b'), node('c')] });
      await release(await grant('gone'));
      const items = await listAll(store, {});
      assert.deepEqual(
        names(items),
        order.flatMap((name) => (name === 'b' ? [name, name] : [name])),
      );
      assert.equal(new Set(items.map(({ id }) => id)).size, items.length);
    },
  },
  {
    tags: ['A8', 'S18'],
    title: 'pages of any size give the same list, also when a page ends between leases of one name',
    run: async ({ grant, store }) => {
      for (let i = 0; i < 4; i += 1) await grant({ parts: [shared('b')] });
      for (const name of ['a', 'c:d', 'e']) await grant(name);
      const whole = await listAll(store, {});
      assert.equal(whole.length, 7);
      for (const limit of [1, 2, 3, 6, 7, 8]) assert.deepEqual(await listAll(store, { limit }), whole);
      assert.equal((await store.list({ limit: 7 })).cursor, undefined, 'a full last page has no next');
    },
  },
  {
    tags: ['A8'],
    title: 'a page that follows leases ended meanwhile neither repeats nor skips what still stands',
    run: async ({ grant, release, store }) => {
      const leases = [];
      for (let i = 0; i < 6; i += 1) leases.push(await grant(`n${i}`));
      const first = await store.list({ limit: 3 });
      for (const lease of leases.slice(1, 4)) await release(lease);
      const rest = await store.list({ limit: 3, cursor: first.cursor });
      assert.deepEqual(names([...first.items, ...rest.items]), ['n0', 'n1', 'n2', 'n4', 'n5']);
    },
  },
  {
    tags: ['A8'],
    title: 'list filters by prefix, name, owner, status and age, alone and together',
    run: async ({ grant, queue, passTime, store }) => {
      await grant({ name: 'a/1', owner: 'x' });
      await grant({ parts: [node('a/2'), node('m')], owner: 'y' });
      await passTime(500);
      await grant({ name: 'ab', owner: 'x' });
      await queue({ name: 'a/1', owner: 'y' });
      const found = async (filter: Partial<ListFilter>) => names(await listAll(store, filter));
      assert.deepEqual(await found({ prefix: 'a' }), ['a/1', 'a/1', 'a/2']);
      assert.deepEqual(await found({ prefix: 'a/1' }), ['a/1', 'a/1']);
      assert.deepEqual(await found({ prefix: 'm' }), ['a/2'], 'any name of a set');
      assert.deepEqual(await found({ prefix: 'a%' }), []);
      assert.deepEqual(await found({ resource: 'a' }), []);
      assert.deepEqual(await found({ resource: 'm' }), ['a/2']);
      assert.deepEqual(await found({ owner: 'x' }), ['a/1', 'ab']);
      assert.deepEqual(await found({ owner: 'X' }), []);
      assert.deepEqual(await found({ status: 'pending' }), ['a/1']);
      assert.deepEqual(await found({ status: 'active' }), ['a/1', 'a/2', 'ab']);
      assert.deepEqual(await found({ olderThanMs: 400 }), ['a/1', 'a/2']);
      assert.deepEqual(await found({ olderThanMs: 3_600_000 }), []);
      assert.deepEqual(await found({ prefix: 'a', owner: 'y', status: 'active' }), ['a/2']);
    },
  },
  {
    tags: ['A8', 'Q1'],
    title: 'show tells who holds a name, who waits in which order, and its history, newest first',
    run: async ({ grant, queue, release, store }) => {
      const tree = await grant({ parts: [sharedSubtree('a')] });
      const reader = await grant({ parts: [shared('a/b')] });
      const normal = await queue('a/b');
      const urgent = await queue({ name: 'a/b', priority: 5 });
      await release(await grant('ab'));
      const shown = await store.show('a/b', 10);
      assert.deepEqual(shown.holders, [tree, reader]);
      assert.deepEqual(
        shown.queue.map(({ id, status }) => [id, status]),
        [
          [urgent.id, 'pending'],
          [normal.id, 'pending'],
        ],
      );
      assert.deepEqual(
        shown.history.map(({ type, leaseId }) => [type, leaseId]),
        [
          ['lease.queued', urgent.id],
          ['lease.queued', normal.id],
          ['lease.acquired', reader.id],
        ],
      );
      assert.equal((await store.show('a/b', 1)).history.length, 1);
      assert.deepEqual({ ...(await store.show('a/b', 0)), now: 0 }, { ...shown, history: [], now: 0 });
      await expectRejection(store.show('a//b', 1), 'INVALID_ARGUMENT');
    },
  },
  {
    tags: ['A8'],
    title: 'show of a name nobody touched is empty',
    run: async ({ store }) => {
      const { holders, queue, history, blockedMs } = await store.show('nobody/here', 10);
      assert.deepEqual({ holders, queue, history, blockedMs }, { holders: [], queue: [], history: [], blockedMs: 0 });
    },
  },
  {
    tags: ['A8', 'Q6'],
    title: 'show tells how long a block still keeps everybody out',
    run: async ({ grant, release, store }) => {
      await release(await grant({ name: 'cron/daily', minHoldMs: 60_000 }));
      const { holders, blockedMs } = await store.show('cron/daily', 1);
      assert.deepEqual(holders, []);
      assert.ok(blockedMs > 50_000 && blockedMs <= 60_000, `blocked for ${blockedMs} ms`);
      assert.equal((await store.show('cron', 1)).blockedMs, 0);
    },
  },
  {
    tags: ['A10', 'S6'],
    title:
      "a record is nobody else's object: changing an answer, or the metadata handed in, changes nothing in the store",
    run: async ({ grant, record, store }) => {
      const metadata = { list: [1] };
      const lease = await grant({ name: 'a', metadata });
      const expected = structuredClone(lease);
      tamper(() => metadata.list.push(2));
      for (const answer of [lease, await record(lease.id), (await store.list({ limit: 1 })).items[0]]) {
        const open = answer as unknown as { owner: string; parts: { name: string }[]; metadata: { list: number[] } };
        tamper(() => (open.owner = 'thief'));
        tamper(() => ((open.parts[0] as { name: string }).name = 'stolen'));
        tamper(() => open.metadata.list.push(3));
      }
      assert.deepEqual(await record(lease.id), expected);
    },
  },
];

/** A store may hand out frozen objects: then changing them throws, which is as good. */
function tamper(change: () => unknown): void {
  try {
    change();
  } catch (error) {
    assert.ok(error instanceof TypeError);
  }
}
