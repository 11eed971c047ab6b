// What the items of one call write together (src/stores/redis/lua/together.ts): log entries of several events, and moments at
// which several leases are looked at. Everything is seen from outside, one by one, as if each had been written for itself.
import { describe, expect, test } from 'vitest';
import type { LogRow } from '../../src/domain/events.js';
import type { Lease } from '../../src/domain/lease.js';
import type { AcquireRequest } from '../../src/domain/requests.js';
import { keysOf } from '../../src/stores/redis/keys.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { ask } from '../support/ask.js';
import { changeCounters, changeCountersBack, readCounters, readCountersOfBefore } from '../support/redis-counters.js';
import { onRedis, type Admin } from '../support/redis-site.js';
import type { RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const [, ROWS = '', , ENDS = '', , , LOG = ''] = keysOf('default');
const HOUR_MS = 3_600_000;
let server: RedisServer;
let admin: Admin;
let store: Store;

async function acquire(count: number, changes: Partial<AcquireRequest> = {}): Promise<Lease[]> {
  const template = await ask(store, clock, 'any', changes);
  const requests = Array.from({ length: count }, (_, i) => ({
    ...template,
    id: `${template.id}-${i}`,
    parts: [{ name: `${template.id}/${i}`, scope: 'node', mode: 'exclusive' } as const],
  }));
  const { results } = await store.acquire(requests);
  return results.map((result) => {
    if (result.outcome !== 'granted') throw new Error(result.outcome);
    return result.lease;
  });
}
const authority = ({ id, epoch }: Lease) => ({ id, epoch, requestId: clock.randomText() });
const renew = (leases: readonly Lease[], ttlMs: number) =>
  store.renew(leases.map((lease) => ({ ...authority(lease), ttlMs, callerWall: clock.wall() })));
const end = (leases: readonly Lease[]) =>
  store.end(leases.map((lease) => ({ ...authority(lease), why: 'released' as const })));

async function pages(limit: number, backward: boolean): Promise<LogRow[]> {
  const rows: LogRow[] = [];
  for (let at: string | undefined, more = true; more;) {
    const page = await store.events(backward ? { before: at, backward, limit } : { after: at, limit });
    if (page.outcome === 'lost') throw new Error('lost');
    rows.push(...page.rows);
    ({ next: at, more } = page);
  }
  return rows;
}
/** Members of the key that says when to look at whom, without the one that is always there. */
const members = async (): Promise<string[]> => (await admin.zRange(ENDS, 0, -1)).filter((member) => member !== '');
describe.skipIf(isSkipped('redis'))('what the items of a call write together', () => {
  onRedis(clock, { stepClock: true }, (site) => {
    ({ server, admin, store } = site);
  });

  test('S6, H1: 200 grants are 200 rows of the log, in order, whatever page they are read by, forward and back', async () => {
    const leases = await acquire(200);
    await end(leases.slice(0, 100));
    expect(await admin.xLen(LOG)).toBeLessThan(10);
    for (const limit of [1, 7, 64, 1_000]) {
      const rows = await pages(limit, false);
      expect(rows.map((row) => `${row.type} ${row.leaseId}`)).toEqual([
        ...leases.map(({ id }) => `lease.acquired ${id}`),
        ...leases.slice(0, 100).map(({ id }) => `lease.released ${id}`),
      ]);
      expect(new Set(rows.map((row) => row.id)).size).toBe(300);
      expect(await pages(limit, true)).toEqual([...rows].reverse());
    }
  });

  test('H1: of rows that were written together some are pruned: they are lost, the others are there', async () => {
    await acquire(50);
    const rows = await pages(1_000, false);
    server.clock.step(10_000);
    expect(await store.prune({ olderThanMs: 5_000, limit: 20 })).toMatchObject({ events: 20, more: true });
    expect(await pages(6, false)).toEqual(rows.slice(20));
    expect(await pages(6, true)).toEqual(rows.slice(20).reverse());
    expect(await store.events({ after: rows[10]?.id ?? '', limit: 5 })).toMatchObject({ outcome: 'lost' });
    expect(await store.events({ after: rows[19]?.id ?? '', limit: 1_000 })).toMatchObject({ rows: rows.slice(20) });
    const upTo = { olderThanMs: 5_000, limit: 1_000, upTo: rows[34]?.id ?? '' };
    expect(await store.prune(upTo)).toMatchObject({ events: 15, more: false });
    expect(await pages(6, true)).toEqual(rows.slice(35).reverse());
    await end(await acquire(3));
    expect(await store.prune({ olderThanMs: 5_000, limit: 1_000 })).toMatchObject({ events: 15 });
    expect(await pages(2, false)).toHaveLength(6);
  });

  test('H1: the log keeps a million rows; what is older goes and is said to be lost', async () => {
    await acquire(200);
    const [first] = await pages(1_000, false);
    await changeCounters(admin, (text) => text.replace(/^(\S+ \S+ \S+ \S+) 200 /, '$1 1200000 '));
    const leases = await acquire(200);
    expect(await store.events({ after: first?.id ?? '', limit: 5 })).toMatchObject({ outcome: 'lost' });
    expect((await pages(1_000, false)).map(({ leaseId }) => leaseId)).toEqual(leases.map(({ id }) => id));
  });

  test('S3, S18: of leases granted together a sweep ends those that lapsed, and comes back for those that were renewed', async () => {
    const leases = await acquire(100, { ttlMs: 10_000 });
    await renew(leases.slice(0, 40), 60_000);
    await end(leases.slice(40, 60));
    expect(await store.sweep({ limit: 1_000 })).toMatchObject({ leases: 0, more: false });
    server.clock.step(11_000);
    expect(await store.sweep({ limit: 15 })).toMatchObject({ leases: 15, more: true });
    const swept = await store.sweep({ limit: 1_000 });
    expect(swept).toMatchObject({ leases: 25, more: false });
    expect(swept.nextAt).toBeLessThanOrEqual(swept.now + 60_000);
    server.clock.step(60_000);
    expect(await store.sweep({ limit: 1_000 })).toMatchObject({ leases: 40, more: false });
    const { items } = await store.get(leases.map(({ id }) => id));
    expect(items.map((item) => item?.status)).toEqual(
      leases.map((_, i) => (i >= 40 && i < 60 ? 'released' : 'expired')),
    );
  });

  test('S18: a sweep gets through everything that has ended, however much of it there is', async () => {
    for (let round = 0; round < 20; round += 1) await end((await acquire(250, { ttlMs: 5_000 })).reverse());
    const [last] = await acquire(1, { ttlMs: 6_000 });
    server.clock.step(7_000);
    const swept = [];
    do swept.push(await store.sweep({ limit: 1_000 }));
    while (swept.at(-1)?.more);
    expect(swept.length).toBeGreaterThan(1);
    expect(swept.reduce((sum, { leases }) => sum + leases, 0)).toBe(1);
    expect((await store.get([last?.id ?? ''])).items[0]?.status).toBe('expired');
  });

  test('S8, S18: rows that ended together go when they have been over long enough, some now and some later', async () => {
    const leases = await acquire(100, { ttlMs: 5_000 });
    await end(leases);
    server.clock.step(130_000);
    await store.sweep({ limit: 1_000 });
    expect(await store.prune({ olderThanMs: 0, limit: 30 })).toMatchObject({ ids: 30, more: true });
    expect((await store.get(leases.map(({ id }) => id))).items.filter(Boolean)).toHaveLength(70);
    expect(await store.prune({ olderThanMs: 0, limit: 1_000 })).toMatchObject({ ids: 70, more: false });
    expect(await admin.hLen(ROWS)).toBe(1);
    expect(await members()).toEqual([]);
  });

  test('S3, S18: where nobody sweeps nothing piles up but what lapsed, and a sweep finds that later', async () => {
    const [lapsed] = await acquire(1, { ttlMs: 1_000 });
    const [held] = await acquire(1, { ttlMs: HOUR_MS });
    for (let round = 0; round < 5; round += 1) {
      await end((await acquire(100, { ttlMs: 5_000 })).reverse());
      server.clock.step(200_000);
      expect(await store.prune({ olderThanMs: 0, limit: 1_000 })).toMatchObject({ ids: 100, more: false });
      expect((await members()).sort()).toEqual([lapsed?.id, held?.id].sort());
    }
    const swept = await store.sweep({ limit: 10 });
    expect(swept).toMatchObject({ leases: 1, more: false, nextAt: held?.expiresAt });
    expect(swept.overrunMaxMs).toBeGreaterThan(999_000);
    expect((await pages(10, true))[0]).toMatchObject({ type: 'lease.expired', leaseId: lapsed?.id });
  });

  test('S3: a sweep begins with what expired first, also where much that expired later was renewed before', async () => {
    const [first] = await acquire(1, { ttlMs: 30_000 });
    for (let round = 0; round < 17; round += 1) await renew(await acquire(64, { ttlMs: 5_000 }), 60_000);
    server.clock.step(70_000);
    const swept = await store.sweep({ limit: 1_000 });
    expect(swept).toMatchObject({ leases: 1_000, more: true });
    expect(swept.overrunMaxMs).toBeGreaterThan(39_000);
    const expired = (await pages(1_000, false)).filter(({ type }) => type === 'lease.expired');
    expect(expired[0]?.leaseId).toBe(first?.id);
    expect(await store.sweep({ limit: 1_000 })).toMatchObject({ leases: 89, more: false });
  });

  test('S18: a long lease that is released early leaves nothing behind that waits for its end', async () => {
    await end(await acquire(100, { ttlMs: HOUR_MS }));
    expect((await store.sweep({ limit: 1_000 })).nextAt).toBeUndefined();
    server.clock.step(130_000);
    expect(await store.prune({ olderThanMs: 0, limit: 1_000 })).toMatchObject({ ids: 100 });
    expect(await members()).toEqual([]);
  });

  test('O4: data of the format before is read as it is, and is of this one from the first write on', async () => {
    const [first, second] = await acquire(2, { ttlMs: 10_000 });
    const rows = await pages(10, false);
    await changeCountersBack(admin, (text) => text.replace(/^4 /, '1 ').replace(/ 0$/, ''));
    await admin.zRem(ENDS, `${first?.id} ${second?.id}`);
    for (const lease of [first, second])
      await admin.zAdd(ENDS, { score: lease?.expiresAt ?? 0, value: lease?.id ?? '' });
    expect(await pages(10, false)).toEqual(rows);
    expect(await readCountersOfBefore(admin)).toMatch(/^1 /);
    await renew([first as Lease], 60_000);
    expect(await readCountersOfBefore(admin)).toMatch(/^4 /);
    expect(await readCounters(admin)).toMatch(/^4 /);
    server.clock.step(11_000);
    expect(await store.sweep({ limit: 10 })).toMatchObject({ leases: 1, more: false });
    expect((await pages(10, false)).map((row) => row.type)).toEqual([
      'lease.acquired',
      'lease.acquired',
      'lease.expired',
    ]);
  });
});
