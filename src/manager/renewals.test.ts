// Renewal while all is well: when it leaves, how many calls it takes, and where it stops.
import { describe, expect, test } from 'vitest';
import { managerSite, watched, type ManagerSite } from '../../test/support/manager-site.js';
import type { RenewRequest } from '../domain/requests.js';

async function renewalTimes(site: ManagerSite, forMs: number): Promise<number[]> {
  const start = site.clock.monotonic();
  await site.pass(forMs);
  return site.store.calls.filter(({ call }) => call === 'renew').map(({ at }) => at - start);
}

describe('A5: when', () => {
  test('due at renewAt of the ttl, up to a tenth of the ttl (at most 1 s) earlier, again after each answer', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: '30s' });
    const times = await renewalTimes(site, 90_000);
    expect(times).toHaveLength(5);
    let last = 0;
    for (const at of times) {
      expect(at - last).toBeGreaterThanOrEqual(17_000);
      expect(at - last).toBeLessThanOrEqual(18_000);
      last = at;
    }
    expect(lease.isHeld).toBe(true);
  });

  test.each([
    [0.3, '2s', 400, 600],
    [0.5, '2s', 800, 1_000],
    [0.6, '250ms', 125, 150],
  ])('renewAt %d of %s', async (renewAt, ttl, from, to) => {
    const site = await managerSite({ renewAt });
    await site.leases.acquire('x', { ttl });
    const [first] = await renewalTimes(site, to);
    expect(first).toBeGreaterThanOrEqual(from);
    expect(first).toBeLessThanOrEqual(to);
  });

  test('jitter spreads what is taken one after the other, and differs from seed to seed', async () => {
    const firsts = new Set<number>();
    for (let seed = 1; seed <= 8; seed += 1) {
      const site = await managerSite({}, seed);
      await site.leases.acquire('x');
      firsts.add(Math.round((await renewalTimes(site, 18_000))[0] ?? 0));
    }
    expect(firsts.size).toBeGreaterThan(4);
  });

  test('A6: a manual lease is renewed by its holder alone; an abandoned one by nobody', async () => {
    const site = await managerSite();
    await site.leases.acquire('manual', { ttl: '10s', renew: 'manual' });
    const abandoned = await site.leases.acquire('abandoned', { ttl: '10s' });
    abandoned.abandon();
    expect(abandoned.isHeld).toBe(true);
    expect(await renewalTimes(site, 12_000)).toEqual([]);
    expect(abandoned.signal.reason).toMatchObject({ code: 'LEASE_LOST', details: { cause: 'abandoned' } });
    expect(site.leases.held()).toEqual([]);
  });

  test('A4: without progress renewal stops and the lease is let lapse; with it the lease lives on', async () => {
    const site = await managerSite();
    const [hung, busy] = [
      await site.leases.acquire('hung', { ttl: '10s', progressWithin: '4s' }),
      await site.leases.acquire('busy', { ttl: '10s', progressWithin: '4s' }),
    ];
    for (let i = 0; i < 12; i += 1) {
      await site.pass(2_000);
      busy.progress();
    }
    expect([hung.isHeld, busy.isHeld]).toEqual([false, true]);
    expect(hung.signal.reason).toMatchObject({ code: 'LEASE_LOST', details: { cause: 'no_progress' } });
    await site.leases.acquire('hung', { wait: 0 });
  });

  test('A4: progress told late, but before the deadline, renews at once', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: '10s', progressWithin: '2s' });
    await site.pass(8_000);
    expect(site.store.count('renew')).toBe(0);
    lease.progress();
    await site.pass(10);
    expect([site.store.count('renew'), lease.remainingMs() > 8_900]).toEqual([1, true]);
  });
});

