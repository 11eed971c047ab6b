// N5, N6: work that outlives its process, cursors of named readers, trimming.
import assert from 'node:assert/strict';
import { LIMITS, OPERATION_ID_KEEP_MS } from '../../../../domain/limits.js';
import type { CursorOrder } from '../../../../domain/sequence-requests.js';
import type { ConformanceCase } from '../../conformance-case.js';
import { expectOutcome, expectRejection } from '../../context.js';
import { sequencesOf, shortly, STREAM, type SequenceClient } from '../sequence-client.js';

const needs = { sequences: true } as const;

const open = async ({ store }: SequenceClient, reader = 'r') =>
  expectOutcome(await store.cursor({ stream: STREAM, reader, act: 'open' }), 'opened');
const done = (client: SequenceClient, number: number, epoch: number, reader = 'r') =>
  client.store.cursor({ stream: STREAM, reader, act: 'done', number, epoch } satisfies CursorOrder);
const trim = (client: SequenceClient, before: number, limit = 100) =>
  client.store.trim({ stream: STREAM, before, limit });

export const readers: readonly ConformanceCase[] = [
  {
    tags: ['N5'],
    title: 'partial and finished work is kept under the operation and handed to whoever recovers it',
    needs,
    run: async (context) => {
      const { leased, progress } = sequencesOf(context);
      const held = await leased({ ttlMs: context.shortTtlMs });
      expectOutcome(await progress(held, { what: 'partial', work: { ids: [1, 2] } }), 'kept');
      expectOutcome(await progress(held, { what: 'finished', operations: [{ total: 3 }] }), 'kept');
      await expectRejection(progress(held, { what: 'finished', operations: [1, 2] }), 'INVALID_ARGUMENT');
      await context.passTime(context.shortTtlMs);
      const { partial, finished } = await sequencesOf(await context.anotherClient()).claimed();
      assert.deepEqual([partial, finished], [{ ids: [1, 2] }, [{ total: 3 }]]);
    },
  },
  {
    tags: ['N5'],
    title: 'a cursor is durable, never goes back and never passes the watermark',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      for (let i = 0; i < 3; i += 1) await client.stored();
      await client.leased();
      const { epoch, done: start } = await open(client);
      assert.equal(start, 0);
      assert.equal(expectOutcome(await done(client, 2, epoch), 'moved').done, 2);
      assert.equal(expectOutcome(await done(client, 1, epoch), 'moved').done, 2);
      assert.equal(expectOutcome(await done(client, 4, epoch), 'beyond').watermark, 3);
      const again = await open(sequencesOf(await context.anotherClient()));
      assert.equal(again.done, 2);
      const [reader] = (await client.figures()).readers;
      assert.deepEqual([reader?.name, reader?.done, reader?.distance], ['r', 2, 1]);
    },
  },
  {
    tags: ['N5', 'S5'],
    title: 'of two processes that use one reader the later wins, and the earlier is told that it is stale',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      const other = sequencesOf(await context.anotherClient());
      await client.stored();
      const first = await open(client);
      const second = await open(other);
      assert.ok(second.epoch > first.epoch);
      assert.equal(expectOutcome(await done(client, 1, first.epoch), 'stale').epoch, second.epoch);
      assert.equal(expectOutcome(await done(other, 1, second.epoch), 'moved').done, 1);
      expectOutcome(await done(client, 1, first.epoch, 'never opened'), 'unknown');
    },
  },
  {
    tags: ['N6'],
    title: 'trimming removes operations below every cursor and the seal, and nothing else',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      for (const name of ['a', 'b', 'c', 'd']) await client.stored(name);
      assert.equal((await trim(client, 10)).removed, 0, 'nobody was shown anything');
      await client.read(1, 3);
      const { epoch } = await open(client);
      assert.equal((await trim(client, 10)).removed, 0, 'a reader is at the beginning');
      await done(client, 2, epoch);
      const { removed, trimmedBefore } = await trim(client, 10);
      assert.deepEqual([removed, trimmedBefore], [2, 3]);
      assert.deepEqual(shortly(await client.read()), ['3 committed "c"', '4 committed "d"']);
      expectOutcome(await client.store.cursor({ stream: STREAM, reader: 'r', act: 'forget' }), 'forgotten');
      assert.equal((await trim(client, 4, 1)).removed, 1);
      assert.equal((await trim(client, 4, 1)).removed, 0);
      assert.equal((await open(client, 'newcomer')).done, 3, 'a newcomer begins where operations begin');
    },
  },
  {
    tags: ['N6', 'N1'],
    title: 'an operation id outlives its trimmed operation by 30 days, also when the operation was moved',
    needs: { ...needs, passMs: OPERATION_ID_KEEP_MS },
    run: async (context) => {
      const client = sequencesOf(context);
      const held = await client.leased({ operationId: 'a' });
      await client.commit(held, 'x');
      const moved = await client.leased({ operationId: 'm' });
      await client.release(moved);
      await client.read();
      await client.fill(2, 'm', 'y');
      await client.read();
      await trim(client, 3);
      assert.deepEqual(shortly(expectOutcome(await client.lease({ operationId: 'a' }), 'settled').items), [
        '1 committed',
      ]);
      expectOutcome(await client.commit(held, 'x'), 'committed');
      expectOutcome(await client.commit(held, 'z'), 'mismatch');
      await context.passTime(OPERATION_ID_KEEP_MS - 1_000);
      assert.equal((await trim(client, 3)).forgotten, 0);
      await context.passTime(1_000);
      assert.equal((await trim(client, 3)).forgotten, 1, 'the moved one lives as long as its operation');
      assert.equal((await client.leased({ operationId: 'a' })).first, 4);
      expectOutcome(await client.lease({ operationId: 'm' }), 'settled');
      await trim(client, 4);
      await context.passTime(OPERATION_ID_KEEP_MS);
      assert.equal((await trim(client, 4)).forgotten, 2);
    },
  },
  {
    tags: ['S18'],
    title: 'a page carries as many operations as fit into it, at least one, and the next goes on',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      const large = 'x'.repeat(LIMITS.operationBytes - 2);
      for (let i = 0; i < 20; i += 1) await client.stored(large);
      const page = await client.read(1, 100);
      assert.ok(page.length >= 1 && page.length < 20, `${page.length} on one page`);
      assert.equal((await client.figures()).seal, page.length, 'only what was shown is sealed');
      const rest = await client.read(page.length + 1, 100);
      assert.equal(page.length + rest.length, 20);
    },
  },
];
