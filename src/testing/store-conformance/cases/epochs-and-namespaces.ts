// S2: one counter per namespace that only grows. Namespaces are closed worlds: nothing in one is seen or touched from
// another.
import assert from 'node:assert/strict';
import { LeaseError } from '../../../domain/errors.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectError, expectOutcome } from '../context.js';
import { node, shared } from '../parts.js';

export const epochsAndNamespaces: readonly ConformanceCase[] = [
  {
    tags: ['S2'],
    title: 'every grant, delegation, upgrade and revocation draws a higher epoch, whatever the names',
    run: async ({ grant, release, change, revoke }) => {
      const epochs: number[] = [];
      const a = await grant('a');
      epochs.push(a.epoch);
      await release(a);
      epochs.push((await grant('b')).epoch);
      const again = await grant('a');
      epochs.push(again.epoch);
      epochs.push(expectOutcome(await change(again, { delegate: 'heir' }), 'changed').lease.epoch);
      const reader = await grant({ parts: [shared('c')] });
      epochs.push(reader.epoch);
      const upgrades = { id: reader.id, epoch: reader.epoch };
      epochs.push((await grant({ parts: [node('c')], upgrades })).epoch);
      epochs.push((await revoke({ resource: 'c' })).epoch ?? 0);
      epochs.push((await grant({ parts: [node('c'), node('d')] })).epoch);
      for (const [i, epoch] of epochs.entries()) {
        assert.ok(Number.isSafeInteger(epoch));
        if (i > 0) assert.ok(epoch > (epochs[i - 1] ?? 0), `epoch ${i} is above the one before`);
      }
    },
  },
  {
    tags: ['S2'],
    title: 'renewals, refusals, tickets, downgrades and releases draw none',
    run: async ({ grant, renew, refuse, queue, change, release, store }) => {
      const lease = await grant('a');
      assert.equal((await store.time()).epoch, lease.epoch, 'time tells the highest epoch drawn');
      await renew(lease);
      await refuse('a');
      await queue('a');
      await change(lease, 'downgrade');
      await release(lease);
      assert.equal((await store.time()).epoch, lease.epoch);
    },
  },
  {
    tags: ['S2'],
    title: "the counter starts at the store's wall time in microseconds or above",
    run: async ({ grant, wall }) => {
      const { epoch } = await grant('a');
      assert.ok(epoch >= (wall() - 60_000) * 1_000, `epoch ${epoch} could have been drawn in an earlier life`);
    },
  },
  {
    tags: ['S2', 'S1'],
    title: 'two connections draw from one counter',
    run: async ({ grant, anotherClient }) => {
      const second = await anotherClient();
      let last = 0;
      for (let i = 0; i < 6; i += 1) {
        const { epoch } = await (i % 2 === 0 ? grant : second.grant)(`orders/${i}`);
        assert.ok(epoch > last);
        last = epoch;
      }
    },
  },
  {
    tags: ['S1', 'S8'],
    title: 'the same names and the same id in another namespace are other names and another id',
    run: async ({ ask, grant, refuse, inNamespace, record }) => {
      const other = inNamespace('other');
      const request = await ask('a');
      const here = await grant(request);
      const there = await other.grant(request);
      await refuse('a');
      expectOutcome(await other.release(there), 'released');
      assert.equal((await record(here.id)).status, 'active');
      assert.equal((await other.record(here.id)).status, 'released');
      assert.equal(other.store.namespace, 'other');
    },
  },
  {
    tags: ['A8', 'H1', 'Q4'],
    title: 'reads, log, sweep, revocation and queue see their own namespace only',
    run: async ({ grant, queue, release, revoke, passTime, shortTtlMs, inNamespace, events, store }) => {
      const other = inNamespace('other');
      await grant({ name: 'a', owner: 'me' });
      await queue({ name: 'a', owner: 'me' });
      await grant({ name: 'short', ttlMs: shortTtlMs });
      const there = await other.grant({ name: 'b', owner: 'me' });
      assert.deepEqual((await other.events()).length, 1);
      assert.deepEqual(
        (await other.events()).map(({ namespace }) => namespace),
        ['other'],
      );
      assert.deepEqual((await other.store.list({ limit: 10 })).items, [there]);
      assert.deepEqual((await other.store.show('a', 10)).holders, []);
      assert.deepEqual((await other.store.waitGraph()).tickets, []);
      await passTime(shortTtlMs);
      assert.equal((await other.store.sweep({ limit: 10 })).leases, 0);
      const revoked = await revoke({ owner: 'me' }, { upToEpoch: Number.MAX_SAFE_INTEGER });
      assert.equal(revoked.ended.length, 2);
      expectOutcome(await other.renew(there), 'renewed');
      expectOutcome(await release(there), 'noted');
      assert.ok((await events()).every(({ namespace }) => namespace === store.namespace));
    },
  },
  {
    tags: ['S1'],
    title: 'a namespace reached twice is the same one, also over another connection',
    run: async ({ inNamespace, anotherClient }) => {
      await inNamespace('n').grant('a');
      await inNamespace('n').refuse('a');
      const second = await anotherClient();
      assert.equal((await second.store.within('n').list({ limit: 10 })).items.length, 1);
      await inNamespace('N').grant('a');
    },
  },
  {
    tags: ['S18'],
    title: 'a namespace is 1 to 64 characters out of A-Z a-z 0-9 . _ -',
    run: async ({ inNamespace, store }) => {
      for (const good of ['a', 'A.b_c-9', 'x'.repeat(64)]) await inNamespace(good).grant('a');
      for (const bad of ['', 'x'.repeat(65), 'a b', 'a/b', 'ä', 'a\u0000', '{a}', "a'", 'a:b']) {
        try {
          store.within(bad);
          assert.fail(`the namespace ${JSON.stringify(bad)} was accepted`);
        } catch (error) {
          if (!(error instanceof LeaseError)) throw error;
          expectError(error, 'INVALID_ARGUMENT');
        }
      }
    },
  },
];