describe('S18, S21: how many calls', () => {
  test.each([1, 256, 257, 600])('%d leases due together are renewed in no more calls than needed', async (count) => {
    const site = await managerSite();
    await Promise.all(Array.from({ length: count }, (_, i) => site.leases.acquire(`x/${i}`)));
    site.store.forgetCalls();
    await site.pass(18_000);
    expect(site.store.count()).toBe(Math.ceil(count / 256));
    expect(site.store.count('renew')).toBe(Math.ceil(count / 256));
    await site.pass(18_000);
    expect(site.store.count('renew')).toBe(2 * Math.ceil(count / 256));
  });

  test('what is taken a little later goes along, and stays together from then on', async () => {
    const site = await managerSite();
    for (let i = 0; i < 5; i += 1) {
      await site.leases.acquire(`x/${i}`);
      await site.pass(90);
    }
    site.store.forgetCalls();
    await site.pass(90_000);
    expect(site.store.count('renew')).toBe(5);
    expect(site.store.calls.every(({ asked }) => asked.length === 5)).toBe(true);
  });

  test('one that is not due is not renewed for another’s sake', async () => {
    const site = await managerSite();
    await site.leases.acquire('early', { ttl: '2s' });
    const late = await site.leases.acquire('late', { ttl: '60s' });
    await site.pass(5_000);
    const asked = site.store.calls.filter(({ call }) => call === 'renew').flatMap((one) => one.asked as RenewRequest[]);
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.some(({ id }) => id === late.id)).toBe(false);
  });

  test('S12: nothing is renewed that was let go, and no timer is left for it', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x');
    await lease.release();
    site.store.forgetCalls();
    await site.pass(60_000);
    expect([site.store.count(), site.clock.pendingTimers]).toEqual([0, 0]);
  });
});

describe('A5, S18: a ttl that was made shorter behind the back of the hold', () => {
  test.each(['10s', '1s'])(
    'A5, S18: by id, to %s: renewed at its own pace, for the ttl it was taken with',
    async (ttl) => {
      const site = await managerSite();
      const lease = await site.leases.acquire('x', { ttl: '30s' });
      await site.leases.renew([{ id: lease.id, epoch: lease.epoch, ttl }]);
      site.store.forgetCalls();
      site.store.order({ calls: 'renew', replyMs: 20, times: Infinity });
      const times = await renewalTimes(site, 90_000);
      expect([times.length, lease.isHeld, lease.signal.aborted]).toEqual([5, true, false]);
      expect((await site.live())[0]?.ttlMs).toBe(30_000);
    },
  );

  test.each([
    [10_000, 60_000],
    [30_000, 7_200_000],
    [30_000, 14_400_000],
  ])('A5, S14: %d ms, made %d by id: renewed in time for two attempts before the deadline', async (ttl, longer) => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl });
    await site.leases.renew([{ id: lease.id, epoch: lease.epoch, ttl: longer }]);
    await site.pass(ttl); // its own renewal hears how much there is
    expect(lease.remainingMs()).toBeGreaterThan(longer - ttl - 20_000);
    await site.clock.advance(lease.remainingMs() - ttl);
    site.store.order({ fault: 'loseRequest', calls: 'renew' });
    await site.pass(ttl + 1_000);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
  });

  test('A5: by hand, to less than a sixth of what is left: renewed before it is lost', async () => {
    const site = await managerSite({ requestTimeout: '1s' });
    const lease = await site.leases.acquire('x', { ttl: '60s' });
    await lease.renew('10s');
    site.store.forgetCalls();
    await site.pass(120_000);
    expect(lease.isHeld).toBe(true);
    expect(site.store.count('renew')).toBeGreaterThan(1);
  });

  test.each(['loseReply', 'loseRequest'] as const)(
    'A5, S18: by hand, with a %s: what was asked for last holds for both',
    async (fault) => {
      const ttlMs = 10_000;
      const site = await managerSite({ requestTimeout: '1s' });
      const lease = await site.leases.acquire('x', { ttl: '30s' });
      site.store.order({ fault, calls: 'renew' });
      const asked = watched(lease.renew(ttlMs));
      await site.pass(1_500);
      expect(asked.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
      site.store.order({ calls: 'renew', replyMs: 20, times: Infinity });
      await site.pass(20_000);
      site.store.forgetCalls();
      const times = await renewalTimes(site, 60_000);
      expect(times.length).toBeGreaterThanOrEqual(9);
      expect(times.length).toBeLessThanOrEqual(13); // every 5 to 6 s
      expect([lease.isHeld, lease.toJSON().ttlMs, (await site.live())[0]?.ttlMs]).toEqual([true, ttlMs, ttlMs]);
    },
  );

  test('A5: a renewal that leaves while one by hand is on its way does not undo it', async () => {
    const site = await managerSite({ requestTimeout: '1s' });
    const lease = await site.leases.acquire('x', { ttl: '30s' });
    await site.pass(17_200);
    site.store.order({ calls: 'renew', replyMs: 900 });
    site.store.order({ calls: 'renew', replyMs: 20, times: Infinity });
    const asked = watched(lease.renew('10s'));
    await site.pass(2_000);
    expect([asked.now().state, site.store.count('renew')]).toEqual(['done', 2]);
    expect([lease.toJSON().ttlMs, (await site.live())[0]?.ttlMs]).toEqual([10_000, 10_000]);
  });
});

