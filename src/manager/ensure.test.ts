// ensure (A3): the handle already held, without a store call; else one acquire, shared by all who ask meanwhile.
import { describe, expect, test } from 'vitest';
import { managerSite, watched, type ManagerSite } from '../../test/support/manager-site.js';
import type { HeldLease } from './face.js';

describe('A3: ensure', () => {
  test('S20: on a held lease it makes no call', async () => {
    const site = await managerSite();
    const lease = await site.leases.ensure('x');
    site.store.forgetCalls();
    for (let i = 0; i < 100; i += 1) expect(await site.leases.ensure('x')).toBe(lease);
    expect(site.store.count()).toBe(0);
    const acquired = await site.leases.acquire('y');
    expect(await site.leases.ensure('y')).toBe(acquired);
  });

  test('S21: who asks at the same time shares one acquire', async () => {
    const site = await managerSite();
    site.store.order({ calls: 'acquire', replyMs: 50 });
    const asked = Promise.all(Array.from({ length: 20 }, () => site.leases.ensure('x')));
    await site.pass(50);
    expect(new Set(await asked).size).toBe(1);
    expect(site.store.count('acquire')).toBe(1);
  });

  test('it does not wait unless told to', async () => {
    const site = await managerSite();
    const other = await site.join({ owner: 'bob' });
    const theirs = await other.leases.acquire('x');
    await expect(site.leases.ensure('x')).rejects.toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    await expect(site.leases.ensure('x', { wait: undefined as never })).rejects.toThrow(/is not free/);
    const waiting = watched(site.leases.ensure('x', { wait: '10s' }));
    await site.pass(100);
    await theirs.release();
    await site.pass(0);
    expect(waiting.now().value?.isHeld).toBe(true);
  });

  test('a failure is told to all who shared it, and the next one asks anew', async () => {
    const site = await managerSite();
    const other = await site.join({ owner: 'bob' });
    const theirs = await other.leases.acquire('x');
    const failed = await Promise.allSettled([site.leases.ensure('x'), site.leases.ensure('x')]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(site.store.count('acquire')).toBe(1);
    await theirs.release();
    expect((await site.leases.ensure('x')).isHeld).toBe(true);
  });

  test('S9: one of them who cancels cancels nobody else', async () => {
    const site = await managerSite();
    const other = await site.join({ owner: 'bob' });
    const theirs = await other.leases.acquire('x');
    const controller = new AbortController();
    const first = watched(site.leases.ensure('x', { wait: '10s', signal: controller.signal }));
    const second = watched(site.leases.ensure('x', { wait: '10s' }));
    await site.pass(100);
    controller.abort();
    await site.pass(100);
    expect([first.now().state, second.now().state]).toEqual(['failed', 'open']);
    await theirs.release();
    await site.pass(0);
    expect(second.now().value?.isHeld).toBe(true);
    expect(await site.live()).toHaveLength(1);
  });

  describe('A1, A3: who shares an acquire keeps to its own terms', () => {
    async function behindBob(): Promise<{ site: ManagerSite; theirs: HeldLease }> {
      const site = await managerSite();
      const other = await site.join({ owner: 'bob' });
      return { site, theirs: await other.leases.acquire('x') };
    }

    test('who does not want to wait is told at once, and who waits goes on', async () => {
      const { site, theirs } = await behindBob();
      const patient = watched(site.leases.ensure('x', { wait: '10s' }));
      await site.pass(10);
      const hasty = watched(site.leases.ensure('x'));
      await site.pass(10);
      expect([patient.now().state, hasty.now().error]).toMatchObject(['open', { code: 'ACQUIRE_TIMEOUT' }]);
      await theirs.release();
      await site.pass(10);
      expect(patient.now().value?.isHeld).toBe(true);
    });

    test('whose wait is over first is told so, with who is in the way', async () => {
      const { site } = await behindBob();
      const patient = watched(site.leases.ensure('x', { wait: '10s' }));
      const shorter = watched(site.leases.ensure('x', { wait: '2s' }));
      await site.pass(1_990);
      expect(shorter.now().state).toBe('open');
      await site.pass(20);
      expect(shorter.now().error).toMatchObject({
        code: 'ACQUIRE_TIMEOUT',
        details: { refusal: { holders: [{ owner: 'bob' }] } },
      });
      expect(patient.now().state).toBe('open');
    });

    test('who waits longer asks again for what is left', async () => {
      const { site, theirs } = await behindBob();
      const shorter = watched(site.leases.ensure('x', { wait: '2s' }));
      const [longer, tooShort] = ['10s', '4s'].map((wait) => watched(site.leases.ensure('x', { wait })));
      await site.pass(2_010);
      expect([shorter.now().error, longer?.now().state]).toMatchObject([{ code: 'ACQUIRE_TIMEOUT' }, 'open']);
      await site.pass(2_000);
      expect([tooShort?.now().error, longer?.now().state]).toMatchObject([{ code: 'ACQUIRE_TIMEOUT' }, 'open']);
      await theirs.release();
      await site.pass(10);
      expect(longer?.now().value?.isHeld).toBe(true);
      expect(await site.live()).toHaveLength(1);
    });

    test('S9: whose signal aborts leaves alone, at once', async () => {
      const { site, theirs } = await behindBob();
      const first = watched(site.leases.ensure('x', { wait: '10s' }));
      const controller = new AbortController();
      const second = watched(site.leases.ensure('x', { wait: '10s', signal: controller.signal }));
      await site.pass(100);
      controller.abort();
      await site.pass(0);
      expect([first.now().state, second.now().error]).toMatchObject(['open', { code: 'ACQUIRE_ABORTED' }]);
      await expect(site.leases.ensure('x', { signal: controller.signal })).rejects.toMatchObject({
        code: 'ACQUIRE_ABORTED',
      });
      await theirs.release();
      await site.pass(10);
      expect(first.now().value?.isHeld).toBe(true);
    });

    test('who does not want to wait is not refused because of who does: it is the same lease', async () => {
      const site = await managerSite();
      site.store.order({ calls: 'acquire', replyMs: 20, times: Infinity });
      const patient = watched(site.leases.ensure('x', { wait: '5s' }));
      const hasty = watched(site.leases.ensure('x'));
      await site.pass(100);
      expect(patient.now().value?.isHeld).toBe(true);
      expect(hasty.now().value).toBe(patient.now().value);
    });

    test('nor is who waits because of who does not', async () => {
      const site = await managerSite();
      site.store.order({ fault: 'loseRequest', calls: 'acquire' });
      const patient = watched(site.leases.ensure('x', { wait: '20s' }));
      const hasty = watched(site.leases.ensure('x'));
      await site.pass(21_000);
      expect(hasty.now().value?.isHeld).toBe(true);
      expect(patient.now().value).toBe(hasty.now().value);
    });

    test('S20: all who do not want to wait share one look', async () => {
      const { site } = await behindBob();
      const patient = watched(site.leases.ensure('x', { wait: '10s' }));
      await site.pass(10);
      site.store.forgetCalls();
      const hasty = await Promise.allSettled(Array.from({ length: 50 }, () => site.leases.ensure('x')));
      expect(new Set(hasty.map(({ status }) => status))).toEqual(new Set(['rejected']));
      const items = site.store.calls.flatMap(({ asked }) => asked);
      expect([items.length, patient.now().state]).toEqual([1, 'open']);
    });

    test('what is wrong with the options of one is not told to another', async () => {
      const site = await managerSite();
      const [bad, good] = await Promise.allSettled([site.leases.ensure('x', { ttl: 5 }), site.leases.ensure('x')]);
      expect([bad, good]).toMatchObject([{ reason: { code: 'INVALID_ARGUMENT' } }, { status: 'fulfilled' }]);
    });

    test('a lease that is let go before others hear of it is not their answer', async () => {
      const site = await managerSite();
      const first = site.leases.ensure('x', { wait: '5s' }).then((lease) => lease.release());
      const second = watched(site.leases.ensure('x', { wait: '5s' }));
      await first;
      await site.pass(10);
      expect(second.now().value?.isHeld).toBe(true);
    });

    test('a lease of another owner is not the answer', async () => {
      const site = await managerSite();
      const lease = await site.leases.ensure('x', { owner: 'carol' });
      expect(await site.leases.ensure('x', { owner: 'carol' })).toBe(lease);
      await expect(site.leases.ensure('x', { owner: 'dave' })).rejects.toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    });
  });

  test('a lost, released or doubted lease is not the answer', async () => {
    const site = await managerSite();
    const lost = await site.leases.ensure('x', { ttl: '2s', renew: 'manual' });
    await site.pass(2_000);
    const again = await site.leases.ensure('x');
    expect(again).not.toBe(lost);
    await again.release();
    const third = await site.leases.ensure('x');
    expect([third === again, third.isHeld]).toEqual([false, true]);
  });

  test('another mode, scope or limit is another lease', async () => {
    const site = await managerSite();
    const shared = await site.leases.ensure('x', { mode: 'shared', limit: 3 });
    expect(await site.leases.ensure('x', { mode: 'shared', limit: 3 })).toBe(shared);
    await expect(site.leases.ensure('x')).rejects.toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    const other = await site.leases.ensure('x', { mode: 'shared' });
    expect(other).not.toBe(shared);
    await expect(site.leases.ensure('x', { scope: 'subtree', wait: 0 })).rejects.toThrow(/is not free/);
    await expect(site.leases.ensure('x', { mode: 'both' as never })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
  });

  test('of several shared leases of one name any that is still held is the answer', async () => {
    const site = await managerSite();
    const [older, newer] = [
      await site.leases.acquire('x', { mode: 'shared' }),
      await site.leases.acquire('x', { mode: 'shared' }),
    ];
    await newer.release();
    site.store.forgetCalls();
    expect(await site.leases.ensure('x', { mode: 'shared' })).toBe(older);
    await older.upgrade();
    expect(await site.leases.ensure('x')).toBe(older);
    expect(site.store.count('acquire')).toBe(1); // the upgrade
  });

  test('a lease of several names is not the lease of one of them', async () => {
    const site = await managerSite();
    await site.leases.acquire(['a', 'b']);
    await expect(site.leases.ensure('a')).rejects.toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
  });
});
