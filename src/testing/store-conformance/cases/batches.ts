// S21, S18: batches are lists. Items act in order, each for itself; the whole call fails only when the list itself is too
// long.
import assert from 'node:assert/strict';
import type { AcquireRequest } from '../../../domain/requests.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectError, expectOutcome, expectRejection, type CaseContext } from '../context.js';
import { node, subtree } from '../parts.js';

const range = (length: number): number[] => Array.from({ length }, (_, i) => i);
const manyParts = (count: number, under: string) => range(count).map((i) => node(`${under}/${1_000 + i}`));

/** As many tickets as may wait in a namespace, each for a name of its own. */
async function fillQueue({ ask, grant, acquireAll, newId }: CaseContext): Promise<AcquireRequest[]> {
  await grant({ parts: [subtree('t')], ttlMs: 86_400_000 });
  const one = await ask({ join: true });
  const tickets = range(10_000).map((i) => ({ ...one, id: newId(), parts: [node(`t/${i}`)] }));
  const queued = await acquireAll(tickets);
  assert.ok(queued.every(({ outcome }) => outcome === 'queued'));
  return tickets;
}

export const batches: readonly ConformanceCase[] = [
  {
    tags: ['S21'],
    title: 'an empty list has an empty answer',
    run: async ({ store }) => {
      for (const answers of [
        await store.acquire([]),
        await store.renew([]),
        await store.end([]),
        await store.change([]),
      ]) {
        assert.deepEqual(answers.results, []);
        assert.ok(answers.now > 0);
      }
    },
  },
  {
    tags: ['S21', 'S2'],
    title: 'items act in order, and each sees what those before it did',
    run: async ({ ask, store }) => {
      const requests = [await ask('a'), await ask('b'), await ask('a'), await ask({ name: 'a', join: true })];
      const { results } = await store.acquire(requests);
      assert.deepEqual(
        results.map(({ outcome }) => outcome),
        ['granted', 'granted', 'refused', 'queued'],
      );
      const [a, b] = results.slice(0, 2).map((result) => expectOutcome(result, 'granted').lease.epoch);
      assert.ok((b ?? 0) > (a ?? 0));
    },
  },
  {
    tags: ['S21'],
    title: 'a bad item fails alone, in every list, and the answer keeps the order',
    run: async ({ ask, grant, wall, newId, store }) => {
      const held = await grant('held');
      const acquired = await store.acquire([await ask('a'), await ask(''), await ask('b')]);
      assert.deepEqual(
        acquired.results.map(({ outcome }) => outcome),
        ['granted', 'failed', 'granted'],
      );
      const authority = { id: held.id, epoch: held.epoch };
      const renewed = await store.renew([
        { ...authority, id: 'bad', requestId: newId(), callerWall: wall() },
        { ...authority, requestId: newId(), callerWall: wall() },
      ]);
      const changed = await store.change([
        { ...authority, kind: 'downgrade', requestId: '' },
        { ...authority, kind: 'downgrade', requestId: newId() },
      ]);
      const ended = await store.end([
        { ...authority, epoch: 0, requestId: newId(), why: 'released' },
        { ...authority, requestId: newId(), why: 'released' },
      ]);
      const outcomes = [renewed, changed, ended].map(({ results }) => results.map(({ outcome }) => outcome));
      assert.deepEqual(outcomes, [
        ['failed', 'renewed'],
        ['failed', 'changed'],
        ['failed', 'released'],
      ]);
    },
  },
  {
    tags: ['S18', 'S21'],
    title: '256 items are taken; 257 and 10,000 are refused as a whole, with nothing done',
    run: async ({ ask, newId, wall, events, store }) => {
      const one = await ask('a');
      const requests = range(10_000).map((i) => ({ ...one, id: newId(), parts: [node(`many/${i}`)] }));
      for (const count of [257, 10_000]) {
        await expectRejection(store.acquire(requests.slice(0, count)), 'INVALID_ARGUMENT');
      }
      assert.deepEqual(await events(), []);
      const { results } = await store.acquire(requests.slice(0, 256));
      assert.ok(results.every(({ outcome }) => outcome === 'granted'));
      const leases = results.map((result) => expectOutcome(result, 'granted').lease);
      const authorities = [...leases, ...leases]
        .slice(0, 257)
        .map(({ id, epoch }) => ({ id, epoch, requestId: newId() }));
      const renewals = authorities.map((one) => ({ ...one, callerWall: wall() }));
      const ends = authorities.map((one) => ({ ...one, why: 'released' as const }));
      const changes = authorities.map((one) => ({ ...one, kind: 'downgrade' as const }));
      await expectRejection(store.renew(renewals), 'INVALID_ARGUMENT');
      await expectRejection(store.change(changes), 'INVALID_ARGUMENT');
      await expectRejection(store.end(ends), 'INVALID_ARGUMENT');
      assert.ok((await store.renew(renewals.slice(0, 256))).results.every(({ outcome }) => outcome === 'renewed'));
      assert.ok((await store.end(ends.slice(0, 256))).results.every(({ outcome }) => outcome === 'released'));
    },
  },
  {
    tags: ['S18', 'S10'],
    title: '64 parts make one lease; 65 and 1,000 fail alone',
    run: async ({ grant, release, failItem }) => {
      const lease = await grant({ parts: manyParts(64, 'p') });
      assert.equal(lease.parts.length, 64);
      expectOutcome(await release(lease), 'released');
      await failItem({ parts: manyParts(65, 'p') });
      await failItem({ parts: manyParts(1_000, 'p') });
      await grant({ parts: manyParts(64, 'p') });
    },
  },
  {
    tags: ['S18', 'S21'],
    title: 'a batch has 1,024 parts; one more is refused as a whole, with nothing done',
    run: async ({ ask, store, events }) => {
      const requests = await Promise.all(range(16).map((i) => ask({ parts: manyParts(64, `set-${i}`) })));
      await expectRejection(store.acquire([...requests, await ask('one more')]), 'INVALID_ARGUMENT');
      assert.deepEqual(await events(), []);
      const { results } = await store.acquire(requests);
      assert.ok(results.every(({ outcome }) => outcome === 'granted'));
    },
  },
  {
    tags: ['S18'],
    title: 'a read of 1,000 ids is answered in order, one of 1,001 is refused',
    run: async ({ grant, newId, store }) => {
      const lease = await grant('a');
      const ids = [...range(999).map(() => newId()), lease.id];
      const { items } = await store.get(ids);
      assert.equal(items.length, 1_000);
      assert.deepEqual(items.at(-1), lease);
      assert.ok(items.slice(0, 999).every((item) => item === undefined));
      await expectRejection(store.get([...ids, newId()]), 'INVALID_ARGUMENT');
      assert.deepEqual((await store.get([])).items, []);
    },
  },
  {
    tags: ['S18', 'Q2', 'S3'],
    title: 'dead tickets are no reason for RATE_LIMITED, also when nobody sweeps and many leases expired before them',
    needs: { manyRequests: true, passMs: 11_000 },
    run: async (context) => {
      const { ask, acquire, acquireAll, newId, passTime } = context;
      const short = await ask({ ttlMs: 5_000 });
      const expired = await acquireAll(range(1_000).map((i) => ({ ...short, id: newId(), parts: [node(`e/${i}`)] })));
      assert.ok(expired.every(({ outcome }) => outcome === 'granted'));
      await fillQueue(context);
      await passTime(11_000);
      expectOutcome(await acquire({ name: 't/later', join: true }), 'queued');
    },
  },
  {
    tags: ['S18', 'S21', 'Q2'],
    title: '10,000 tickets wait in a namespace; the next is told RATE_LIMITED alone, and there is room when some go',
    needs: { manyRequests: true, passMs: 11_000 },
    run: async (context) => {
      const { ask, acquire, cancel, inNamespace, passTime, store } = context;
      const tickets = await fillQueue(context);
      const late = await ask({ name: 't/late', join: true });
      const { results } = await store.acquire([await ask('free'), late, tickets[0] ?? late]);
      assert.deepEqual(
        results.map(({ outcome }) => outcome),
        ['granted', 'failed', 'queued'],
        'a grant and a refresh are not held up',
      );
      const failed = expectOutcome(results[1] ?? { outcome: 'none' }, 'failed') as unknown as { error: unknown };
      expectError(failed.error, 'RATE_LIMITED');
      await inNamespace('other').grant('t/late');
      await cancel(tickets[9_999]?.id ?? '');
      expectOutcome(await acquire(late), 'queued');
      await passTime(11_000);
      expectOutcome(await acquire({ name: 't/later', join: true }), 'queued');
    },
  },
];
