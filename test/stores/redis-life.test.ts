// S2, S13, H1: lives of the data. A server process, or a promotion, that the namespace does not know begins a new
// incarnation before anything is granted; what was drawn before is below, what was read before is lost.
import { createClient } from 'redis';
import { afterEach, describe, expect, test } from 'vitest';
import { openRedis } from '../../src/stores/redis/index.js';
import { keysOf } from '../../src/stores/redis/keys.js';
import type { Events, Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { acquire, ask, grant } from '../support/ask.js';
import { startRedis, type RedisOptions, type RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

type Admin = ReturnType<typeof createClient>;
type Rows = Extract<Events, { outcome: 'rows' }>;

const clock = systemClock();
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function serve(options: RedisOptions = {}): Promise<RedisServer> {
  const server = await startRedis(options);
  endings.push(() => server.remove());
  return server;
}
async function open(url: string): Promise<Store> {
  const store = await openRedis(url, { clock });
  endings.push(() => store.close());
  return store;
}
async function administrate(url: string): Promise<Admin> {
  const admin: Admin = createClient({ url });
  await admin.connect();
  endings.push(() => admin.destroy());
  return admin;
}
async function rowsOf(store: Store): Promise<Rows['rows']> {
  const page = await store.events({ limit: 1_000 });
  return page.outcome === 'rows' ? page.rows : [];
}

describe.skipIf(isSkipped('redis'))('lives of a Redis namespace', () => {
  test('S2, H1: after a restart with its data, leases stand, the first grant is higher, and it is told and logged', async () => {
    const server = await serve({ settings: { appendonly: 'yes', appendfsync: 'always' } });
    const before = await open(server.url);
    const kept = await grant(before, clock, 'kept', { ttlMs: 60_000 });
    const [row] = await rowsOf(before);
    await server.stop('SIGKILL');
    await server.start();
    const after = await open(server.url);
    expect((await acquire(after, await ask(after, clock, 'kept'))).outcome).toBe('refused');
    const next = await grant(after, clock, 'next');
    const drawnAt = (await after.time()).now * 1_000;
    expect(next.epoch).toBeGreaterThan(kept.epoch + 1);
    expect(next.epoch).toBeGreaterThan(drawnAt - 60_000_000);
    expect((await after.events({ after: row?.id ?? '', limit: 10 })).outcome).toBe('lost');
    const told = (await rowsOf(after)).find(({ type }) => type === 'store.incarnation');
    expect(told?.data).toEqual({ incarnation: (await after.time()).incarnation, epoch: next.epoch - 1 });
  });

  test('S2: the same server process goes on with the next epoch, whoever connects', async () => {
    const server = await serve();
    const first = await open(server.url);
    const { epoch } = await grant(first, clock, 'a');
    const { incarnation } = await first.time();
    const second = await open(server.url);
    expect((await grant(second, clock, 'b')).epoch).toBe(epoch + 1);
    expect((await second.time()).incarnation).toBe(incarnation);
  });

  test.each([
    ['whoever connects', true],
    ['whoever stayed connected', false],
  ])('S2: a primary that was a replica for a while and lost grants by it repeats no epoch: %s', async (_, connects) => {
    const settings = { 'repl-diskless-sync-delay': '0' };
    const [one, other] = [await serve({ settings }), await serve({ settings })];
    const [here, there] = [await administrate(one.url), await administrate(other.url)];
    const inSync = async (replica: Admin): Promise<void> => {
      const line = (): Promise<string> => replica.info('replication');
      await expect.poll(line, { timeout: 20_000 }).toContain('master_link_status:up');
    };
    const store = await open(one.url);
    await grant(store, clock, 'kept');
    await there.sendCommand(['REPLICAOF', '127.0.0.1', String(one.port)]);
    await inSync(there);
    await there.sendCommand(['REPLICAOF', 'NO', 'ONE']); // nobody uses it, so nothing there tells of the change
    const lost = [];
    for (let i = 0; i < 20; i += 1) lost.push((await grant(store, clock, `lost/${i}`)).epoch);
    await here.sendCommand(['REPLICAOF', '127.0.0.1', String(other.port)]);
    await inSync(here);
    await here.sendCommand(['REPLICAOF', 'NO', 'ONE']);
    const { epoch } = await grant(connects ? await open(one.url) : store, clock, 'lost/0');
    expect(epoch).toBeGreaterThan(Math.max(...lost));
  });

  test('S13, S4: a clock set back prolongs and revives nothing, one set forward ends early, and now never goes back', async () => {
    const server = await serve({ stepClock: true });
    const store = await open(server.url);
    const short = await grant(store, clock, 'short', { ttlMs: 1_000 });
    const long = await grant(store, clock, 'long', { ttlMs: 60_000 });
    server.clock.step(5_000);
    const [gone] = (await store.renew([{ ...authority(short), callerWall: clock.wall() }])).results;
    expect(gone).toMatchObject({ outcome: 'notHeld', status: 'expired' });
    const { now } = await store.end([{ ...authority(short), why: 'released' }]);
    server.clock.step(-3_600_000);
    const back = await store.renew([
      { ...authority(short), callerWall: clock.wall() },
      { ...authority(long), callerWall: clock.wall() },
    ]);
    expect(back.now).toBeGreaterThanOrEqual(now);
    expect(back.results.map(({ outcome }) => outcome)).toEqual(['notHeld', 'renewed']);
    server.clock.step(2 * 3_600_000);
    const [early] = (await store.renew([{ ...authority(long), callerWall: clock.wall() }])).results;
    expect(early).toMatchObject({ outcome: 'notHeld', status: 'expired' });
  });

  test('H1: what the cap has cut off the log is said to be lost', async () => {
    const server = await serve();
    const store = await open(server.url);
    for (let i = 0; i < 10; i += 1) await grant(store, clock, `orders/${i}`);
    const rows = await rowsOf(store);
    const admin = await administrate(server.url);
    await admin.xTrim(keysOf('default')[6] ?? '', 'MAXLEN', 4);
    const answer = await store.events({ after: rows[3]?.id ?? '', limit: 10 });
    expect(answer.outcome).toBe('lost');
    const oldest = answer.outcome === 'lost' ? answer.oldest : '';
    expect(await store.events({ after: oldest, limit: 10 })).toMatchObject({ rows: rows.slice(6) });
    expect(await store.events({ after: rows[5]?.id ?? '', limit: 10 })).toMatchObject({ rows: rows.slice(6) });
    expect(await rowsOf(store)).toEqual(rows.slice(6));
  });
});

function authority({ id, epoch }: { id: string; epoch: number }): { id: string; epoch: number; requestId: string } {
  return { id, epoch, requestId: clock.randomText() };
}
