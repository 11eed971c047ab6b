// The settings kept in the store (O4): read, set, refused with what is allowed, and read again before the next acquire.
import { expect, test } from 'vitest';
import { managerSite } from '../../test/support/manager-site.js';
import { DEFAULT_SETTINGS } from '../domain/settings.js';

test('O4: get, set and all', async () => {
  const { leases } = await managerSite();
  expect(await leases.config.all()).toEqual(DEFAULT_SETTINGS);
  expect(await leases.config.get('held_ttl_seconds')).toBe(30);
  await leases.config.set('held_ttl_seconds', 60);
  expect(await leases.config.get('held_ttl_seconds')).toBe(60);
});

test('O4: unknown keys and bad values are refused with what is allowed, and nothing changes', async () => {
  const { leases } = await managerSite();
  await expect(leases.config.get('ttl' as never)).rejects.toThrow(/unknown setting "ttl": known are default_ttl/);
  await expect(leases.config.get('__proto__' as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await expect(leases.config.set('ttl' as never, 1 as never)).rejects.toThrow(/unknown setting/);
  await expect(leases.config.set('held_ttl_seconds', -1)).rejects.toThrow(/held_ttl_seconds takes seconds from 0.25/);
  expect(await leases.config.all()).toEqual(DEFAULT_SETTINGS);
});

test('O4: a client that sees a new version reads it before its next acquire, and only then', async () => {
  const site = await managerSite();
  const other = await site.join({ owner: 'admin' });
  const before = await site.leases.acquire('a');
  await other.leases.config.set('held_ttl_seconds', 60);
  site.store.forgetCalls();
  await site.leases.now(); // any reply carries the version
  expect(site.store.calls.map(({ call }) => call)).toEqual(['time']);
  const after = await site.leases.acquire('b');
  await site.leases.acquire('c');
  expect(site.store.calls.map(({ call }) => call)).toEqual(['time', 'settings', 'acquire', 'acquire']);
  expect([before.toJSON().ttlMs, after.toJSON().ttlMs]).toEqual([30_000, 60_000]);
});

test('S8, O4: what a caller does to its objects while the settings are read again changes nothing', async () => {
  const site = await managerSite();
  const other = await site.join({ owner: 'admin' });
  await other.leases.config.set('held_ttl_seconds', 60);
  await site.leases.now(); // any reply carries the version
  const part = { name: 'a', scope: 'subtree' as 'node' | 'subtree' };
  const options = { ttl: 10_000, metadata: { who: 'first' } };
  const asked = [site.leases.acquire([part], options)];
  part.name = 'b';
  part.scope = 'node';
  asked.push(site.leases.acquire(part, options));
  options.ttl = 20_000;
  options.metadata.who = 'second';
  const held = (await Promise.all(asked)).map((lease) => lease.toJSON());
  expect(held.map(({ parts, ttlMs, metadata }) => [parts[0]?.name, parts[0]?.scope, ttlMs, metadata])).toEqual([
    ['a', 'subtree', 10_000, { who: 'first' }],
    ['b', 'node', 10_000, { who: 'first' }],
  ]);
  await other.leases.config.set('held_ttl_seconds', 30);
  await site.leases.now();
  await expect(site.leases.acquire('c', null as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});

test('O4: one’s own change counts at once', async () => {
  const { leases } = await managerSite();
  await leases.config.set('acquisition_timeout_ms', 0);
  await leases.acquire('x');
  await expect(leases.acquire('x')).rejects.toThrow(/^x is not free/);
});
