// N1, N2: numbers are dense and leased once; a commit is one step or nothing.
import assert from 'node:assert/strict';
import type { ConformanceCase } from '../../conformance-case.js';
import { expectOutcome, expectRejection } from '../../context.js';
import { sequencesOf, shortly, STREAM } from '../sequence-client.js';

const needs = { sequences: true } as const;

export const numbers: readonly ConformanceCase[] = [
  {
    tags: ['N1', 'S2'],
    title: 'numbers are dense from 1, each lease with a higher epoch, streams count for themselves',
    needs,
    run: async (context) => {
      const { leased } = sequencesOf(context);
      const first = await leased();
      const second = await leased({ count: 3 });
      const third = await leased();
      assert.deepEqual([first.first, second.first, third.first], [1, 2, 5]);
      assert.ok(first.epoch < second.epoch && second.epoch < third.epoch, 'epochs rise');
      assert.equal((await leased({ stream: 'others' })).first, 1);
      const grant = await context.grant('a');
      assert.ok(grant.epoch > third.epoch, 'leases and numbers draw from one counter');
      assert.equal((await sequencesOf(context.inNamespace('elsewhere')).leased()).first, 1);
    },
  },
  {
    tags: ['N1'],
    title: 'an operation that leases again while it is live gets its own number and epoch, also from another client',
    needs,
    run: async (context) => {
      const { leased } = sequencesOf(context);
      const other = sequencesOf(await context.anotherClient());
      const first = await leased({ operationId: 'a', owner: 'alice' });
      const again = await other.leased({ operationId: 'a', owner: 'bob' });
      assert.deepEqual([again.first, again.epoch, again.again], [first.first, first.epoch, true]);
      assert.deepEqual([first.owner, again.owner], ['alice', 'alice']);
      assert.equal(expectOutcome(await other.progress(again, { what: 'look' }), 'kept').owner, 'alice');
      assert.equal(first.again, false);
      assert.equal((await leased()).first, 2);
    },
  },
  {
    tags: ['N1'],
    title: 'an operation whose lease expired takes its number up again under a new epoch; the old one is over',
    needs,
    run: async (context) => {
      const { leased, commit, read } = sequencesOf(context);
      const first = await leased({ operationId: 'a', ttlMs: context.shortTtlMs, owner: 'alice' });
      await context.passTime(context.shortTtlMs);
      const again = await leased({ operationId: 'a', owner: 'bob' });
      assert.deepEqual([again.first, again.again, again.owner], [first.first, true, 'bob']);
      assert.ok(again.epoch > first.epoch);
      const late = expectOutcome(await commit(first, 'late'), 'notHeld');
      assert.deepEqual([late.state, late.epoch], ['leased', again.epoch]);
      expectOutcome(await commit(again, 'in time'), 'committed');
      assert.deepEqual(shortly(await read()), ['1 committed "in time"']);
    },
  },
  {
    tags: ['N1'],
    title: 'a settled operation answers its outcome, another kind or count under its id is a mismatch',
    needs,
    run: async (context) => {
      const { lease, leased, stored, release } = sequencesOf(context);
      await stored('x', { operationId: 'a' });
      const { items } = expectOutcome(await lease({ operationId: 'a' }), 'settled');
      assert.deepEqual(shortly(items), ['1 committed "x"']);
      await release(await leased({ operationId: 'b' }), 'no stock');
      assert.deepEqual(shortly(expectOutcome(await lease({ operationId: 'b' }), 'settled').items), ['2 gap']);
      expectOutcome(await lease({ operationId: 'a', kind: 'other' }), 'mismatch');
      expectOutcome(await lease({ operationId: 'a', count: 2 }), 'mismatch');
    },
  },
  {
    tags: ['N1'],
    title: 'with a count all numbers settle together, one operation for each',
    needs,
    run: async (context) => {
      const { leased, commit, read, barrier } = sequencesOf(context);
      const three = await leased({ count: 3 });
      assert.equal(await barrier(2), false);
      await expectRejection(commit(three, 'only one'), 'INVALID_ARGUMENT');
      assert.deepEqual(shortly(await read()), []);
      expectOutcome(await commit(three, 'a', 'b', null), 'committed');
      assert.deepEqual(shortly(await read()), ['1 committed "a"', '2 committed "b"', '3 committed null']);
      assert.deepEqual(shortly(await read(2, 1)), ['2 committed "b"']);
    },
  },
  {
    tags: ['N2'],
    title: 'a commit is repeated with the same content and refused with another',
    needs,
    run: async (context) => {
      const { leased, commit, read } = sequencesOf(context);
      const held = await leased();
      assert.equal(expectOutcome(await commit(held, { a: 1 }), 'committed').repeated, false);
      const again = expectOutcome(await commit(held, { a: 1 }), 'committed');
      assert.deepEqual([again.first, again.repeated], [held.first, true]);
      expectOutcome(await commit(held, { a: 2 }), 'mismatch');
      assert.deepEqual(shortly(await read()), ['1 committed {"a":1}']);
    },
  },
  {
    tags: ['N2'],
    title: 'after its expiry nothing of a lease succeeds: commit, progress and release change nothing',
    needs,
    run: async (context) => {
      const { leased, commit, progress, release, read, figures } = sequencesOf(context);
      const held = await leased({ ttlMs: context.shortTtlMs });
      await context.passTime(context.shortTtlMs);
      assert.equal(expectOutcome(await commit(held, 1), 'notHeld').state, 'expired');
      assert.equal(expectOutcome(await release(held), 'notHeld').state, 'expired');
      for (const what of [
        { what: 'look' },
        { what: 'renew', ttlMs: 60_000 },
        { what: 'partial', work: 1 },
        { what: 'finished', operations: [1] },
      ] as const)
        assert.equal(expectOutcome(await progress(held, what), 'notHeld').state, 'expired', what.what);
      assert.deepEqual(await read(), []);
      assert.equal((await figures()).open, 1);
    },
  },
  {
    tags: ['N2', 'S4'],
    title: 'a renewal prolongs, never shortens; a number leased to somebody else is not touched',
    needs,
    run: async (context) => {
      const { leased, progress, commit } = sequencesOf(context);
      const held = await leased({ ttlMs: 10_000 });
      const shorter = expectOutcome(await progress(held, { what: 'renew', ttlMs: 1_000 }), 'kept');
      assert.equal(shorter.expiresAt, held.expiresAt);
      const longer = expectOutcome(await progress(held, { what: 'renew', ttlMs: 60_000 }), 'kept');
      assert.ok(longer.expiresAt >= held.expiresAt + 50_000);
      const other = { ...held, epoch: held.epoch + 1 };
      assert.equal(expectOutcome(await commit(other, 1), 'notHeld').epoch, held.epoch);
      const unknown = { ...held, operationId: 'nobody' };
      assert.equal(expectOutcome(await commit(unknown, 1), 'notHeld').state, 'unknown');
      assert.equal(expectOutcome(await progress(unknown, { what: 'look' }), 'notHeld').state, 'unknown');
    },
  },
  {
    tags: ['N2', 'N4'],
    title: 'a release makes a gap with its reason, once',
    needs,
    run: async (context) => {
      const { store, leased, release, commit } = sequencesOf(context);
      const held = await leased();
      assert.equal(expectOutcome(await release(held, 'no stock'), 'released').again, false);
      assert.equal(expectOutcome(await release(held, 'no stock'), 'released').again, true);
      assert.equal(expectOutcome(await commit(held, 1), 'notHeld').state, 'gap');
      const { gaps } = await store.gaps({ stream: STREAM, after: 0, limit: 10 });
      assert.deepEqual(
        gaps.map(({ number, reason, fillable, sealed, originalExpiry }) => ({
          number,
          reason,
          fillable,
          sealed,
          originalExpiry,
        })),
        [{ number: 1, reason: 'no stock', fillable: true, sealed: false, originalExpiry: held.expiresAt }],
      );
    },
  },
  {
    tags: ['S21', 'S18'],
    title: 'items of a batch act in order, and a bad one fails alone',
    needs,
    run: async (context) => {
      const { store } = sequencesOf(context);
      const item = { stream: STREAM, kind: 'k', ttlMs: 1_000, owner: 'o' };
      const { results } = await store.lease([
        { ...item, operationId: 'a', count: 1 },
        { ...item, operationId: 'b', count: 0 },
        { ...item, operationId: 'c', count: 1_000 },
        { ...item, operationId: 'd', count: 1_001 },
        { ...item, operationId: 'e', count: 1, stream: 'a//b' },
        { ...item, operationId: 'a', count: 1 },
      ]);
      assert.deepEqual(
        results.map((one) => (one.outcome === 'leased' ? [one.first, one.again] : one.outcome)),
        [[1, false], 'failed', [2, false], 'failed', 'failed', [1, true]],
      );
      const { results: stored } = await store.commit([
        { stream: STREAM, operationId: 'a', epoch: 0, operations: [1] },
        { stream: STREAM, operationId: 'a', epoch: 1, operations: ['x'.repeat(262_144)] },
        { stream: STREAM, operationId: 'a', epoch: 1, operations: [() => 1] },
        { stream: STREAM, operationId: 'a', epoch: 1, operations: [] },
      ]);
      assert.deepEqual(
        stored.map(({ outcome }) => outcome),
        ['failed', 'failed', 'failed', 'failed'],
      );
    },
  },
];
