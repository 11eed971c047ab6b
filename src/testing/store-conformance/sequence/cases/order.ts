// N3, N4: the watermark and the seal. Nothing past an open number is shown, and what was shown never changes.
import assert from 'node:assert/strict';
import type { ConformanceCase } from '../../conformance-case.js';
import { expectOutcome, expectRejection } from '../../context.js';
import { noteOf, nth, sequencesOf, shortly, STREAM } from '../sequence-client.js';

const needs = { sequences: true } as const;

export const order: readonly ConformanceCase[] = [
  {
    tags: ['N3'],
    title: 'nothing past the lowest open number is shown, whoever looks',
    needs,
    run: async (context) => {
      const { leased, commit, read, peek, stored } = sequencesOf(context);
      const other = sequencesOf(await context.anotherClient());
      const first = await leased();
      const second = await leased();
      await commit(second, 'b');
      await stored('c');
      assert.deepEqual(await read(), []);
      assert.deepEqual(await other.peek(), []);
      await commit(first, 'a');
      assert.deepEqual(shortly(await other.read()), ['1 committed "a"', '2 committed "b"', '3 committed "c"']);
      assert.deepEqual(shortly(await peek(2, 1)), ['2 committed "b"']);
      assert.deepEqual(await read(4), []);
    },
  },
  {
    tags: ['N3'],
    title: 'an expired number holds the watermark until it is settled: expiry alone settles nothing',
    needs,
    run: async (context) => {
      const { leased, stored, read, barrier, figures, store } = sequencesOf(context);
      const held = await leased({ ttlMs: context.shortTtlMs });
      await stored();
      await context.passTime(context.shortTtlMs);
      assert.deepEqual(await read(), []);
      assert.equal(await barrier(2), false);
      const { watermark, oldestOpen, open } = await figures();
      assert.deepEqual([watermark, open, oldestOpen?.number, oldestOpen?.dueAt], [0, 1, 1, held.expiresAt]);
      const page = await store.read({ stream: STREAM, from: 1, limit: 1, seal: true, watch: true });
      assert.deepEqual([page.watermark, page.next, page.oldestOpen?.operationId], [0, 3, held.operationId]);
    },
  },
  {
    tags: ['N3'],
    title: 'the barrier opens when everything below a number is settled, and may be asked ahead',
    needs,
    run: async (context) => {
      const { leased, commit, release, barrier } = sequencesOf(context);
      assert.equal(await barrier(1), true, 'a stream nobody wrote to');
      assert.equal(await barrier(5), false);
      const held = [await leased(), await leased(), await leased()];
      assert.equal(await barrier(1), true);
      assert.equal(await barrier(3), false);
      await release(nth(held, 0));
      assert.equal(await barrier(3), false);
      await commit(nth(held, 1), 1);
      assert.equal(await barrier(3), true);
      assert.equal(await barrier(4), false);
      await expectRejection(barrier(2_000_000), 'INVALID_ARGUMENT');
      await expectRejection(barrier(0), 'INVALID_ARGUMENT');
    },
  },
  {
    tags: ['N3', 'S12'],
    title: 'whoever listens hears that something was settled, on another connection too, also behind one that throws',
    needs: { ...needs, wakeUps: true },
    run: async (context) => {
      const { leased, commit, release } = sequencesOf(context);
      const other = sequencesOf(await context.anotherClient());
      let isHeard = false;
      const leaveToo = other.store.subscribe({
        settled: () => {
          throw new Error('what a listener throws is its own affair');
        },
      });
      const leave = other.store.subscribe({
        settled: (streams) => {
          isHeard ||= streams.length === 0 || streams.includes(STREAM);
        },
      });
      for (const settle of [commit, release]) {
        const held = await leased();
        await other.store.barrier({ stream: STREAM, number: held.first + 1, watch: true });
        isHeard = false;
        await settle(held, 'x');
        await context.hint(`${STREAM} is heard of`, () => isHeard);
      }
      leave();
      leaveToo();
    },
  },
  {
    tags: ['N4'],
    title: 'a gap nobody was shown is filled by its own operation, and by no other',
    needs,
    run: async (context) => {
      const { leased, release, fill, stored, peek, read, barrier } = sequencesOf(context);
      await stored('a');
      const held = await leased();
      await release(held);
      assert.deepEqual(shortly(await peek()), ['1 committed "a"', '2 gap']);
      assert.equal(await barrier(2), true, 'waiting for 2 seals 1 alone');
      expectOutcome(await fill(2, 'another', 'b'), 'mismatch');
      expectOutcome(await fill(1, 'owner-1-op-1', 'b'), 'mismatch');
      assert.equal(expectOutcome(await fill(9, held.operationId, 'b'), 'notGap').state, 'unknown');
      assert.deepEqual(await fill(2, held.operationId, 'b'), { outcome: 'stored', first: 2, how: 'filled' });
      assert.deepEqual(await fill(2, held.operationId, 'b'), { outcome: 'stored', first: 2, how: 'repeated' });
      expectOutcome(await fill(2, held.operationId, 'other'), 'mismatch');
      assert.deepEqual(shortly(await read()), ['1 committed "a"', '2 filled "b"']);
    },
  },
  {
    tags: ['N4'],
    title: 'a gap somebody was shown is sealed: its operation gets a new number, and the gap points to it',
    needs,
    run: async (context) => {
      const { leased, release, fill, stored, read, store, figures } = sequencesOf(context);
      const held = await leased();
      await release(held, 'too slow');
      await stored('b');
      assert.deepEqual(shortly(await read()), ['1 gap', '2 committed "b"']);
      assert.deepEqual(await fill(1, held.operationId, 'a'), { outcome: 'stored', first: 3, how: 'moved' });
      assert.deepEqual(await fill(1, held.operationId, 'a'), { outcome: 'stored', first: 3, how: 'repeated' });
      const items = await read();
      assert.deepEqual(shortly(items), ['1 gap to 3', '2 committed "b"', '3 committed "a"']);
      const { originalNumber, originalOperationId, type } = noteOf(items, 2);
      assert.deepEqual([originalNumber, originalOperationId, type], [1, held.operationId, 'manual']);
      const { gaps } = await store.gaps({ stream: STREAM, after: 0, limit: 10 });
      assert.deepEqual([gaps[0]?.sealed, gaps[0]?.fillable, gaps[0]?.movedTo], [true, false, 3]);
      assert.equal((await figures()).gaps, 0, 'its operation is stored: no gap to worry about');
    },
  },
  {
    tags: ['N4'],
    title: 'read, the barrier and a cursor seal; a peek does not; the seal never goes back',
    needs,
    run: async (context) => {
      const { leased, release, read, peek, barrier, figures, store } = sequencesOf(context);
      for (let i = 0; i < 4; i += 1) await release(await leased());
      await peek();
      assert.equal((await figures()).seal, 0);
      await barrier(2);
      assert.equal((await figures()).seal, 1);
      await read(1, 2);
      assert.equal((await figures()).seal, 2);
      const opened = expectOutcome(await store.cursor({ stream: STREAM, reader: 'r', act: 'open' }), 'opened');
      await store.cursor({ stream: STREAM, reader: 'r', act: 'done', number: 3, epoch: opened.epoch });
      assert.equal((await figures()).seal, 3);
      await read(1, 1);
      await barrier(1);
      assert.equal((await figures()).seal, 3);
    },
  },
  {
    tags: ['N4', 'N1'],
    title: 'a gap of several numbers is sealed by the first that was shown, and moves as a whole',
    needs,
    run: async (context) => {
      const { leased, release, fill, read } = sequencesOf(context);
      const held = await leased({ count: 2 });
      await release(held);
      await read(1, 1);
      assert.deepEqual(await fill(2, held.operationId, 'a', 'b'), { outcome: 'stored', first: 3, how: 'moved' });
      const items = await read();
      assert.deepEqual(shortly(items), ['1 gap to 3', '2 gap to 4', '3 committed "a"', '4 committed "b"']);
      assert.equal(noteOf(items, 3).originalNumber, 2);
    },
  },
];
