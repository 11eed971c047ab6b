// Requests that make no sense or come at the wrong moment: each has a clear answer, nothing is stored twice, nothing is lost.
import assert from 'node:assert/strict';
import { LIMITS, OPERATION_ID_KEEP_MS } from '../../../../domain/limits.js';
import type { ConformanceCase } from '../../conformance-case.js';
import { expectOutcome, expectRejection } from '../../context.js';
import { sequencesOf, shortly, STREAM } from '../sequence-client.js';

const needs = { sequences: true } as const;
const OVER = 'x'.repeat(LIMITS.operationBytes);

export const badInput: readonly ConformanceCase[] = [
  {
    tags: ['N1', 'N2', 'N4'],
    title: 'a number nobody leased, an operation nobody knows: told as unknown, and nothing is made of it',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      const held = await client.leased();
      const ghost = { ...held, operationId: 'ghost' };
      assert.equal(expectOutcome(await client.commit(ghost, 'x'), 'notHeld').state, 'unknown');
      assert.equal(expectOutcome(await client.release(ghost), 'notHeld').state, 'unknown');
      assert.equal(expectOutcome(await client.progress(ghost, { what: 'look' }), 'notHeld').state, 'unknown');
      assert.equal(expectOutcome(await client.fill(7, 'ghost', 'x'), 'notGap').state, 'unknown');
      assert.deepEqual(await client.read(7), []);
      const { leased, open, watermark } = await client.figures();
      assert.deepEqual([leased, open, watermark], [1, 1, 0]);
    },
  },
  {
    tags: ['N1', 'N2'],
    title: 'a number that belongs to another operation, or is settled, is not touched by a commit, a release or a fill',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      const first = await client.leased();
      const second = await client.leased();
      // The operation of one with the epoch of the other.
      expectOutcome(await client.commit({ ...first, epoch: second.epoch }, 'stolen'), 'notHeld');
      expectOutcome(await client.commit({ ...first, operationId: second.operationId }, 'stolen'), 'notHeld');
      expectOutcome(await client.fill(first.first, second.operationId, 'stolen'), 'mismatch');
      assert.equal(expectOutcome(await client.fill(first.first, first.operationId, 'x'), 'notGap').state, 'leased');
      await client.commit(first, 'mine');
      expectOutcome(await client.release(first), 'notHeld');
      expectOutcome(await client.progress(first, { what: 'renew', ttlMs: 1_000 }), 'notHeld');
      expectOutcome(await client.fill(first.first, first.operationId, 'other'), 'mismatch');
      expectOutcome(await client.append({ operationId: first.operationId, operations: ['other'] }), 'mismatch');
      await client.commit(second, 'hers');
      assert.deepEqual(shortly(await client.read()), ['1 committed "mine"', '2 committed "hers"']);
    },
  },
  {
    tags: ['N1', 'S18'],
    title: 'a payload that is too large or no JSON is refused wherever one is handed in, and its number stays held',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      const held = await client.leased();
      const { operationId } = held;
      for (const payload of [OVER, () => 1, undefined, Number.NaN, { at: new Date(0) }, 1n]) {
        await expectRejection(client.commit(held, payload), 'INVALID_ARGUMENT');
        await expectRejection(client.progress(held, { what: 'partial', work: payload }), 'INVALID_ARGUMENT');
        await expectRejection(client.progress(held, { what: 'finished', operations: [payload] }), 'INVALID_ARGUMENT');
        await expectRejection(client.append({ operationId, operations: [payload] }), 'INVALID_ARGUMENT');
        await expectRejection(client.fill(1, operationId, payload), 'INVALID_ARGUMENT');
      }
      expectOutcome(await client.progress(held, { what: 'look' }), 'kept');
      expectOutcome(await client.release(held), 'released');
      const { gaps } = await client.store.gaps({ stream: STREAM, after: 0, limit: 10 });
      assert.deepEqual(
        gaps.map(({ hasResult }) => hasResult),
        [false],
        'nothing of it was kept',
      );
    },
  },
  {
    tags: ['V2', 'S18'],
    title: 'a payload that is too large is refused to a recoverer, who keeps its claim and takes no number for it',
    needs,
    run: async (context) => {
      const client = sequencesOf(context);
      await client.leased({ ttlMs: context.shortTtlMs });
      await context.passTime(context.shortTtlMs);
      const claimed = await client.claimed();
      const tooLarge = { to: 'move', operations: [OVER], type: 'partial_work' } as const;
      await expectRejection(client.settle(claimed, tooLarge), 'INVALID_ARGUMENT');
      assert.equal((await client.figures()).leased, 1, 'no number was taken for it');
      const fits = 'x'.repeat(LIMITS.operationBytes - 2);
      expectOutcome(await client.settle(claimed, { ...tooLarge, operations: [fits] }), 'settled');
      assert.deepEqual(
        (await client.read()).map(({ state }) => state),
        ['moved', 'committed'],
      );
    },
  },
  {
    tags: ['N3', 'N5', 'S18'],
    title: 'numbers to wait for, to read from, to be done with and to trim before are whole and in reach',
    needs,
    run: async (context) => {
      const { store, barrier, stored, figures } = sequencesOf(context);
      await stored();
      for (const number of [0, -1, 1.5, Number.NaN, Number.MAX_SAFE_INTEGER + 1]) {
        await expectRejection(barrier(number), 'INVALID_ARGUMENT');
        const page = { stream: STREAM, limit: 1, seal: true, watch: false };
        await expectRejection(store.read({ ...page, from: number }), 'INVALID_ARGUMENT');
        await expectRejection(store.trim({ stream: STREAM, before: number, limit: 1 }), 'INVALID_ARGUMENT');
        const done = { stream: STREAM, reader: 'r', act: 'done', number, epoch: 1 } as const;
        await expectRejection(store.cursor(done), 'INVALID_ARGUMENT');
      }
      await expectRejection(barrier(2 + LIMITS.numbersAhead + 1), 'INVALID_ARGUMENT');
      assert.equal(await barrier(2 + LIMITS.numbersAhead), false);
      assert.equal((await figures()).seal, 0, 'nobody was shown anything');
    },
  },
  {
    tags: ['N1', 'N6'],
    title: 'numbers go on where they were when everything before them is trimmed and forgotten',
    needs: { ...needs, passMs: OPERATION_ID_KEEP_MS },
    run: async (context) => {
      const client = sequencesOf(context);
      for (const name of ['a', 'b', 'c']) await client.stored(name);
      await client.read();
      await client.store.trim({ stream: STREAM, before: 4, limit: 100 });
      await context.passTime(OPERATION_ID_KEEP_MS);
      assert.equal((await client.store.trim({ stream: STREAM, before: 4, limit: 100 })).forgotten, 3);
      const other = sequencesOf(await context.anotherClient());
      assert.deepEqual([(await other.figures()).leased, (await other.figures()).watermark], [3, 3]);
      assert.equal(await other.stored('d'), 4);
      assert.deepEqual(shortly(await client.read()), ['4 committed "d"']);
    },
  },
];
