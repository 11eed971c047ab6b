// How a process ends: told by a signal it gives back what it holds and exits as the signal would have made it, also when
// the store does not answer; with nothing to hold or wait for it ends by itself.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { monotonic, processSite, type ConnectedChild } from '../support/process-site.js';

const SIGNALS = [
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const;
/** Far longer than any test: what is free before that was released. */
const TTL = '10m';
const site = processSite();

/** A child that has the hook, works under a lease on the door and waits for it once more. */
async function hooked(content: object, hook: object): Promise<ConnectedChild> {
  const child = await site.start('ending');
  child.order('exit-hook', 'hook', hook);
  await child.line('hooked');
  child.order('work', 'door', { resources: 'door', ttl: TTL, ...content });
  await child.line('working');
  child.order('acquire', 'late', { resources: 'door', wait: 'forever' });
  await child.line('queued');
  return child;
}

/** The signal has been heard when who waits is told so. */
async function heard(child: ConnectedChild): Promise<void> {
  expect((await child.words('failed late'))[0]).toBe('SHUTTING_DOWN');
}

describe('releaseOnExit', () => {
  test.each(SIGNALS)('A9: %s gives everything back at once and ends with %i', async (signal, code) => {
    const child = await hooked({ ms: 60_000 }, {});
    child.order('acquire', 'gate', { resources: 'gate', ttl: TTL });
    await child.line('held gate');
    const next = await site.start('next');
    next.order('acquire', 'door', { resources: 'door', wait: '60s' });
    await next.line('queued');
    const toldAt = monotonic();
    child.process.kill(signal);
    const [, at] = await next.words('held door');
    expect(Number(at) - toldAt).toBeLessThan(2_000);
    expect(await child.ended).toBe(code);
    expect((await child.words('lost gate'))[0]).toBe('SHUTTING_DOWN'); // the work is told
    await heard(child);
    const { items } = await (await site.look()).list();
    expect(items.map((lease) => lease.owner)).toEqual(['next']);
  });

  test('A9: with drain the work may finish, and nothing new begins', async () => {
    const child = await hooked({ ms: 700 }, { drain: '30s' });
    child.process.kill('SIGTERM');
    await heard(child);
    child.order('acquire', 'new', { resources: 'new' });
    expect((await child.words('failed new'))[0]).toBe('SHUTTING_DOWN');
    expect(await child.words('worked door')).toEqual(['true', '-']);
    const workedAt = monotonic();
    expect(await child.ended).toBe(143);
    expect(monotonic() - workedAt).toBeLessThan(5_000);
    expect((await (await site.look()).list()).items).toEqual([]);
  });

  test('A9: a second signal ends the process at once, whatever it still holds', async () => {
    const child = await hooked({ ms: 60_000 }, { drain: '60s' });
    child.process.kill('SIGTERM');
    await heard(child);
    const toldAt = monotonic();
    child.process.kill('SIGINT');
    expect(await child.ended).toBe(130);
    expect(monotonic() - toldAt).toBeLessThan(2_000);
    const { items } = await (await site.look()).list();
    expect(items.map((lease) => lease.owner)).toEqual(['ending']); // lapses by its ttl
  });

  test('A9, S9: in the middle of many requests nothing is left behind', async () => {
    const child = await site.start('stormy', {}, 'manager-load-child.mjs');
    child.order('storm', 'all', { names: 6, lanes: 30, ms: 60_000 });
    const leases = await site.look();
    while ((await leases.list({ status: 'pending' })).items.length < 10) await delay(5);
    child.process.kill('SIGTERM');
    expect(await child.ended).toBe(143);
    expect((await leases.list()).items).toEqual([]);
  });

  test('A9, S20: it ends in bounded time when the store does not answer', async () => {
    const child = await hooked({ ms: 60_000, ttl: '2s' }, {});
    site.lock();
    const toldAt = monotonic();
    child.process.kill('SIGTERM');
    expect(await child.ended).toBe(143);
    expect(monotonic() - toldAt).toBeLessThan(10_000);
  });
});

test('A9: with two connections in one process both give back what they hold, also the slower one', async () => {
  const child = await hooked({ ms: 500 }, { drain: '30s' });
  child.order('second', 'other', { namespace: 'second' });
  await child.line('hooked other');
  child.process.kill('SIGTERM');
  expect(await child.words('worked door')).toEqual(['true', '-']);
  expect(await child.ended).toBe(143);
  expect((await (await site.look()).list()).items).toEqual([]);
});

test('A9, S12: shutdown under load gives back 200 leases, tells 50 waiters and leaves nothing running', async () => {
  const child = await site.start('crowd', {}, 'manager-load-child.mjs');
  child.order('crowd', 'all', { leases: 200, waiters: 50 });
  expect(await child.words('crowded all')).toEqual(['200', '50']);
  const leases = await site.look();
  expect((await leases.list({ limit: 1_000 })).items).toHaveLength(250);
  child.order('shutdown', 'all');
  expect(await child.words('down all')).toEqual(['true', 'SHUTTING_DOWN', '0']);
  expect((await leases.list()).items).toEqual([]);
  const downAt = monotonic();
  child.process.stdin?.end();
  expect(await child.ended).toBe(0);
  expect(monotonic() - downAt).toBeLessThan(2_000);
  const released = (await site.log()).filter((event) => event.type === 'lease.released');
  expect(released).toHaveLength(200);
});

describe('nothing held, nothing waited for', () => {
  test.each(['connect', 'lease', 'hook', 'shutdown'])('S12, O1: after %s a process ends by itself', async (deed) => {
    const children = [site.url, 'memory:'].map((url) => site.run('quiet-child.mjs', url, deed));
    await Promise.all(children.map((child) => child.line('quiet')));
    const quietAt = monotonic();
    expect(await Promise.all(children.map((child) => child.ended))).toEqual([0, 0]);
    expect(monotonic() - quietAt).toBeLessThan(2_000);
    const native = await Promise.all(children.map((child) => child.line('native')));
    expect(native).toEqual(['native better_sqlite3.node', 'native ']); // a store loads its own driver and no other
  });
});
