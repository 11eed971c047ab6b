// S4: renewal succeeds only for the same id and epoch while live, never revives, never shortens; maxRenewals and maxHold.
import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome } from '../context.js';

export const renewal: readonly ConformanceCase[] = [
  {
    tags: ['S4', 'S2'],
    title: 'a renewal moves expiresAt to now + ttl, counts itself, and keeps id, epoch and acquiredAt',
    run: async ({ grant, renew, passTime, record, lastNow, store }) => {
      const lease = await grant('orders/0');
      const { epoch } = await store.time();
      await passTime(30);
      const renewed = expectOutcome(await renew(lease), 'renewed');
      assert.equal(renewed.expiresAt, lastNow() + lease.ttlMs);
      assert.equal(renewed.remainingMs, lease.ttlMs);
      assert.equal(renewed.renewals, 1);
      const { expiresAt, renewals, renewedAt, skewMs: _, ...rest } = await record(lease.id);
      assert.deepEqual([expiresAt, renewals, renewedAt], [renewed.expiresAt, 1, lastNow()]);
      const { expiresAt: _e, renewals: _r, renewedAt: _a, skewMs: _s, ...before } = lease;
      assert.deepEqual(rest, before);
      assert.equal((await store.time()).epoch, epoch, 'no epoch is drawn');
    },
  },
  {
    tags: ['S4'],
    title: 'a renewal with a shorter ttl never shortens',
    run: async ({ grant, renew }) => {
      const lease = await grant({ name: 'orders/0', ttlMs: 60_000 });
      const renewed = expectOutcome(await renew(lease, { ttlMs: 100 }), 'renewed');
      assert.equal(renewed.expiresAt, lease.expiresAt);
    },
  },
  {
    tags: ['S4'],
    title: 'a renewal with a longer ttl prolongs, and the lease keeps that ttl',
    run: async ({ grant, renew, lastNow }) => {
      const lease = await grant({ name: 'orders/0', ttlMs: 1_000 });
      assert.equal(expectOutcome(await renew(lease, { ttlMs: 50_000 }), 'renewed').expiresAt, lastNow() + 50_000);
      assert.equal(expectOutcome(await renew(lease), 'renewed').expiresAt, lastNow() + 50_000);
    },
  },
  {
    tags: ['S4'],
    title: 'a renewal at or after expiresAt never revives, whether or not the expiry was written down',
    run: async ({ grant, renew, acquire, passTime, shortTtlMs, store }) => {
      const first = await grant({ name: 'a', ttlMs: shortTtlMs });
      const second = await grant({ name: 'b', ttlMs: shortTtlMs });
      await passTime(shortTtlMs);
      assert.equal(expectOutcome(await renew(first), 'notHeld').status, 'expired');
      await store.sweep({ limit: 10 });
      assert.equal(expectOutcome(await renew(second), 'notHeld').status, 'expired');
      assert.equal(expectOutcome(await renew(second), 'notHeld').status, 'expired', 'and says so again');
      expectOutcome(await acquire('a'), 'granted');
      expectOutcome(await acquire('b'), 'granted');
    },
  },
  {
    tags: ['S4', 'S5'],
    title: 'a renewal after release or revocation says so and changes nothing',
    run: async ({ grant, renew, release, revoke, record }) => {
      const released = await grant('a');
      await release(released);
      const revoked = await grant('b');
      await revoke({ leaseId: revoked.id });
      for (const [lease, status] of [
        [released, 'released'],
        [revoked, 'revoked'],
      ] as const) {
        const before = await record(lease.id);
        assert.equal(expectOutcome(await renew(lease), 'notHeld').status, status);
        assert.deepEqual(await record(lease.id), before);
      }
    },
  },
  {
    tags: ['S5'],
    title: 'a renewal with another epoch changes nothing and is told the present one',
    run: async ({ grant, renew, record }) => {
      const lease = await grant('orders/0');
      for (const epoch of [lease.epoch - 1, lease.epoch + 1, 1]) {
        const stale = expectOutcome(await renew({ id: lease.id, epoch }), 'notHeld');
        assert.deepEqual([stale.status, stale.epoch], ['active', lease.epoch]);
      }
      assert.deepEqual(await record(lease.id), lease);
    },
  },
  {
    tags: ['S5'],
    title: 'a repeated renewal counts once and answers again',
    run: async ({ grant, renew, passTime }) => {
      const lease = await grant({ name: 'orders/0', maxRenewals: 1 });
      const first = expectOutcome(await renew(lease, { requestId: 'once' }), 'renewed');
      await passTime(10);
      const again = expectOutcome(await renew(lease, { requestId: 'once' }), 'renewed');
      assert.deepEqual([again.renewals, again.expiresAt], [1, first.expiresAt]);
      expectOutcome(await renew(lease, { requestId: 'twice' }), 'maxRenewals');
    },
  },
  {
    tags: ['A5', 'S4'],
    title: 'maxRenewals stops renewal, the lease lives out what it has',
    run: async ({ grant, renew, record, release }) => {
      const lease = await grant({ name: 'orders/0', maxRenewals: 2 });
      expectOutcome(await renew(lease), 'renewed');
      const last = expectOutcome(await renew(lease), 'renewed');
      const stopped = expectOutcome(await renew(lease), 'maxRenewals');
      assert.ok(stopped.remainingMs > 0 && stopped.remainingMs <= last.remainingMs);
      assert.equal((await record(lease.id)).expiresAt, last.expiresAt);
      expectOutcome(await release(lease), 'released');
      const never = await grant({ name: 'orders/0', maxRenewals: 0 });
      expectOutcome(await renew(never), 'maxRenewals');
    },
  },
  {
    tags: ['A5', 'S4'],
    title: 'maxHold cuts a grant and a renewal at acquiredAt + maxHold, then says maxHold',
    run: async ({ grant, renew, record }) => {
      const cut = await grant({ name: 'a', ttlMs: 60_000, maxHoldMs: 20_000 });
      assert.equal(cut.expiresAt, cut.acquiredAt + 20_000);
      expectOutcome(await renew(cut), 'maxHold');
      const lease = await grant({ name: 'b', ttlMs: 30_000, maxHoldMs: 40_000 });
      const renewed = expectOutcome(await renew(lease, { ttlMs: 100_000 }), 'renewed');
      assert.equal(renewed.expiresAt, lease.acquiredAt + 40_000);
      const stopped = expectOutcome(await renew(lease), 'maxHold');
      assert.ok(stopped.remainingMs <= 40_000);
      assert.equal((await record(lease.id)).expiresAt, lease.acquiredAt + 40_000);
    },
  },
  {
    tags: ['S4', 'S21'],
    title: 'a batch of renewals answers each lease for itself',
    run: async ({ grant, release, wall, newId, store }) => {
      const live = await grant('a');
      const gone = await grant('b');
      await release(gone);
      const ask = (id: string, epoch: number) => ({ id, epoch, requestId: newId(), callerWall: wall() });
      const { results } = await store.renew([ask(gone.id, gone.epoch), ask(live.id, live.epoch), ask(newId(), 3)]);
      assert.deepEqual(
        results.map(({ outcome }) => outcome),
        ['notHeld', 'renewed', 'notHeld'],
      );
    },
  },
  {
    tags: ['S4', 'S5'],
    title: 'a ticket is nothing that can be renewed or delegated',
    run: async ({ grant, queue, renew, change, record }) => {
      await grant('orders/0');
      const { id } = await queue('orders/0');
      const before = await record(id);
      assert.equal(expectOutcome(await renew({ id, epoch: 1 }), 'notHeld').status, 'pending');
      assert.equal(expectOutcome(await change({ id, epoch: 1 }, { delegate: 'heir' }), 'notHeld').status, 'pending');
      assert.deepEqual(await record(id), before);
    },
  },
  {
    tags: ['S4', 'Q1'],
    title: 'waiters do not keep a holder from renewing',
    run: async ({ grant, queue, renew }) => {
      const lease = await grant('orders/0');
      await queue('orders/0');
      expectOutcome(await renew(lease), 'renewed');
    },
  },
];
