// The sweeper: writes down what lapsed, in bounded steps, when its settings say so, once for all processes.
import { expect, test, vi } from 'vitest';
import { grant } from '../../test/support/ask.js';
import { pass, serviceSite, type ServiceSite } from '../../test/support/service-site.js';
import { sweeper } from './sweeper.js';

const HALF_MINUTE = 30_000;

async function expired({ store }: ServiceSite): Promise<number> {
  const events = await store.events({ type: 'lease.expired', limit: 1_000 });
  return events.outcome === 'rows' ? events.rows.length : NaN;
}

test('S3, O1: what lapsed is written down within its interval', async () => {
  const site = serviceSite();
  await grant(site.store, site.clock, 'orders/0', { ttlMs: 1_000 });
  const service = sweeper(site);
  service.start();
  await pass(site.clock, HALF_MINUTE * 2);
  expect(await expired(site)).toBe(1);
  expect(site.lines).toMatchObject([{ level: 'debug', facts: { leases: 1, tickets: 0, more: false } }]);
  await service.stop();
});

test('S18: many are swept in steps of 1,000 with pauses between, and go on after a bounded number of them', async () => {
  const site = serviceSite();
  const { store, clock } = site;
  const reply = { now: 1, incarnation: 'x', settingsVersion: 1, tickets: 0, overrunMaxMs: 5 };
  const times: number[] = [];
  let left = 150_000;
  vi.spyOn(store, 'sweep').mockImplementation(async ({ limit }) => {
    times.push(clock.monotonic());
    const leases = Math.min(left, limit);
    left -= leases;
    return { ...reply, leases, more: left > 0 };
  });
  const service = sweeper(site);
  service.start();
  await pass(clock, HALF_MINUTE, 3_000);
  await pass(clock, 4_000, 400);
  expect(left).toBe(0);
  expect(times).toHaveLength(150);
  const gaps = times.slice(1).map((time, i) => time - (times[i] ?? NaN));
  expect(gaps.filter((gap) => gap >= 10 && gap < 30)).toHaveLength(148);
  expect(gaps.filter((gap) => gap > 900 && gap < 1_100)).toHaveLength(1); // from the hundredth to the next turn
  expect(site.lines.map((line) => [line.facts['leases'], line.facts['more']])).toEqual([
    [100_000, true],
    [50_000, false],
  ]);
  await service.stop();
});

test('O1: stopped in the middle it stops soon, and gives its turn to the next', async () => {
  const site = serviceSite();
  const { store, clock } = site;
  const reply = { now: 1, incarnation: 'x', settingsVersion: 1, leases: 1_000, tickets: 0, overrunMaxMs: 5 };
  const sweep = vi.spyOn(store, 'sweep').mockResolvedValue({ ...reply, more: true });
  const service = sweeper(site);
  service.start();
  while (sweep.mock.calls.length === 0) await pass(clock, 100);
  await service.stop();
  expect(clock.pendingTimers).toBe(0);
  sweep.mockResolvedValue({ ...reply, leases: 0, more: false });
  const calls = sweep.mock.calls.length;
  const next = sweeper({ ...site, owner: 'process-2' });
  next.start();
  await pass(clock, HALF_MINUTE);
  expect(sweep.mock.calls.length).toBe(calls + 1);
  await next.stop();
});

test('S3: with auto_expire_enabled off it does nothing, and works again when it is on', async () => {
  const site = serviceSite();
  await site.store.setSettings({ auto_expire_enabled: false, cleanup_interval_seconds: 5 });
  await grant(site.store, site.clock, 'orders/0', { ttlMs: 1_000 });
  const service = sweeper(site);
  service.start();
  await pass(site.clock, HALF_MINUTE * 3);
  expect(await expired(site)).toBe(0);
  await site.store.setSettings({ auto_expire_enabled: true });
  await pass(site.clock, 6_000);
  expect(await expired(site)).toBe(1);
  await service.stop();
});

test('O1: the interval is the setting’s, read again at each tick; of four processes one sweeps each time', async () => {
  const site = serviceSite();
  await site.store.setSettings({ cleanup_interval_seconds: 2 });
  const { settings } = await site.store.settings();
  const sweep = vi.spyOn(site.store, 'sweep');
  const services = [1, 2, 3, 4].map((n) => sweeper({ ...site, settings, owner: `process-${n}` }));
  for (const service of services) service.start();
  await pass(site.clock, 20_000, 400);
  expect(sweep.mock.calls.length).toBeGreaterThan(8);
  expect(sweep.mock.calls.length).toBeLessThan(13);
  await site.store.setSettings({ cleanup_interval_seconds: 3_600 });
  await pass(site.clock, 4_000);
  sweep.mockClear();
  await pass(site.clock, 1_800_000, 200);
  expect(sweep.mock.calls.length).toBeLessThan(2);
  await Promise.all(services.map((service) => service.stop()));
});
