// S13, O4: every reply carries the store's clock, its incarnation and the version of its settings. The clock never goes
// back, and steps of the wall clock change nothing.
import assert from 'node:assert/strict';
import type { Reply } from '../../../stores/store.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome, expectRejection } from '../context.js';

export const clockAndReplies: readonly ConformanceCase[] = [
  {
    tags: ['S13', 'O4'],
    title: 'every reply of every method carries now, incarnation and settingsVersion',
    run: async ({ ask, wall, newId, store }) => {
      const authority = { id: newId(), epoch: 1, requestId: newId() };
      const replies: Reply[] = [
        await store.acquire([await ask('a')]),
        await store.renew([{ ...authority, callerWall: wall() }]),
        await store.change([{ ...authority, kind: 'downgrade' }]),
        await store.end([{ ...authority, why: 'released' }]),
        await store.revoke({ target: { resource: 'b' }, reason: 'x', actor: 'y', upToEpoch: 1, keepOutMs: 0 }),
        await store.failTicket({ id: newId(), cycle: [] }),
        await store.sweep({ limit: 1 }),
        await store.events({ limit: 1 }),
        await store.events({ after: 'nonsense', limit: 1 }),
        await store.prune({ olderThanMs: 3_600_000, limit: 1 }),
        await store.settings(),
        await store.setSettings({}),
        await store.waitGraph(),
        await store.get([newId()]),
        await store.list({ limit: 1 }),
        await store.show('a', 1),
        await store.info(),
        await store.time(),
      ];
      let last = 0;
      for (const { now, incarnation, settingsVersion } of replies) {
        assert.ok(Number.isSafeInteger(now) && now >= last, 'whole milliseconds that never go back');
        assert.equal(incarnation, replies[0]?.incarnation);
        assert.ok(incarnation.length > 0);
        assert.ok(Number.isSafeInteger(settingsVersion));
        last = now;
      }
    },
  },
  {
    tags: ['S13'],
    title: 'now moves on with time, is one clock for all connections, and never goes back',
    run: async ({ store, anotherClient, passTime }) => {
      const second = await anotherClient();
      const start = (await store.time()).now;
      let last = start;
      for (let i = 0; i < 20; i += 1) {
        for (const one of [store, second.store]) {
          const { now } = await one.time();
          assert.ok(now >= last);
          last = now;
        }
        await passTime(5);
      }
      assert.ok(last - start >= 19 * 5);
      assert.equal((await second.store.time()).incarnation, (await store.time()).incarnation);
    },
  },
  {
    tags: ['S13', 'S3'],
    title: 'a step of the wall clock, forward or back, neither ends nor prolongs a lease',
    needs: { stepsWall: true },
    run: async ({ grant, renew, refuse, stepWall, passTime, shortTtlMs, store }) => {
      const lease = await grant('a');
      const { now: before } = await store.time();
      for (const step of [3_600_000, -7_200_000, 86_400_000]) {
        stepWall(step);
        const { now } = await store.time();
        assert.ok(now >= before && now - before < 10_000, `the clock moved by ${now - before} ms`);
        await refuse('a');
        expectOutcome(await renew(lease), 'renewed');
      }
      const short = await grant({ name: 'b', ttlMs: shortTtlMs });
      stepWall(-3_600_000);
      await passTime(shortTtlMs);
      assert.equal(expectOutcome(await renew(short), 'notHeld').status, 'expired');
    },
  },
  {
    tags: ['S13'],
    title: 'a namespace opened after a step of the wall clock has the same clock as the others',
    needs: { stepsWall: true },
    run: async ({ grant, record, inNamespace, stepWall, store }) => {
      const lease = await grant('a');
      stepWall(3_600_000);
      await inNamespace('opened-later').grant('a');
      assert.equal((await record(lease.id)).status, 'active');
      const [here, there] = [await store.time(), await inNamespace('opened-later').store.time()];
      assert.ok(Math.abs(here.now - there.now) < 10_000, 'one clock per store');
    },
  },
  {
    tags: ['S13', 'S7'],
    title: 'remainingMs is what is left as of the now of the same answer',
    run: async ({ ask, grant, acquire, renew, change, passTime, lastNow }) => {
      const request = await ask('a');
      const lease = await grant(request);
      await passTime(20);
      assert.equal(expectOutcome(await acquire(request), 'granted').remainingMs, lease.expiresAt - lastNow());
      const renewed = expectOutcome(await renew(lease), 'renewed');
      assert.equal(renewed.remainingMs, renewed.expiresAt - lastNow());
      await passTime(20);
      const changed = expectOutcome(await change(lease, { delegate: 'heir' }), 'changed');
      assert.equal(changed.remainingMs, renewed.expiresAt - lastNow());
    },
  },
  {
    tags: ['A8'],
    title: 'info names the kind of store and what it can do',
    run: async ({ store }) => {
      const { kind, capabilities, details } = await store.info();
      assert.equal(kind, store.kind);
      assert.ok(capabilities.minTtlMs >= 100 && capabilities.clockGrainMs >= 1 && capabilities.roundTrips >= 1);
      assert.equal(typeof capabilities.push, 'boolean');
      assert.ok(Array.isArray(capabilities.guards));
      assert.ok(capabilities.durability.length > 0);
      assert.equal(typeof details, 'object');
    },
  },
  {
    tags: ['O4'],
    title: 'migrations: an open store is up to date, and migrating again applies nothing and loses nothing',
    run: async ({ grant, record, store }) => {
      const lease = await grant('a');
      const before = await store.migrate({ dryRun: true });
      assert.deepEqual(before.pending, []);
      for (let i = 0; i < 2; i += 1) assert.deepEqual(await store.migrate({ dryRun: false }), before);
      assert.deepEqual(await record(lease.id), lease);
    },
  },
  {
    tags: ['A9'],
    title: 'a closed store refuses every call as SHUTTING_DOWN, in every namespace, and closes again without harm',
    run: async ({ ask, inNamespace, store }) => {
      const request = await ask('a');
      const other = inNamespace('other');
      await other.store.time();
      await store.close();
      await store.close();
      await expectRejection(store.acquire([request]), 'SHUTTING_DOWN');
      await expectRejection(store.time(), 'SHUTTING_DOWN');
      await expectRejection(other.store.list({ limit: 1 }), 'SHUTTING_DOWN');
    },
  },
];
