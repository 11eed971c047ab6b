// Q5: from shared to exclusive and back. The shared lease stays, renewed, while its upgrade waits; refused, cancelled or
// timed out, it is what it was before.
import { describe, expect, test } from 'vitest';
import { managerSite, watched } from '../../test/support/manager-site.js';

const SHARED = { mode: 'shared', ttl: '10s' } as const;

describe('Q5: upgrade', () => {
  test('alone: at once, in one call, the same lease with a new epoch', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', SHARED);
    const { id, epoch } = lease;
    site.store.forgetCalls();
    await lease.upgrade();
    expect(site.store.calls.map(({ call }) => call)).toEqual(['acquire']);
    expect(lease.id).toBe(id);
    expect(lease.epoch).toBeGreaterThan(epoch);
    expect([lease.parts[0]?.mode, lease.isHeld]).toEqual(['exclusive', true]);
    expect(site.types()).toEqual(['lease.acquired', 'lease.upgraded']);
    await site.pass(30_000);
    expect([lease.isHeld, site.types().filter((type) => type === 'lease.renewal_failed')]).toEqual([true, []]);
    expect(await lease.release()).toMatchObject({ outcome: 'released' });
    expect(await site.live()).toEqual([]);
  });

  test('waits for the others, renewed meanwhile; who comes later queues behind it', async () => {
    const site = await managerSite();
    const [mine, theirs] = [
      await site.leases.acquire('x', SHARED),
      await site.leases.acquire('x', { ...SHARED, owner: 'bob' }),
    ];
    const upgrade = watched(mine.upgrade({ wait: '60s' }));
    await site.pass(25_000);
    expect([upgrade.now().state, mine.isHeld, mine.parts[0]?.mode]).toEqual(['open', true, 'shared']);
    expect(await site.leases.tryAcquire('x', SHARED)).toMatchObject({ ok: false, refusal: { reason: 'queue' } });
    await theirs.release();
    await site.pass(0);
    expect([upgrade.now().state, mine.parts[0]?.mode, mine.isHeld]).toEqual(['done', 'exclusive', true]);
  });

  test('a renewal that was on its way when it was granted is no failure', async () => {
    const site = await managerSite();
    const [mine, theirs] = [
      await site.leases.acquire('x', SHARED),
      await site.leases.acquire('x', { ...SHARED, owner: 'bob', renew: 'manual', ttl: '60s' }),
    ];
    const upgrade = watched(mine.upgrade({ wait: '60s' }));
    await site.pass(100);
    site.store.order({ calls: 'renew', requestMs: 300 });
    await site.pass(6_000 - 100);
    expect(site.store.count('renew')).toBe(1);
    await theirs.release();
    await site.pass(20_000);
    expect([upgrade.now().state, mine.isHeld]).toEqual(['done', true]);
    expect(site.types()).not.toContain('lease.renewal_failed');
    expect(site.types()).not.toContain('lease.lost');
  });

  test('of an exclusive lease, or beside another upgrade of the same handle, is refused in words', async () => {
    const site = await managerSite();
    const exclusive = await site.leases.acquire('e');
    await expect(exclusive.upgrade()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    const mine = await site.leases.acquire('x', SHARED);
    await site.leases.acquire('x', { ...SHARED, owner: 'bob' });
    const first = watched(mine.upgrade({ wait: '10s' }));
    await site.pass(10);
    await expect(mine.upgrade()).rejects.toThrow(/under way/);
    await expect(mine.downgrade()).rejects.toThrow(/under way/);
    await expect(mine.delegate('bob')).rejects.toThrow(/under way/);
    await expect(mine.upgrade({ wait: -1 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect([first.now().state, mine.isHeld]).toEqual(['open', true]);
  });

  test('two of one handle in one tick: the second is refused, and the first loses nothing by it', async () => {
    const site = await managerSite();
    const mine = await site.leases.acquire('x', SHARED);
    const theirs = await site.leases.acquire('x', { ...SHARED, owner: 'bob' });
    const [first, second] = [watched(mine.upgrade({ wait: '60s' })), watched(mine.upgrade({ wait: '60s' }))];
    await site.pass(100);
    expect([first.now().state, String(second.now().error)]).toEqual(['open', expect.stringMatching(/under way/)]);
    site.store.order({ calls: 'acquire', replyMs: 900 });
    await theirs.release();
    await site.pass(100);
    await expect(mine.renew()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' }); // it meets the new epoch first
    await site.pass(1_000);
    expect([first.now().state, mine.isHeld, mine.parts[0]?.mode]).toEqual(['done', true, 'exclusive']);
  });

  test('that was refused may be tried again at once, and so may what else an upgrade keeps out', async () => {
    const site = await managerSite();
    const mine = await site.leases.acquire('x', SHARED);
    const theirs = await site.leases.acquire('x', { ...SHARED, owner: 'bob' });
    site.store.order({ calls: 'end', requestMs: 50, times: 3 });
    const tries = watched(
      (async () => {
        for (let i = 0; i < 3; i += 1) {
          await expect(mine.upgrade({ wait: 0 })).rejects.toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
        }
        await mine.downgrade().catch(() => undefined);
        return mine.delegate('carol');
      })(),
    );
    await site.pass(1_000);
    expect([tries.now().state, theirs.isHeld]).toEqual(['done', true]);
  });

  test('Q4: a second upgrade of one resource is refused in the step that makes it, with the cycle', async () => {
    const site = await managerSite();
    const bob = await site.join({ owner: 'bob' });
    const [mine, theirs] = [await site.leases.acquire('x', SHARED), await bob.leases.acquire('x', SHARED)];
    const first = watched(mine.upgrade({ wait: '60s' }));
    await site.pass(10);
    await expect(theirs.upgrade({ wait: '60s' })).rejects.toMatchObject({
      code: 'DEADLOCK',
      details: { cycle: { length: 2 } },
    });
    expect([theirs.isHeld, bob.types()]).toEqual([true, ['lease.acquired', 'deadlock.detected']]);
    await theirs.release();
    await site.pass(0);
    expect(first.now().state).toBe('done');
  });

  test('with wait 0 it is one attempt', async () => {
    const site = await managerSite();
    const mine = await site.leases.acquire('x', SHARED);
    await site.leases.acquire('x', { ...SHARED, owner: 'bob' });
    await expect(mine.upgrade({ wait: 0 })).rejects.toMatchObject({
      code: 'ACQUIRE_TIMEOUT',
      details: { refusal: { reason: 'held' } },
    });
    await site.pass(20_000);
    expect([mine.isHeld, (await site.live('pending')).length]).toEqual([true, 0]);
    await site.leases.acquire('x', { ...SHARED, owner: 'carol', wait: 0 });
  });

  test('O4: blocking_mode_enabled off is wait 0; the default wait is the setting’s', async () => {
    const site = await managerSite();
    const mine = await site.leases.acquire('x', { ...SHARED, ttl: '60s' });
    await site.leases.acquire('x', { ...SHARED, ttl: '60s', owner: 'bob' });
    await site.leases.config.set('acquisition_timeout_ms', 2_000);
    const upgrade = watched(mine.upgrade());
    await site.pass(1_990);
    expect(upgrade.now().state).toBe('open');
    await site.pass(10);
    expect(upgrade.now().error).toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    await site.leases.config.set('blocking_mode_enabled', false);
    await expect(mine.upgrade({ wait: '10s' })).rejects.toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
  });

  test('of a lease that is lost or let go: its loss is the answer', async () => {
    const site = await managerSite();
    const mine = await site.leases.acquire('x', SHARED);
    await mine.release();
    await expect(mine.upgrade()).rejects.toMatchObject({ code: 'NOT_HELD' });
    const lost = await site.leases.acquire('y', SHARED);
    await site.leases.acquire('y', { ...SHARED, owner: 'bob' });
    const upgrade = watched(lost.upgrade({ wait: '60s' }));
    await site.pass(10);
    await site.truth.revoke({
      target: { leaseId: lost.id },
      reason: 'r',
      actor: 'a',
      keepOutMs: 0,
      upToEpoch: lost.epoch,
    });
    await site.pass(4_000);
    expect(upgrade.now().error).toMatchObject({ code: 'LEASE_LOST' });
    await site.pass(3_000);
    expect(lost.isHeld).toBe(false);
  });
});

describe('Q5: cancelled or not in time', () => {
  test.each([
    ['cancelled', 500],
    ['timed out', 2_000],
  ])('%s while it waits: the ticket leaves, the shared lease stays as it was', async (how, afterMs) => {
    const site = await managerSite();
    const mine = await site.leases.acquire('x', SHARED);
    const { epoch } = mine;
    await site.leases.acquire('x', { ...SHARED, owner: 'bob' });
    const controller = new AbortController();
    const upgrade = watched(mine.upgrade({ wait: '2s', signal: controller.signal }));
    await site.pass(500);
    if (how === 'cancelled') controller.abort();
    await site.pass(afterMs);
    const code = how === 'cancelled' ? 'ACQUIRE_ABORTED' : 'ACQUIRE_TIMEOUT';
    expect(upgrade.now().error).toMatchObject({ code });
    expect(await site.live('pending')).toEqual([]);
    await site.pass(20_000);
    expect([mine.isHeld, mine.epoch, mine.parts[0]?.mode]).toEqual([true, epoch, 'shared']);
    await site.leases.acquire('x', { ...SHARED, owner: 'carol', wait: 0 });
  });

  test('S9: cancelled before the call and right after it: nothing is sent', async () => {
    const site = await managerSite();
    const mine = await site.leases.acquire('x', SHARED);
    site.store.forgetCalls();
    await expect(mine.upgrade({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'ACQUIRE_ABORTED' });
    const controller = new AbortController();
    const upgrade = watched(mine.upgrade({ signal: controller.signal }));
    controller.abort();
    await site.pass(0);
    expect(upgrade.now().error).toMatchObject({ code: 'ACQUIRE_ABORTED' });
    expect([site.store.count('acquire'), mine.isHeld]).toEqual([0, true]);
  });
});

describe('Q5: downgrade', () => {
  test('keeps id and epoch, never waits, and wakes', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x');
    const { id, epoch } = lease;
    const reader = watched(site.leases.acquire('x', { ...SHARED, owner: 'bob' }));
    await site.pass(10);
    await lease.downgrade();
    await site.pass(0);
    expect(reader.now().state).toBe('done');
    expect([lease.id, lease.epoch, lease.parts[0]?.mode, lease.isHeld]).toEqual([id, epoch, 'shared', true]);
    expect(site.types().filter((type) => type === 'lease.downgraded')).toHaveLength(1);
  });

  test('S15: repeated under one request id while its answer is unknown', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: '10s' });
    site.store.order({ fault: 'loseReply', calls: 'change' }).order({ fault: 'fail', calls: 'change' });
    const downgrade = watched(lease.downgrade());
    await site.pass(1_700);
    expect([downgrade.now().state, lease.parts[0]?.mode]).toEqual(['done', 'shared']);
    const ids = site.store.calls.filter(({ call }) => call === 'change').flatMap(({ asked }) => asked);
    expect(ids).toHaveLength(3);
    expect(new Set(ids.map((one) => (one as { requestId: string }).requestId)).size).toBe(1);
    const rows = await site.truth.events({ limit: 10, type: 'lease.downgraded' });
    expect(rows).toMatchObject({ rows: { length: 1 } });
  });

  test('of a lease the store no longer has: lost at once', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: '10s' });
    const order = { target: { leaseId: lease.id }, reason: 'r', actor: 'a', keepOutMs: 0, upToEpoch: lease.epoch };
    await site.truth.revoke(order);
    await expect(lease.downgrade()).rejects.toMatchObject({ code: 'LEASE_LOST', details: { how: 'revoked' } });
    expect(lease.signal.aborted).toBe(true);
  });

  test('with the store away until the deadline: the error, and the lease is lost by its deadline', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: '10s' });
    site.store.order({ fault: 'fail', times: Infinity });
    const downgrade = watched(lease.downgrade());
    await site.pass(9_000);
    expect(downgrade.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST' });
  });
});
