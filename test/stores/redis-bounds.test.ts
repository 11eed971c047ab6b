// Much of everything, and what must never be: scripts stay short, keys neither vanish nor run out, strange data is named.
import { describe, expect, test } from 'vitest';
import type { Part } from '../../src/domain/part.js';
import type { AcquireRequest } from '../../src/domain/requests.js';
import { openRedis } from '../../src/stores/redis/index.js';
import { keysOf } from '../../src/stores/redis/keys.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { ask, grant } from '../support/ask.js';
import { changeCounters, readCounters } from '../support/redis-counters.js';
import { onRedis, type Admin } from '../support/redis-site.js';
import type { RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const BATCH = 250;
const keys = keysOf('default');
let server: RedisServer;
let admin: Admin;
let store: Store;

const node = (name: string): Part => ({ name, scope: 'node', mode: 'exclusive' });
const shared = (name: string, limit: number): Part => ({ name, scope: 'node', mode: 'shared', limit });

async function acquireMany(parts: readonly Part[], changes: Partial<AcquireRequest> = {}, outcome = 'granted') {
  const template = await ask(store, clock, 'any', changes);
  const requests = parts.map((part, i) => ({ ...template, id: `${template.id}-${i}`, parts: [part] }));
  for (let at = 0; at < requests.length; at += BATCH) {
    const { results } = await store.acquire(requests.slice(at, at + BATCH));
    expect(new Set(results.map((result) => result.outcome))).toEqual(new Set([outcome]));
  }
  return requests;
}
async function eventsBackward(query: { limit: number }) {
  const page = await store.events({ backward: true, ...query });
  return page.outcome === 'rows' ? page.rows : [];
}
async function until(isSo: (now: number) => boolean): Promise<void> {
  while (!isSo((await store.time()).now));
}
/** The longest any script took since the last look, as the server saw it. */
async function longestMs(): Promise<number> {
  const entries = (await admin.sendCommand(['SLOWLOG', 'GET', '1000'])) as unknown as [number, number, number][];
  await admin.sendCommand(['SLOWLOG', 'RESET']);
  return Math.max(0, ...entries.map(([, , micros]) => micros)) / 1_000;
}

describe.skipIf(isSkipped('redis'))('bounds of a Redis namespace', () => {
  onRedis(clock, {}, (site) => {
    ({ server, admin, store } = site);
  });

  test('S18: a full batch on a name that a thousand share takes no longer than a full batch may', async () => {
    await acquireMany(Array.from({ length: 1_000 }, () => shared('pool', 2_000)));
    await longestMs();
    await acquireMany(Array.from({ length: BATCH }, () => shared('pool', 2_000)));
    expect(await longestMs()).toBeLessThan(2_000);
    await store.waitGraph();
  });

  test('S18, Q1: a thousand wait for one name; refresh, graph and release stay short, and the first is served', async () => {
    const held = await grant(store, clock, 'hot');
    const waiting = await acquireMany(
      Array.from({ length: 1_000 }, () => node('hot')),
      { join: true },
      'queued',
    );
    await longestMs();
    const [refreshed] = (await store.acquire([waiting[999] as AcquireRequest])).results;
    expect(refreshed).toMatchObject({ outcome: 'queued', place: 1_000 });
    expect((await store.waitGraph()).tickets).toHaveLength(1_000);
    await store.end([{ id: held.id, epoch: held.epoch, requestId: 'r', why: 'released' }]);
    const [first] = (await store.acquire([waiting[0] as AcquireRequest])).results;
    expect(first?.outcome).toBe('granted');
    expect(await longestMs()).toBeLessThan(500);
  });

  test('A7, S18: an owner is revoked whole, however many leases of others stand before it', async () => {
    await acquireMany(
      Array.from({ length: 6_000 }, (_, i) => node(`others/${i}`)),
      { owner: 'others' },
    );
    await acquireMany(
      Array.from({ length: 30 }, (_, i) => node(`zone/${i}`)),
      { owner: 'gone' },
    );
    const { epoch: upToEpoch } = await store.time();
    const order = { target: { owner: 'gone' }, reason: 'its host is gone', actor: 'operator', upToEpoch, keepOutMs: 0 };
    const revoked = await store.revoke(order);
    expect([revoked.ended.length, revoked.epoch, revoked.more]).toEqual([30, upToEpoch + 1, false]);
    expect((await store.revoke(order)).ended).toEqual([]);
    expect((await store.list({ limit: 1_000, owner: 'gone' })).items).toEqual([]);
  });

  test('A8, S18: a list that filters looks at a stretch a call and goes on from there', async () => {
    await acquireMany(
      Array.from({ length: 11_000 }, (_, i) => node(`n/${i}`)),
      { owner: 'many' },
    );
    await grant(store, clock, 'z', { owner: 'one' });
    const pages = [];
    for (let cursor: string | undefined, more = true; more;) {
      const page = await store.list({ limit: 5, owner: 'one', cursor });
      pages.push(page.items.map(({ owner }) => owner));
      cursor = page.cursor;
      more = cursor !== undefined;
    }
    expect(pages).toEqual([[], ['one']]);
  });

  test('A8, S18: history since a moment ends there, however much came before it', async () => {
    await acquireMany(Array.from({ length: 6_000 }, (_, i) => node(`n/${i}`)));
    const [before] = await eventsBackward({ limit: 1 });
    await until((now) => now > (before?.at ?? now));
    const { acquiredAt: since } = await grant(store, clock, 'z');
    const page = await store.events({ backward: true, since, limit: 10 });
    expect(page).toMatchObject({ outcome: 'rows', rows: [{ resource: 'z' }], more: false });
    const { next = '' } = page as { next?: string };
    expect(await store.events({ backward: true, before: next, limit: 10 })).toMatchObject({ rows: [], more: false });
    const older = await store.events({ backward: true, since: before?.at ?? 0, resource: 'n/5999', limit: 10 });
    expect(older).toMatchObject({ rows: [{ resource: 'n/5999' }], more: false });
  });

  test('the keys of a namespace are there from the first write on, none runs out, none becomes empty', async () => {
    const lease = await grant(store, clock, 'a');
    await store.end([{ id: lease.id, epoch: lease.epoch, requestId: 'r', why: 'released' }]);
    await store.prune({ olderThanMs: 0, limit: 1_000 });
    for (const key of keys) expect([key, await admin.exists(key), await admin.ttl(key)]).toEqual([key, 1, -1]);
    expect((await admin.keys('*')).sort()).toEqual([...keys].sort());
  });

  test('O4: data in a newer format is refused by every call, and left as it is', async () => {
    await changeCounters(admin, (text) => text.replace(/^4 /, '5 '));
    const newer = await readCounters(admin);
    const refused = { code: 'STORE_INCOMPATIBLE', retryable: false };
    await expect(store.time()).rejects.toMatchObject(refused);
    await expect(store.acquire([])).rejects.toMatchObject(refused);
    await expect(openRedis(server.url, { clock })).rejects.toMatchObject(refused);
    expect(await readCounters(admin)).toBe(newer);
    expect(newer).toMatch(/^5 /);
  });

  test('S2: keys without the one that counts are nobody’s: they are named, not taken over', async () => {
    await grant(store, clock, 'a');
    const [meta = '', rows = '', index = ''] = keys;
    await admin.hDel(rows, '');
    await expect(store.acquire([])).rejects.toMatchObject({ code: 'STORE_INCOMPATIBLE', details: { key: meta } });
    await admin.del([meta, rows]);
    await expect(store.acquire([])).rejects.toMatchObject({ code: 'STORE_INCOMPATIBLE', details: { key: index } });
  });

  test('C1: a store opened for looking makes nothing, shows what there is, and changes nothing', async () => {
    const looking = await openRedis(server.url, { clock, readOnly: true, namespace: 'nowhere' });
    expect((await looking.list({ limit: 10 })).items).toEqual([]);
    expect((await looking.events({ limit: 10 })).outcome).toBe('rows');
    await expect(looking.acquire([])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await looking.close();
    expect((await admin.keys('*')).sort()).toEqual([...keys].sort());
  });

  test('O4: settings set by two at once are both kept', async () => {
    const second = await openRedis(server.url, { clock });
    await Promise.all([
      store.setSettings({ cascade_threshold: 20 }),
      second.setSettings({ recovery_batch_size: 7 }),
      store.setSettings({ max_renewals: 3 }),
    ]);
    const { settings } = await second.settings();
    await second.close();
    expect(settings).toMatchObject({ cascade_threshold: 20, recovery_batch_size: 7, max_renewals: 3 });
  });
});
