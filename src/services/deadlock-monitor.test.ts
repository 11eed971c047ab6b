// The deadlock monitor: breaks cycles by itself, and reports very old leases apart, revoking only the silent ones.
import { describe, expect, test } from 'vitest';
import { acquire, ask, grant } from '../../test/support/ask.js';
import { endlessTurn, pass, serviceSite, type ServiceSite } from '../../test/support/service-site.js';
import type { Store } from '../stores/store.js';
import { deadlockMonitor } from './deadlock-monitor.js';
import { OldLeases, renewalsStopped } from './old-leases.js';
import type { Work } from './turn.js';

const HOUR = 3_600_000;
const warnings = ({ lines }: ServiceSite): string[] =>
  lines.filter((line) => line.level === 'warn').map((line) => line.message);

/** As if a page had room for one lease: ten pages are looked at in a turn. */
function pagesOfOne(store: Store): Store['list'] {
  const list = store.list.bind(store);
  return (filter) => list({ ...filter, limit: 1 });
}

test('Q4, O1: a deadlock between waiters is broken within two intervals', async () => {
  const site = serviceSite();
  const { store, clock } = site;
  const a = await grant(store, clock, 'a', { owner: 'alice', ttlMs: HOUR });
  const b = await grant(store, clock, 'b', { owner: 'bob', ttlMs: HOUR });
  const first = await ask(store, clock, 'b', { owner: 'alice', join: true, holding: [a.id] });
  const second = await ask(store, clock, 'a', { owner: 'bob', join: true, holding: [b.id] });
  const service = deadlockMonitor(site);
  service.start();
  for (let refreshes = 0; refreshes < 20; refreshes += 1) {
    await acquire(store, first);
    await acquire(store, second);
    await pass(clock, 3_000, 3);
  }
  expect(await acquire(store, second)).toMatchObject({ outcome: 'deadlock' });
  expect(await acquire(store, first)).toMatchObject({ outcome: 'queued' });
  expect(warnings(site)).toEqual(['a deadlock was broken']);
  await service.stop();
});

describe('Q4: age is not deadlock', () => {
  test('Q4: an old lease is reported once, and stays', async () => {
    const site = serviceSite();
    const lease = await grant(site.store, site.clock, 'orders/0', { ttlMs: 20 * HOUR });
    const service = deadlockMonitor(site);
    service.start();
    await pass(site.clock, HOUR - 60_000, 60);
    expect(warnings(site)).toEqual([]);
    await pass(site.clock, 6 * HOUR, 200);
    expect(warnings(site)).toEqual(['a lease is older than max_lock_age_seconds']);
    expect(site.lines.at(-1)?.facts).toMatchObject({ leaseId: lease.id, resource: 'orders/0', epoch: lease.epoch });
    expect((await site.store.get([lease.id])).items[0]?.status).toBe('active');
    await service.stop();
  });

  test('Q4: with max_lock_age_action revoke only the one whose renewals stopped goes', async () => {
    const site = serviceSite();
    const { store, clock } = site;
    await store.setSettings({ max_lock_age_action: 'revoke' });
    const silent = await grant(store, clock, 'silent', { ttlMs: 5 * HOUR });
    const alive = await grant(store, clock, 'alive', { ttlMs: 5 * HOUR });
    const service = deadlockMonitor(site);
    service.start();
    for (let renewed = 0; renewed < 4; renewed += 1) {
      await pass(clock, HOUR, 40);
      await store.renew([{ id: alive.id, epoch: alive.epoch, requestId: `r${renewed}`, callerWall: clock.wall() }]);
    }
    expect((await store.get([silent.id])).items[0]?.status).toBe('active'); // 4 h of 5 h: it may yet be renewed
    await pass(clock, 5 * 60_000, 40);
    const { items } = await store.get([silent.id, alive.id]);
    expect(items.map((item) => item?.status)).toEqual(['revoked', 'active']);
    expect(items[0]?.reason).toContain('max_lock_age_seconds');
    expect(warnings(site).filter((message) => message.includes('was revoked'))).toHaveLength(1);
    await service.stop();
  });

  test('Q4: one whose renewals stopped goes also behind more old ones than a turn looks at', async () => {
    const site = serviceSite();
    const { clock } = site;
    const store = Object.assign(site.store, { list: pagesOfOne(site.store) });
    await store.setSettings({ max_lock_age_action: 'revoke' });
    for (let i = 0; i < 10; i += 1) await grant(store, clock, `alive/${i}`, { ttlMs: 20 * HOUR });
    const silent = await grant(store, clock, 'silent', { ttlMs: 2 * HOUR });
    await clock.advance(1.7 * HOUR);
    const { settings } = await store.settings();
    const oldLeases = new OldLeases(site);
    const look = async (): Promise<Work> => {
      const looking = oldLeases.look(endlessTurn(), settings);
      await pass(clock, 200);
      return looking;
    };
    expect([await look(), await look(), await look()]).toEqual(['more', 'done', 'done']);
    expect((await store.get([silent.id])).items[0]?.status).toBe('revoked');
    expect(warnings(site)).toHaveLength(11); // the ten of the first turn, and what was revoked
    expect(await oldLeases.look(endlessTurn(), { ...settings, max_lock_age_seconds: 7_200 })).toBe('done');
  });

  test.each([
    [HOUR, 0.8 * HOUR, false],
    [HOUR, 0.8 * HOUR + 11_000, false],
    [HOUR, 0.8 * HOUR + 11_001, true],
    [30_000, 29_999, false], // two attempts reach to the end of a short lease
  ])('Q4: a ttl of %d ms, silent for %d ms: stopped is %s', (ttlMs, silentMs, stopped) => {
    expect(renewalsStopped({ renewedAt: 1_000, ttlMs }, 1_000 + silentMs)).toBe(stopped);
  });
});
