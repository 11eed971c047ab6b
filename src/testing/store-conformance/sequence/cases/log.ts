// H2, H3: every transition of a number has its row, with kind, outcome, overrun and method; and the figures count.
import assert from 'node:assert/strict';
import { sentenceOf } from '../../../../domain/events.js';
import type { ConformanceCase } from '../../conformance-case.js';
import { nth, sequencesOf, STREAM } from '../sequence-client.js';

const needs = { sequences: true } as const;

export const log: readonly ConformanceCase[] = [
  {
    tags: ['H2', 'H3', 'S6'],
    title: 'lease, commit, release and fill each write one row, with its plain sentence',
    needs,
    run: async (context) => {
      const { leased, commit, release, fill, progress, read } = sequencesOf(context);
      const first = await leased({ kind: 'invoice' });
      await progress(first, { what: 'partial', work: 1 });
      await commit(first, 'a');
      await commit(first, 'a');
      const second = await leased();
      await release(second, 'no stock');
      await fill(2, second.operationId, 'b');
      const third = await leased();
      await release(third);
      await read();
      await fill(3, third.operationId, 'c');
      const rows = await context.events();
      assert.deepEqual(rows.map(sentenceOf), [
        'Leased number 1 of orders',
        'Committed number 1 of orders',
        'Leased number 2 of orders',
        'Created sequence gap 2',
        'Filled sequence gap 2',
        'Leased number 3 of orders',
        'Created sequence gap 3',
        'Moved operation from 3 to 4',
      ]);
      for (const row of rows) assert.deepEqual([row.resource, row.owner], [STREAM, 'owner-1']);
      assert.deepEqual([rows[1]?.data['kind'], rows[1]?.data['operationId']], ['invoice', first.operationId]);
      assert.equal(rows[1]?.epoch, first.epoch);
      assert.equal(rows[3]?.reason, 'no stock');
    },
  },
  {
    tags: ['H2', 'H3', 'V2', 'V4'],
    title: 'recovery writes what it settled and how, and how late',
    needs,
    run: async (context) => {
      const { leased, progress, claim, settle } = sequencesOf(context);
      for (const operation of ['done', 'part', 'none', 'bad']) {
        const held = await leased({ ttlMs: context.shortTtlMs, operationId: operation });
        if (operation === 'done') await progress(held, { what: 'finished', operations: [1] });
      }
      await context.passTime(context.shortTtlMs);
      const { claimed } = await claim();
      await settle(nth(claimed, 0), { to: 'commit' });
      await settle(nth(claimed, 1), { to: 'move', operations: [2], type: 'partial_work' });
      await settle(nth(claimed, 2), { to: 'gap', reason: 'nothing there' });
      await settle(nth(claimed, 3), { to: 'retry', error: 'no disk', afterMs: 0 });
      const again = await claim();
      await settle(nth(again.claimed, 0), { to: 'manual', reason: 'tried twice', error: 'no disk' });
      const rows = (await context.events()).filter(({ type }) => type !== 'sequence.leased');
      assert.deepEqual(
        rows.map((row) => [row.type, row.data['number'], row.data['outcome'], row.data['method']]),
        [
          ['sequence.committed', 1, 'committed', 'recommitted'],
          ['recovery.succeeded', 1, 'committed', 'recommitted'],
          ['sequence.moved', 2, 'moved', 'partial_work'],
          ['recovery.succeeded', 2, 'moved', 'partial_work'],
          ['sequence.gap', 3, 'gap', 'gap'],
          ['recovery.succeeded', 3, 'gap', 'gap'],
          ['recovery.failed', 4, 'retry', 'failed'],
          ['sequence.gap', 4, 'gap', 'manual'],
          ['recovery.failed', 4, 'manual', 'manual'],
        ],
      );
      for (const { data, at } of rows)
        assert.ok(typeof data['overrunMs'] === 'number' && data['overrunMs'] >= 0, String(at));
      assert.equal(sentenceOf(nth(rows, 3)), 'Recovered from partial work');
      assert.equal(sentenceOf(nth(rows, 1)), 'Retried completed operation');
      assert.equal(sentenceOf(nth(rows, 8)), 'Recovery of number 4 failed: no disk');
    },
  },
  {
    tags: ['N3', 'S18'],
    title: 'figures of every stream, in order of their names, a page at a time',
    needs,
    run: async (context) => {
      const { store, leased, stored, release } = sequencesOf(context);
      await stored('a', { stream: 'b' });
      await leased({ stream: 'a', count: 3 });
      await release(await leased({ stream: 'c/d' }));
      const first = await store.streams({ limit: 2 });
      assert.deepEqual([first.streams.map(({ name }) => name), first.more], [['a', 'b'], true]);
      const rest = await store.streams({ limit: 2, after: 'b' });
      assert.deepEqual([rest.streams.map(({ name }) => name), rest.more], [['c/d'], false]);
      const short = [...first.streams, ...rest.streams].map(({ leased: n, open, watermark, gaps }) => [
        n,
        open,
        watermark,
        gaps,
      ]);
      assert.deepEqual(short, [
        [3, 3, 0, 0],
        [1, 0, 1, 0],
        [1, 0, 1, 1],
      ]);
      assert.deepEqual((await store.streams({ stream: 'none', limit: 1 })).streams, []);
      assert.deepEqual((await store.ready({ acceptLoss: false })).durability.length > 0, true);
    },
  },
];
