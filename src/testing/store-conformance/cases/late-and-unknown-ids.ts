// S8: messages that overtake one another, come late, or name an id the store has not seen or has forgotten.
import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome } from '../context.js';

const AGE_LIMIT_MS = 60_000;

export const lateAndUnknownIds: readonly ConformanceCase[] = [
  {
    tags: ['S8', 'S9'],
    title: 'an end that overtakes its acquire is noted, and the acquire is refused when it comes',
    run: async ({ ask, cancel, acquire, grant, events, store }) => {
      const late = await ask({ name: 'orders/0', join: true });
      expectOutcome(await cancel(late.id), 'noted');
      assert.equal(expectOutcome(await acquire(late), 'ended').status, 'failed');
      assert.equal(expectOutcome(await acquire({ ...late, join: false }), 'ended').status, 'failed');
      assert.deepEqual((await store.list({ limit: 10 })).items, [], 'nothing was granted or queued');
      assert.deepEqual(await events(), []);
      await grant('orders/0');
    },
  },
  {
    tags: ['S8'],
    title: 'a release that overtakes its acquire is noted as well, and repeating it is noted again',
    run: async ({ ask, release, acquire }) => {
      const late = await ask('orders/0');
      expectOutcome(await release({ id: late.id, epoch: 7 }), 'noted');
      expectOutcome(await release({ id: late.id, epoch: 7 }), 'noted');
      expectOutcome(await acquire(late), 'ended');
      expectOutcome(await release({ id: late.id, epoch: 7 }), 'noted');
    },
  },
  {
    tags: ['S8', 'S5'],
    title: 'renewing or changing an id that is unknown, or only noted, is notHeld: unknown',
    run: async ({ newId, renew, change, cancel }) => {
      const held = { id: newId(), epoch: 5 };
      const unknown = { outcome: 'notHeld', status: 'unknown' };
      const check = async (): Promise<void> => {
        for (const result of [
          await renew(held),
          await change(held, { delegate: 'heir' }),
          await change(held, 'downgrade'),
        ]) {
          assert.deepEqual({ outcome: result.outcome, status: 'status' in result ? result.status : '' }, unknown);
        }
      };
      await check();
      await cancel(held.id);
      await check();
    },
  },
  {
    tags: ['S8'],
    title: 'an unknown id older than 60 s is refused as too old, one from a minute ahead too, younger ones are not',
    run: async ({ acquire, grant, store }) => {
      const { now } = await store.time();
      expectOutcome(await acquire({ name: 'a', bornAt: now - AGE_LIMIT_MS - 1_000 }), 'tooOld');
      expectOutcome(await acquire({ name: 'a', bornAt: now - AGE_LIMIT_MS - 1_000, join: true }), 'tooOld');
      expectOutcome(await acquire({ name: 'a', bornAt: 0 }), 'tooOld');
      expectOutcome(await acquire({ name: 'a', bornAt: now + 10 * AGE_LIMIT_MS }), 'tooOld');
      await grant({ name: 'a', bornAt: now - AGE_LIMIT_MS + 5_000 });
    },
  },
  {
    tags: ['S8'],
    title: 'a known id is answered however old it is',
    run: async ({ ask, grant, acquire, queue, lastNow }) => {
      const request = await ask('orders/0');
      await grant(request);
      const ticket = await queue('orders/0');
      const bornAt = lastNow() - 10 * AGE_LIMIT_MS;
      assert.equal(expectOutcome(await acquire({ ...request, bornAt }), 'granted').again, true);
      expectOutcome(await acquire({ ...ticket, bornAt }), 'queued');
    },
  },
  {
    tags: ['S8', 'H4'],
    title: 'ended and noted ids survive a prune for 60 s',
    needs: { passMs: 55_000 },
    run: async ({ ask, grant, acquire, release, cancel, passTime, store }) => {
      const ended = await ask('a');
      const lease = await grant(ended);
      await release(lease);
      const noted = await ask('b');
      await cancel(noted.id);
      await passTime(55_000);
      await store.prune({ olderThanMs: 0, limit: 1_000 });
      assert.equal(expectOutcome(await acquire(ended), 'ended').status, 'released');
      assert.equal(expectOutcome(await acquire(noted), 'ended').status, 'failed');
      assert.equal(expectOutcome(await release(lease), 'released').again, true);
    },
  },
  {
    tags: ['S8', 'H4'],
    title: 'an id that a prune forgot cannot come back to life',
    needs: { passMs: 300_000 },
    run: async ({ ask, grant, acquire, release, cancel, passTime, store }) => {
      const ended = await ask('a');
      await release(await grant(ended));
      const noted = await ask('b');
      await cancel(noted.id);
      await passTime(300_000);
      assert.equal((await store.prune({ olderThanMs: 0, limit: 1_000 })).ids, 2);
      assert.deepEqual((await store.get([ended.id])).items, [undefined]);
      expectOutcome(await acquire(ended), 'tooOld');
      expectOutcome(await acquire(noted), 'tooOld');
    },
  },
  {
    tags: ['S8', 'H4'],
    title: 'a prune forgets no lease that is live, no ticket that waits and no block that stands',
    needs: { passMs: 290_000 },
    run: async ({ grant, release, queue, acquire, refuse, passTime, record, store }) => {
      const live = await grant({ name: 'a', ttlMs: 3_600_000 });
      await release(await grant({ name: 'b', ttlMs: 1_000, minHoldMs: 3_600_000 }));
      await passTime(290_000);
      const ticket = await queue('a');
      await store.prune({ olderThanMs: 0, limit: 1_000 });
      assert.equal((await record(live.id)).status, 'active');
      expectOutcome(await acquire(ticket), 'queued');
      assert.equal((await refuse('b')).reason, 'min_hold');
    },
  },
];
