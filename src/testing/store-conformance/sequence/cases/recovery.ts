// V1, V2, V4, V7: claims with epochs of their own, the one step that settles, the manual queue, results without a lease.
import assert from 'node:assert/strict';
import type { Settlement } from '../../../../domain/sequence-requests.js';
import type { ConformanceCase } from '../../conformance-case.js';
import { expectOutcome, expectRejection, type CaseContext } from '../../context.js';
import { type Leased, noteOf, nth, type SequenceClient, sequencesOf, shortly, STREAM } from '../sequence-client.js';

const needs = { sequences: true } as const;

async function expired(
  context: CaseContext,
  client: SequenceClient,
  how: { finished?: unknown; count?: number } = {},
): Promise<Leased> {
  const held = await client.leased({ ttlMs: context.shortTtlMs, count: how.count ?? 1 });
  if (how.finished !== undefined) await client.progress(held, { what: 'finished', operations: [how.finished] });
  await context.passTime(context.shortTtlMs);
  return held;
}

const manual = (client: SequenceClient, operationId: string, act: 'retry' | 'discard') =>
  client.store.manual({ stream: STREAM, operationId, act, actor: 'operator' });

export const recovery: readonly ConformanceCase[] = [
  {
    tags: ['V1'],
    title: 'what is expired is claimed once, lowest numbers first, each with an epoch of its own; what is live is not',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      await client.leased({ ttlMs: context.shortTtlMs });
      await client.leased();
      await client.leased({ ttlMs: context.shortTtlMs });
      assert.equal((await client.claim()).claimed.length, 0);
      await context.passTime(context.shortTtlMs);
      const one = await client.claim({ limit: 1 });
      assert.deepEqual([one.claimed.map(({ first }) => first), one.backlog, one.more], [[1], 2, true]);
      const rest = await sequencesOf(await context.anotherClient()).claim();
      assert.deepEqual([rest.claimed.map(({ first }) => first), rest.backlog, rest.more], [[3], 1, false]);
      assert.ok(nth(rest.claimed, 0).claimEpoch > nth(one.claimed, 0).claimEpoch);
      assert.equal((await client.claim()).claimed.length, 0);
    },
  },
  {
    tags: ['V1', 'N2'],
    title: 'a claim fences the holder, also one that leases again; it is told when to ask',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      const held = await expired(context, client);
      await client.claimed({ ttlMs: 1_000 });
      assert.equal(expectOutcome(await client.commit(held, 1), 'notHeld').state, 'recovering');
      const { retryAfterMs } = expectOutcome(await client.lease({ operationId: held.operationId }), 'recovering');
      assert.ok(retryAfterMs > 0 && retryAfterMs <= 1_000);
      await context.passTime(1_000);
      const again = await client.leased({ operationId: held.operationId });
      assert.equal(again.first, held.first);
    },
  },
  {
    tags: ['V1', 'S5'],
    title: 'a claim that ran out is taken by the next, and the old claimant settles nothing',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      await expired(context, client);
      const first = await client.claimed({ ttlMs: 1_000 });
      const renewal = { stream: STREAM, operationId: first.operationId, claimEpoch: first.claimEpoch, ttlMs: 2_000 };
      assert.equal((await client.store.renewClaims([renewal])).results[0]?.outcome, 'kept');
      await context.passTime(1_000);
      assert.equal((await client.claim()).claimed.length, 0, 'renewed');
      await context.passTime(1_000);
      expectOutcome(await client.settle(first, { to: 'gap', reason: 'late' }), 'notHeld');
      const second = await client.claimed();
      assert.equal((await client.store.renewClaims([renewal])).results[0]?.outcome, 'notHeld');
      expectOutcome(await client.settle(first, { to: 'gap', reason: 'late' }), 'notHeld');
      expectOutcome(await client.settle(second, { to: 'gap', reason: 'nothing there' }), 'settled');
      expectOutcome(await client.settle(second, { to: 'gap', reason: 'nothing there' }), 'notHeld');
    },
  },
  {
    tags: ['V2'],
    title: 'a finished result is committed at its own number; its late holder finds it there',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      const held = await expired(context, client, { finished: { total: 3 } });
      await client.stored('next');
      const claimed = await client.claimed();
      assert.equal(expectOutcome(await client.settle(claimed, { to: 'commit' }), 'settled').first, 1);
      assert.deepEqual(shortly(await client.read()), ['1 committed {"total":3}', '2 committed "next"']);
      assert.deepEqual(await client.commit(held, { total: 3 }), { outcome: 'committed', first: 1, repeated: true });
      expectOutcome(await client.commit(held, { total: 4 }), 'mismatch');
    },
  },
  {
    tags: ['V2'],
    title: 'rebuilt work moves to a new number with a note where it came from, in one step',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      const held = await expired(context, client);
      await client.stored('next');
      const move: Settlement = { to: 'move', operations: ['rebuilt'], type: 'partial_work' };
      const settled = expectOutcome(await client.settle(await client.claimed(), move), 'settled');
      assert.deepEqual([settled.state, settled.first], ['moved', 3]);
      const items = await client.read();
      assert.deepEqual(shortly(items), ['1 moved to 3', '2 committed "next"', '3 committed "rebuilt"']);
      const { originalNumber, originalOperationId, type, recoveredAt } = noteOf(items, 2);
      assert.deepEqual([originalNumber, originalOperationId, type], [1, held.operationId, 'partial_work']);
      assert.ok(recoveredAt >= held.expiresAt);
      assert.deepEqual(await client.commit(held, 'rebuilt'), { outcome: 'committed', first: 3, repeated: true });
      expectOutcome(await client.commit(held, 'own'), 'mismatch');
      assert.deepEqual(shortly(expectOutcome(await client.lease({ operationId: held.operationId }), 'settled').items), [
        '1 moved to 3',
      ]);
      const { moved, open, gaps } = await client.figures();
      assert.deepEqual([moved, open, gaps], [1, 0, 0]);
    },
  },
  {
    tags: ['V2', 'V3'],
    title: 'a gap keeps its result, which is tried again when it is due: filled, or moved when it was shown meanwhile',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      for (const isShown of [false, true]) {
        const held = await expired(context, client, { finished: 'kept' });
        const gap: Settlement = { to: 'gap', reason: 'load is high', againAfterMs: 5_000 };
        await client.settle(await client.claimed(), gap);
        assert.equal((await client.claim({ gapsToo: true })).claimed.length, 0, 'not yet');
        if (isShown) await client.read(held.first);
        await context.passTime(5_000);
        assert.equal((await client.claim()).claimed.length, 0, 'gaps only when asked for');
        const again = await client.claimed({ gapsToo: true });
        assert.deepEqual([again.isGap, again.finished], [true, ['kept']]);
        const settled = expectOutcome(await client.settle(again, { to: 'commit' }), 'settled');
        assert.deepEqual([settled.state, settled.first], isShown ? ['gap', 3] : ['filled', 1]);
      }
      assert.deepEqual(shortly(await client.read()), ['1 filled "kept"', '2 gap to 3', '3 committed "kept"']);
    },
  },
  {
    tags: ['V4'],
    title: 'a try that failed is made again later, and counted',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      await expired(context, client);
      await client.settle(await client.claimed(), { to: 'retry', error: 'no disk', afterMs: 1_000 });
      assert.equal((await client.claim()).claimed.length, 0);
      assert.equal((await client.figures()).open, 1);
      await context.passTime(1_000);
      assert.equal((await client.claimed()).attempts, 1);
    },
  },
  {
    tags: ['V4'],
    title: 'what was tried too often is a gap and waits for a person; nothing of it is lost',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      const held = await expired(context, client, { finished: 'kept' });
      const hand: Settlement = { to: 'manual', reason: 'three tries failed', error: 'no disk' };
      await client.settle(await client.claimed(), hand);
      assert.deepEqual(shortly(await client.peek()), ['1 gap']);
      const { items } = await client.store.manualItems({ limit: 10 });
      const { number, operationId, kind, reason, attempts, lastError, finished } = nth(items, 0);
      assert.deepEqual(
        [items.length, number, operationId, kind, reason, attempts, lastError, finished],
        [1, 1, held.operationId, 'order', 'three tries failed', 1, 'no disk', ['kept']],
      );
      assert.equal((await client.figures()).manual, 1);
      assert.deepEqual(omitReply(await manual(client, held.operationId, 'retry')), {
        outcome: 'stored',
        first: 1,
        how: 'filled',
      });
      assert.equal((await client.figures()).manual, 0);
      assert.equal((await manual(client, held.operationId, 'retry')).outcome, 'unknown');
    },
  },
  {
    tags: ['V4'],
    title: 'a manual item without a result is queued for the next recoverer; a discarded one stays a gap',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      const held = await expired(context, client);
      await client.settle(await client.claimed(), { to: 'manual', reason: 'no way', error: 'no disk' });
      assert.deepEqual(shortly(await client.read()), ['1 gap']);
      assert.equal((await client.store.trim({ stream: STREAM, before: 2, limit: 10 })).removed, 0);
      assert.equal((await manual(client, held.operationId, 'retry')).outcome, 'queued');
      const again = await client.claimed({ gapsToo: true });
      await client.settle(again, { to: 'gap', reason: 'still no way' });
      const [item] = (await client.store.manualItems({ stream: STREAM, limit: 10 })).items;
      assert.deepEqual([item?.attempts, item?.lastError, item?.isRetryOrdered], [2, 'still no way', false]);
      assert.equal((await manual(client, held.operationId, 'discard')).outcome, 'discarded');
      assert.deepEqual((await client.store.manualItems({ limit: 10 })).items, []);
      assert.deepEqual(shortly(expectOutcome(await client.lease({ operationId: held.operationId }), 'settled').items), [
        '1 gap',
      ]);
      assert.equal((await manual(client, 'nobody', 'discard')).outcome, 'unknown');
    },
  },
  {
    tags: ['V7'],
    title: 'a result without a lease is stored once: under its own lease, in its gap, moved, or new',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      const live = await client.leased({ operationId: 'live' });
      expectOutcome(await client.append({ operationId: 'live' }), 'busy');
      const own = { operationId: 'live', epoch: live.epoch };
      assert.deepEqual(await client.append(own), { outcome: 'stored', first: 1, how: 'committed' });
      assert.deepEqual(await client.append(own), { outcome: 'stored', first: 1, how: 'repeated' });
      expectOutcome(await client.append({ ...own, operations: [2] }), 'mismatch');
      expectOutcome(await client.append({ ...own, kind: 'other' }), 'mismatch');
      const late = await expired(context, client);
      const lateAppend = { operationId: late.operationId, epoch: late.epoch };
      assert.deepEqual(await client.append(lateAppend), { outcome: 'stored', first: 3, how: 'moved' });
      await client.release(await client.leased({ operationId: 'gap' }));
      assert.deepEqual(await client.append({ operationId: 'gap' }), { outcome: 'stored', first: 4, how: 'filled' });
      assert.deepEqual(await client.append({ operationId: 'new' }), { outcome: 'stored', first: 5, how: 'new' });
      assert.deepEqual(shortly(await client.read()), [
        '1 committed 1',
        '2 moved to 3',
        '3 committed 1',
        '4 filled 1',
        '5 committed 1',
      ]);
    },
  },
  {
    tags: ['V7', 'V1'],
    title: 'a result waits while a recoverer has its number',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      const late = await expired(context, client);
      await client.claimed({ ttlMs: 1_000 });
      const append = { operationId: late.operationId, epoch: late.epoch };
      const { retryAfterMs } = expectOutcome(await client.append(append), 'busy');
      assert.ok(retryAfterMs > 0 && retryAfterMs <= 1_000);
      await context.passTime(1_000);
      assert.deepEqual(await client.append(append), { outcome: 'stored', first: 2, how: 'moved' });
      assert.equal((await client.claim()).claimed.length, 0);
    },
  },
  {
    tags: ['V2'],
    title: 'a settlement that makes no sense is refused and changes nothing',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      await expired(context, client, { count: 2 });
      const claimed = await client.claimed();
      const wrong: Settlement[] = [
        { to: 'commit' },
        { to: 'move', operations: ['one'], type: 'partial_work' },
        { to: 'retry', error: 'x', afterMs: -1 },
      ];
      for (const settlement of wrong) await expectRejection(client.settle(claimed, settlement), 'INVALID_ARGUMENT');
      expectOutcome(await client.settle(claimed, { to: 'gap', reason: 'enough' }), 'settled');
      assert.deepEqual(shortly(await client.read()), ['1 gap', '2 gap']);
    },
  },
];

function omitReply<T extends object>(reply: T): object {
  const { now: _now, incarnation: _incarnation, settingsVersion: _version, ...rest } = reply as Record<string, unknown>;
  return rest;
}
