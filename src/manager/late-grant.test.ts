// Grants that come late: too late to be trusted, or by an earlier copy of a question that was asked again (S7, S15).
import { describe, expect, test } from 'vitest';
import { asked, managerSite, watched, type ManagerSite, type Watched } from '../../test/support/manager-site.js';
import type { HeldLease } from './face.js';

describe('S7: a grant that comes too late', () => {
  test('is released, counts as not acquired, and the request is begun anew', async () => {
    const site = await managerSite({ requestTimeout: '5s' });
    site.store.order({ calls: 'acquire', replyMs: 950 });
    const lease = watched(site.leases.acquire('x', { ttl: '1s', renew: 'manual' }));
    await site.pass(949);
    expect(lease.now().state).toBe('open');
    await site.pass(1);
    expect(lease.now().value?.isHeld).toBe(true);
    const [late, fresh] = asked(site);
    expect(late?.id).not.toBe(fresh?.id);
    expect((await site.truth.get([late?.id ?? ''])).items[0]?.status).toMatch(/released|expired/);
    expect(await site.live()).toHaveLength(1);
  });

  test('time and again, without a wait: an error in bounded time, and nothing left in the store', async () => {
    const site = await managerSite({ requestTimeout: '5s' });
    site.store.order({ calls: 'acquire', replyMs: 950, times: Infinity });
    const lease = watched(site.leases.tryAcquire('x', { ttl: '1s', renew: 'manual' }));
    await site.pass(4_000);
    expect(lease.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await site.pass(0);
    expect(await site.live()).toEqual([]);
  });
});

describe('S7, S15: a grant by an earlier copy of the question', () => {
  const delayed = async (requestMs: number): Promise<{ site: ManagerSite; lease: { now(): Watched<HeldLease> } }> => {
    const site = await managerSite();
    site.store.order({ calls: 'acquire', requestMs });
    site.store.order({ fault: 'loseRequest', calls: 'acquire', times: 3 });
    const lease = watched(site.leases.acquire('x', { ttl: '1s' }));
    await site.pass(requestMs);
    await site.pass(0);
    return { site, lease };
  };

  test('with little left by its own time is asked about again, under the same id', async () => {
    const { site, lease } = await delayed(850);
    expect(lease.now().value?.remainingMs()).toBeGreaterThan(800);
    expect(site.store.count('renew')).toBe(0); // it would be lost if that took longer than the little that was left
    expect(new Set(asked(site).map(({ id }) => id)).size).toBe(1);
    await site.pass(3_000);
    expect(lease.now().value?.isHeld).toBe(true);
  });

  test('too late by its own time is not given up either', async () => {
    const { site, lease } = await delayed(920);
    expect([lease.now().value?.isHeld, await site.live()]).toMatchObject([true, { length: 1 }]);
    expect(new Set(asked(site).map(({ id }) => id)).size).toBe(1);
  });

  test('with enough left is taken as it is', async () => {
    const { site, lease } = await delayed(300);
    expect(lease.now().value?.remainingMs()).toBeLessThan(700);
    expect(site.store.count('acquire')).toBe(2);
  });

  test.each([
    [250, 110],
    [1_000, 420],
    [1_000, 750],
  ])('a ttl of %i ms over a way of %i ms is granted all the same', async (ttl, roundTripMs) => {
    const site = await managerSite();
    site.store.order({ calls: 'acquire', replyMs: roundTripMs, times: Infinity });
    const lease = watched(site.leases.acquire('x', { ttl, wait: '5s', renew: 'manual' }));
    let gotIt = false;
    for (let i = 0; i < 250 && !gotIt; i += 1) {
      await site.pass(20);
      gotIt = lease.now().value?.isHeld === true;
    }
    expect([gotIt, lease.now().error]).toEqual([true, undefined]);
  });

  test('and kept for when the wait is over', async () => {
    const site = await managerSite();
    site.store.order({ calls: 'acquire', requestMs: 0, replyMs: 790 });
    site.store.order({ fault: 'loseRequest', calls: 'acquire', times: Infinity });
    const lease = watched(site.leases.acquire('x', { ttl: '1s', wait: 800, renew: 'manual' }));
    await site.pass(801);
    expect(lease.now().value?.isHeld).toBe(true);
  });
});
