// H2, H3, S6: every transition has its one row, with what it was, what it became, whose it is and under which epoch; what
// changes nothing has none.
import assert from 'node:assert/strict';
import type { LogRow } from '../../../domain/events.js';
import { isoTime } from '../../../domain/lease.js';
import { sentenceOf } from '../../../domain/events.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome } from '../context.js';
import { node, shared, subtree } from '../parts.js';

type Short = Pick<LogRow, 'type' | 'from' | 'to' | 'leaseId' | 'owner' | 'epoch' | 'resource' | 'reason' | 'actor'>;

/** The fields a test names, of each row; what is not there counts as undefined. */
function short(rows: readonly LogRow[], like: readonly Partial<Short>[]): Partial<Short>[] {
  return rows.map((row, i) =>
    Object.fromEntries(Object.keys(like[i] ?? { type: '' }).map((key) => [key, row[key as keyof Short] ?? undefined])),
  );
}

function expectRows(rows: readonly LogRow[], like: readonly Partial<Short>[]): void {
  assert.deepEqual(short(rows, like), like);
}

export const eventRows: readonly ConformanceCase[] = [
  {
    tags: ['H2'],
    title: 'a row carries position, store time, wall time, namespace and data',
    run: async ({ grant, events, wall, lastNow, store }) => {
      await grant('a');
      const [row] = await events();
      assert.ok(row);
      assert.equal(row.at, lastNow());
      assert.ok(Math.abs(row.wallAt - wall()) < 60_000, 'wallAt is the wall clock of the store');
      assert.equal(row.namespace, store.namespace);
      assert.ok(row.id.length > 0);
      assert.equal(typeof row.data, 'object');
    },
  },
  {
    tags: ['H2', 'H3', 'S6'],
    title: 'queued, acquired and released each have one row',
    run: async ({ grant, queue, release, events }) => {
      const first = await grant({ name: 'a', owner: 'one' });
      const ticket = await queue({ name: 'a', owner: 'two' });
      await release(first);
      const second = await grant(ticket);
      const one = { leaseId: first.id, owner: 'one', resource: 'a' };
      const two = { leaseId: second.id, owner: 'two', resource: 'a' };
      expectRows(await events(), [
        { type: 'lease.acquired', from: undefined, to: 'active', epoch: first.epoch, ...one },
        { type: 'lease.queued', from: undefined, to: 'pending', epoch: undefined, ...two },
        { type: 'lease.released', from: 'active', to: 'released', epoch: first.epoch, ...one },
        { type: 'lease.acquired', from: 'pending', to: 'active', epoch: second.epoch, ...two },
      ]);
    },
  },
  {
    tags: ['H2', 'H3', 'S6'],
    title: 'revocation of a lease and of a ticket: one row each, with actor and reason',
    run: async ({ grant, queue, revoke, events }) => {
      const lease = await grant({ name: 'a', owner: 'one' });
      const ticket = await queue({ name: 'a', owner: 'two' });
      await revoke({ resource: 'a' }, { actor: 'anna', reason: 'stuck' });
      const why = { type: 'lease.revoked', to: 'revoked', actor: 'anna', reason: 'stuck', resource: 'a' } as const;
      const rows = (await events()).slice(2);
      const like = rows.map(({ leaseId }) =>
        leaseId === lease.id
          ? { ...why, from: 'active' as const, leaseId: lease.id, owner: 'one', epoch: lease.epoch }
          : { ...why, from: 'pending' as const, leaseId: ticket.id, owner: 'two', epoch: undefined },
      );
      assert.equal(new Set(rows.map(({ leaseId }) => leaseId)).size, 2);
      expectRows(rows, like);
    },
  },
  {
    tags: ['H2', 'H3', 'S6', 'S9'],
    title: 'a ticket that gives up has one row with its reason',
    run: async ({ grant, queue, cancel, events }) => {
      await grant('a');
      const first = await queue({ name: 'a', owner: 'two' });
      const second = await queue({ name: 'a', owner: 'three' });
      await cancel(first.id, 'cancelled');
      await cancel(second.id, 'timeout');
      await cancel(second.id, 'timeout');
      const failed = { type: 'lease.failed', from: 'pending', to: 'failed', epoch: undefined } as const;
      expectRows((await events()).slice(3), [
        { ...failed, leaseId: first.id, owner: 'two', reason: 'cancelled' },
        { ...failed, leaseId: second.id, owner: 'three', reason: 'timeout' },
      ]);
    },
  },
  {
    tags: ['H2', 'H3', 'A6', 'Q5'],
    title: 'delegation, upgrade and downgrade each have one row under the epoch they gave',
    run: async ({ grant, change, events }) => {
      const lease = await grant({ parts: [shared('a')], owner: 'one' });
      const upgraded = await grant({
        parts: [node('a')],
        owner: 'one',
        upgrades: { id: lease.id, epoch: lease.epoch },
      });
      const { lease: given } = expectOutcome(await change(upgraded, { delegate: 'two' }), 'changed');
      const { lease: resumed } = expectOutcome(await change(given, { resume: 'three' }), 'changed');
      await change(resumed, 'downgrade');
      const row = { leaseId: lease.id, resource: 'a', from: 'active', to: 'active' } as const;
      expectRows((await events()).slice(1), [
        { type: 'lease.upgraded', ...row, owner: 'one', epoch: upgraded.epoch },
        { type: 'lease.delegated', ...row, owner: 'two', epoch: given.epoch, actor: 'one' },
        { type: 'lease.delegated', ...row, owner: 'three', epoch: resumed.epoch, actor: 'two' },
        { type: 'lease.downgraded', ...row, owner: 'three', epoch: resumed.epoch },
      ]);
    },
  },
  {
    tags: ['H2'],
    title: 'the row of a set names its first resource and all of them, and what is not plain is spelled out',
    run: async ({ grant, events }) => {
      const parts = [node('a'), shared('b', 3), subtree('c')];
      await grant({ parts });
      const [row] = await events();
      assert.equal(row?.resource, 'a');
      assert.deepEqual(row.resources, ['a', 'b', 'c']);
      assert.deepEqual(row.data['parts'], parts);
    },
  },
  {
    tags: ['S6', 'S5', 'H2'],
    title: 'what changes nothing writes nothing: refusals, repeats, stale, unknown and failed requests',
    run: async ({ ask, grant, queue, acquire, refuse, release, renew, change, cancel, failItem, newId, events }) => {
      const request = await ask('a');
      const lease = await grant(request);
      const ticket = await queue('a');
      const rows = await events();
      await refuse('a');
      await refuse({ name: 'a', holding: [lease.id], join: true });
      await acquire(request);
      await acquire(ticket);
      await acquire({ ...request, owner: 'other' });
      await acquire({ name: 'a', bornAt: 0 });
      await renew(lease);
      await renew({ id: lease.id, epoch: 1 });
      await release({ id: lease.id, epoch: 1 });
      await change({ id: lease.id, epoch: 1 }, { delegate: 'heir' });
      await cancel(newId());
      await failItem({ name: '' });
      const now = await events();
      assert.deepEqual(now.slice(0, rows.length), rows);
      assert.ok(now.slice(rows.length).every(({ resource }) => resource?.startsWith('neighbour')));
    },
  },
  {
    tags: ['H3'],
    title: 'every row makes its plain sentence',
    run: async ({ grant, queue, cancel, release, passTime, shortTtlMs, events, store }) => {
      const lease = await grant({ name: 'orders/0', owner: 'one' });
      await cancel((await queue({ name: 'orders/0', owner: 'two' })).id);
      await release(lease);
      const short = await grant({ name: 'orders/1', owner: 'one', ttlMs: shortTtlMs });
      await passTime(shortTtlMs);
      await store.sweep({ limit: 10 });
      const until = isoTime(short.expiresAt);
      assert.deepEqual((await events()).map(sentenceOf), [
        `Acquired orders/0, epoch ${lease.epoch}`,
        'two is waiting for orders/0, place 1',
        'two stopped waiting for orders/0: cancelled',
        `Released orders/0, epoch ${lease.epoch}`,
        `Acquired orders/1, epoch ${short.epoch}`,
        `Lease of one on orders/1 expired at ${until}, epoch ${short.epoch}`,
      ]);
    },
  },
];
