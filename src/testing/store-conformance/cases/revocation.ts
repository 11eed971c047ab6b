// A7: revocation ends what matches with an epoch up to the one named, tickets too, and draws an epoch. A repeat cannot
// hit the next holder; an empty list is an answer.
import assert from 'node:assert/strict';
import type { RevokeOrder, RevokeTarget } from '../../../domain/requests.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome, expectRejection } from '../context.js';
import { node, shared, subtree } from '../parts.js';

/** What stands before each revocation of the table, and what each target must end of it. */
const standing: Readonly<Record<string, { name: string; owner: string } | undefined>> = {
  exact: { name: 'a/b', owner: 'x' },
  below: { name: 'a/b/c', owner: 'y' },
  beside: { name: 'a/bc', owner: 'x' },
  above: { name: 'a', owner: 'y' },
};
const aims: readonly { target: RevokeTarget; ends: readonly string[] }[] = [
  { target: { resource: 'a/b' }, ends: ['exact'] },
  { target: { resource: 'a/b/c' }, ends: ['below'] },
  { target: { under: 'a/b' }, ends: ['exact', 'below'] },
  { target: { under: 'a' }, ends: ['exact', 'below', 'beside', 'above'] },
  { target: { owner: 'x' }, ends: ['exact', 'beside'] },
  { target: { owner: 'X' }, ends: [] },
  { target: { under: 'a/b%' }, ends: [] },
  { target: { resource: 'nothing/here' }, ends: [] },
];

const aimed: ConformanceCase[] = aims.map(({ target, ends }) => ({
  tags: ['A7'],
  title: `revoking ${JSON.stringify(target)} ends ${ends.length === 0 ? 'nothing' : ends.join(', ')}`,
  run: async ({ grant, revoke, record }) => {
    const ids = new Map<string, string>();
    for (const [what, wanted] of Object.entries(standing)) if (wanted) ids.set(what, (await grant(wanted)).id);
    const revoked = await revoke(target);
    const names = (id: string): string => [...ids].find(([, known]) => known === id)?.[0] ?? id;
    assert.deepEqual(revoked.ended.map(({ id }) => names(id)).sort(), [...ends].sort());
    assert.equal(revoked.more, false);
    for (const [what, id] of ids) assert.equal((await record(id)).status, ends.includes(what) ? 'revoked' : 'active');
  },
}));

