// S17: numbers are exact. Epochs are about 2^51 from the start, so one that is off by one must already be told apart; where
// the harness can set the counter, the same up to the last safe integer.
import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';
import { expectError, expectOutcome, type Client } from '../context.js';
import { node, shared } from '../parts.js';

const MAX = Number.MAX_SAFE_INTEGER;

/** Every way an epoch goes in and out, with neighbours that are off by one. */
async function epochsAreExact({ grant, renew, release, change, revoke, record, events }: Client): Promise<void> {
  const lease = await grant('exact');
  for (const epoch of [lease.epoch - 1, lease.epoch + 1]) {
    assert.equal(expectOutcome(await renew({ id: lease.id, epoch }), 'notHeld').epoch, lease.epoch);
    assert.deepEqual(await release({ id: lease.id, epoch }), { outcome: 'stale', epoch: lease.epoch });
    const changed = expectOutcome(await change({ id: lease.id, epoch }, { delegate: 'x' }), 'notHeld');
    assert.equal(changed.epoch, lease.epoch);
  }
  assert.deepEqual((await revoke({ leaseId: lease.id }, { upToEpoch: lease.epoch - 1 })).ended, []);
  expectOutcome(await renew(lease), 'renewed');
  assert.equal((await record(lease.id)).epoch, lease.epoch);
  assert.equal((await events({ leaseId: lease.id }))[0]?.epoch, lease.epoch);
  const { lease: given } = expectOutcome(await change(lease, { delegate: 'heir' }), 'changed');
  assert.equal(given.epoch, lease.epoch + 1, 'the next epoch is the next integer');
  assert.equal((await revoke({ leaseId: lease.id }, { upToEpoch: given.epoch })).epoch, given.epoch + 1);
  assert.equal((await grant('exact')).epoch, given.epoch + 2);
}

export const exactNumbers: readonly ConformanceCase[] = [
  {
    tags: ['S17', 'S2'],
    title: 'epochs are exact to the last digit, everywhere they go in and come out',
    run: epochsAreExact,
  },
  {
    tags: ['S17'],
    title: 'the largest safe integers are told apart where a request names them',
    run: async ({ grant, renew, release, change, revoke, newId, record }) => {
      const lease = await grant({ name: 'a', maxRenewals: MAX });
      assert.equal((await record(lease.id)).maxRenewals, MAX);
      for (const epoch of [MAX, MAX - 1]) {
        assert.equal(expectOutcome(await renew({ id: lease.id, epoch }), 'notHeld').epoch, lease.epoch);
        assert.deepEqual(await release({ id: lease.id, epoch }), { outcome: 'stale', epoch: lease.epoch });
        expectOutcome(await change({ id: lease.id, epoch }, 'downgrade'), 'notHeld');
        expectOutcome(await release({ id: newId(), epoch }), 'noted');
      }
      expectOutcome(await renew(lease), 'renewed');
      assert.equal((await revoke({ resource: 'a' }, { upToEpoch: MAX })).ended.length, 1);
      const other = await grant({ name: 'a', maxRenewals: MAX - 1 });
      assert.equal((await record(other.id)).maxRenewals, MAX - 1);
    },
  },
  {
    tags: ['S17', 'S8'],
    title: 'ids, owners and metadata that look like numbers stay what they are',
    run: async ({ grant, acquire, ask, record }) => {
      const request = await ask({
        id: '0000000000000001',
        name: '9007199254740993',
        owner: '1e3',
        operationId: '007',
        metadata: { text: '9007199254740993', number: MAX },
      });
      const lease = await grant(request);
      const { id, owner, operationId, metadata, parts } = await record(lease.id);
      assert.deepEqual(
        { id, owner, operationId, metadata },
        {
          id: request.id,
          owner: '1e3',
          operationId: '007',
          metadata: request.metadata,
        },
      );
      assert.deepEqual(parts, [node('9007199254740993')]);
      await grant({ id: '00000000000000001', name: '9007199254740992', owner: '1000' });
      expectOutcome(await acquire(request), 'granted');
    },
  },
  {
    tags: ['S17', 'H1'],
    title: 'positions are opaque strings that come back as they were given',
    run: async ({ grant, events, store }) => {
      for (let i = 0; i < 12; i += 1) await grant(`orders/${i}`);
      const rows = await events();
      for (const [i, row] of rows.entries()) {
        assert.equal(typeof row.id, 'string');
        const answer = expectOutcome(await store.events({ after: row.id, limit: 1 }), 'rows');
        assert.equal(answer.rows[0]?.id, rows[i + 1]?.id);
        assert.equal(typeof answer.next, 'string');
      }
    },
  },
  {
    tags: ['S17', 'S2'],
    title: 'within 1,000 of 2^53 epochs are still exact to the last digit',
    needs: { nearLimit: true },
    run: async (context) => {
      const { epoch } = await context.store.time();
      assert.ok(epoch < MAX - 10 && epoch > MAX - 1_000, `the harness opened the store at epoch ${epoch}`);
      await epochsAreExact(context);
    },
  },
  {
    tags: ['S17', 'S2', 'S6'],
    title: 'a counter at its end refuses to grant rather than repeat an epoch, and leaves everything as it was',
    needs: { nearLimit: true },
    run: async ({ ask, grant, renew, release, change, record, newId, store }) => {
      const keep = await grant({ parts: [shared('keep')], owner: 'me', ttlMs: 600_000 });
      const one = await ask('drain');
      let last = keep.epoch;
      for (let left = MAX - last; left > 0; left = MAX - last) {
        const requests = Array.from({ length: Math.min(left, 256) }, () => ({
          ...one,
          id: newId(),
          parts: [shared('drain')],
        }));
        for (const result of (await store.acquire(requests)).results) {
          const { epoch } = expectOutcome(result, 'granted').lease;
          assert.equal(epoch, last + 1);
          last = epoch;
        }
      }
      assert.equal(last, MAX);
      const before = await record(keep.id);
      const over = [
        await ask('a'),
        await ask({ parts: [shared('keep')], owner: 'me', reclaim: true }),
        await ask({ parts: [node('keep')], owner: 'me', upgrades: { id: keep.id, epoch: keep.epoch } }),
      ];
      for (const request of over) {
        const { results } = await store.acquire([request]);
        assert.equal(results[0]?.outcome, 'failed');
        expectError((results[0] as unknown as { error: unknown }).error, 'INVALID_ARGUMENT');
        assert.deepEqual(await record(keep.id), before, 'an item that failed has changed nothing');
      }
      await assert.rejects(change(keep, { delegate: 'heir' }));
      assert.deepEqual(await record(keep.id), before);
      expectOutcome(await renew(keep), 'renewed');
      expectOutcome(await release(keep), 'released');
    },
  },
];