describe('A5: bounds', () => {
  test('at maxRenewals renewal stops, and the signal aborts at the deadline with that code', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: '10s', maxRenewals: 2 });
    await site.pass(20_000);
    expect(lease.isHeld).toBe(true);
    expect(site.types().filter((type) => type === 'lease.renewal_failed')).toHaveLength(1);
    const calls = site.store.count('renew');
    expect(calls).toBe(3);
    await site.pass(5_000);
    expect(lease.signal.reason).toMatchObject({ code: 'MAX_RENEWALS', details: { how: 'expired' } });
    expect(site.store.count('renew')).toBe(calls);
    expect(site.types().at(-1)).toBe('lease.lost');
  });

  test('at maxHold too, and never a moment longer than maxHold', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: '10s', maxHold: '15s' });
    await site.pass(14_999 - 1_005);
    expect(lease.isHeld).toBe(true);
    await site.pass(10);
    expect(lease.signal.reason).toMatchObject({ code: 'MAX_HOLD' });
    await site.pass(1_100);
    expect(await site.live()).toEqual([]);
  });

  test('maxRenewals 0 is no renewal at all', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: '10s', maxRenewals: 0 });
    await site.pass(9_000);
    expect(lease.signal.reason).toMatchObject({ code: 'MAX_RENEWALS' });
  });

  test('O4: max_renewals of the settings is the default', async () => {
    const site = await managerSite();
    await site.leases.config.set('max_renewals', 0);
    const lease = await site.leases.acquire('x', { ttl: '10s' });
    expect(lease.toJSON().maxRenewals).toBe(0);
  });
});

test('S14: a downgrade, which prolongs nothing, does not move the point of renewal', async () => {
  const site = await managerSite();
  const lease = await site.leases.acquire('x', { ttl: '30s' });
  await site.pass(16_000);
  await lease.downgrade();
  expect(site.store.count('renew')).toBe(0);
  await site.pass(2_000);
  expect(site.store.count('renew')).toBe(1);
});

test('H2: each renewal is announced once, with how long it lasts now', async () => {
  const site = await managerSite();
  await site.leases.acquire('x', { ttl: '2s' });
  await site.pass(3_000);
  const renewed = site.events.filter(({ type }) => type === 'lease.renewed');
  expect(renewed).toHaveLength(site.store.count('renew'));
  expect(renewed[0]?.data).toMatchObject({ renewals: 1 });
  expect(renewed[0]?.sentence).toMatch(/^Renewed x, epoch \d+, until 2026-/);
});