export const revocation: readonly ConformanceCase[] = [
  ...aimed,
  {
    tags: ['A7', 'S2'],
    title: 'a revocation answers the records it ended and draws the next epoch',
    run: async ({ grant, revoke, record, store }) => {
      const lease = await grant('a');
      const revoked = await revoke({ leaseId: lease.id }, { reason: 'stuck' });
      const ended = { ...lease, status: 'revoked', reason: 'stuck', endedAt: revoked.now };
      assert.deepEqual(revoked.ended, [ended]);
      assert.deepEqual(await record(lease.id), ended);
      assert.ok((revoked.epoch ?? 0) > lease.epoch);
      assert.equal((await store.time()).epoch, revoked.epoch);
      assert.ok((await grant('a')).epoch > (revoked.epoch ?? 0));
    },
  },
  {
    tags: ['A7'],
    title: 'a revocation that finds nothing answers an empty list, draws no epoch and writes nothing',
    run: async ({ grant, release, revoke, newId, events, store }) => {
      const lease = await grant('a');
      await release(lease);
      const { epoch } = await store.time();
      const targets = [
        { resource: 'a' },
        { under: 'a' },
        { leaseId: lease.id },
        { leaseId: newId() },
        { owner: 'who' },
      ];
      for (const target of targets) {
        const { ended, more, epoch: drawn } = await revoke(target);
        assert.deepEqual({ ended, more, drawn }, { ended: [], more: false, drawn: undefined });
      }
      assert.equal((await store.time()).epoch, epoch);
      assert.equal((await events()).length, 2);
    },
  },
  {
    tags: ['A7'],
    title: 'a repeat of the same order cannot hit the next holder',
    run: async ({ grant, revoke, record, store }) => {
      await grant('a');
      const { epoch: upToEpoch } = await store.time();
      assert.equal((await revoke({ resource: 'a' }, { upToEpoch })).ended.length, 1);
      const next = await grant('a');
      assert.deepEqual((await revoke({ resource: 'a' }, { upToEpoch })).ended, []);
      assert.deepEqual(await record(next.id), next);
    },
  },
  {
    tags: ['A7'],
    title: 'up to an epoch means up to and with it',
    run: async ({ grant, revoke, record }) => {
      const first = await grant({ parts: [shared('a')] });
      const second = await grant({ parts: [shared('a')] });
      const third = await grant({ parts: [shared('a')] });
      await revoke({ resource: 'a' }, { upToEpoch: second.epoch });
      const statuses = [];
      for (const { id } of [first, second, third]) statuses.push((await record(id)).status);
      assert.deepEqual(statuses, ['revoked', 'revoked', 'active']);
    },
  },
  {
    tags: ['A7', 'Q1'],
    title: 'tickets are revoked too, unless they joined after that epoch',
    run: async ({ grant, queue, acquire, revoke, record, store }) => {
      await grant('a');
      const early = await queue('a');
      const { epoch: upToEpoch } = await store.time();
      await grant('elsewhere');
      const late = await queue('a');
      const revoked = await revoke({ resource: 'a' }, { upToEpoch, reason: 'stuck' });
      assert.equal(revoked.ended.length, 2);
      const ticket = await record(early.id);
      assert.deepEqual([ticket.status, ticket.reason, ticket.endedAt], ['revoked', 'stuck', revoked.now]);
      const end = expectOutcome(await acquire(early), 'ended');
      assert.deepEqual([end.status, end.reason], ['revoked', 'stuck']);
      await grant(late);
    },
  },
  {
    tags: ['A7', 'S10'],
    title: 'a lease of several parts ends as a whole when one of them is revoked',
    run: async ({ grant, revoke }) => {
      const lease = await grant({ parts: [node('a'), node('b'), subtree('c')] });
      const { ended } = await revoke({ resource: 'b' });
      assert.deepEqual(
        ended.map(({ id }) => id),
        [lease.id],
      );
      for (const name of ['a', 'b', 'c/d']) await grant(name);
    },
  },
  {
    tags: ['A7'],
    title: 'revoking a name leaves the subtree lease above it alone',
    run: async ({ grant, revoke, record }) => {
      const tree = await grant({ parts: [subtree('a')] });
      assert.deepEqual((await revoke({ resource: 'a/b' })).ended, []);
      assert.deepEqual((await revoke({ under: 'a/b' })).ended, []);
      assert.equal((await record(tree.id)).status, 'active');
      assert.equal((await revoke({ resource: 'a' })).ended.length, 1);
    },
  },
  {
    tags: ['A7', 'S3'],
    title: 'a lease that had expired before is not ended by a revocation',
    run: async ({ grant, revoke, passTime, shortTtlMs, record }) => {
      const lease = await grant({ name: 'a', ttlMs: shortTtlMs });
      await passTime(shortTtlMs);
      assert.deepEqual((await revoke({ resource: 'a' })).ended, []);
      const ended = await record(lease.id);
      assert.deepEqual([ended.status, ended.endedAt], ['expired', lease.expiresAt]);
    },
  },
  {
    tags: ['A7', 'S18'],
    title: 'a bad order is refused as a whole: reason, actor, keepOut, epoch, target',
    run: async ({ grant, record, store }) => {
      const lease = await grant('a');
      const good: RevokeOrder = {
        target: { resource: 'a' },
        reason: 'x',
        actor: 'operator',
        keepOutMs: 0,
        upToEpoch: lease.epoch,
      };
      const bad: Partial<RevokeOrder>[] = [
        { reason: '' },
        { reason: 'x'.repeat(1_025) },
        { reason: 'x'.repeat(1_000_000) },
        { actor: '' },
        { actor: 'x'.repeat(129) },
        { keepOutMs: -1 },
        { keepOutMs: NaN },
        { keepOutMs: 31 * 86_400_000 },
        { upToEpoch: NaN },
        { upToEpoch: 2 ** 53 },
        { target: { resource: 'a//b' } },
        { target: { under: '' } },
        { target: { leaseId: 'x' } },
        { target: { owner: '' } },
      ];
      for (const wrong of bad) await expectRejection(store.revoke({ ...good, ...wrong }), 'INVALID_ARGUMENT');
      assert.deepEqual(await record(lease.id), lease);
      assert.equal((await store.revoke({ ...good, reason: 'x'.repeat(1_024) })).ended.length, 1);
    },
  },
];
