// guardedScript over a real Redis: lease check and write as one script, by id, epoch and the clock of the store.
import { Cluster, Redis } from 'ioredis';
import { createClient, createCluster } from 'redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/connect.js';
import { guardedKey, guardedScript, redisGate, type RedisClient } from '../../src/guards/index.js';
import type { Holdfast } from '../../src/holdfast.js';
import type { HeldLease } from '../../src/manager/face.js';
import { keysOf } from '../../src/stores/redis/keys.js';
import { startRedisCluster, type RedisCluster } from '../support/servers/redis-cluster.js';
import { startRedis, type RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const SET = guardedScript("redis.call('SET', KEYS[1], ARGV[1]) return {#KEYS, #ARGV, ARGV[1]}");

describe.skipIf(isSkipped('redis'))('guardedScript', () => {
  let server: RedisServer;
  let leases: Holdfast;
  let client: Redis;
  beforeAll(async () => {
    server = await startRedis({ stepClock: true });
    leases = await connect(server.url, { services: 'off' });
    client = new Redis(server.url);
  });
  afterAll(async () => {
    await leases.shutdown();
    client.disconnect();
    await server.remove();
  });
  let count = 0;
  const fresh = (): string => `orders/${(count += 1)}`;
  async function write(lease: HeldLease, value: string): Promise<unknown> {
    return SET.run(client, lease, [guardedKey(lease, lease.resources[0] ?? '')], [value]);
  }
  const written = (lease: HeldLease): Promise<string | null> => client.get(guardedKey(lease, lease.resources[0] ?? ''));

  test('G3, S11: writes under a live lease, with KEYS and ARGV as given', async () => {
    const lease = await leases.acquire(fresh());
    expect(await write(lease, 'mine')).toEqual([1, 1, 'mine']);
    expect(await written(lease)).toBe('mine');
    await client.call('SCRIPT', 'FLUSH');
    expect(await write(lease, 'after a flush')).toEqual([1, 1, 'after a flush']);
  });

  test('G3: taken over, released, revoked: nothing is written, and the error says why', async () => {
    const older = await leases.acquire(fresh(), { renew: 'manual', ttl: 100 });
    const newer = await leases.acquire(older.resources[0] ?? '', { wait: '10s' });
    await expect(write(older, 'late')).rejects.toMatchObject({
      code: 'STALE_EPOCH',
      message: `Stale write rejected: epoch ${older.epoch} < current epoch ${newer.epoch}`,
      details: { current: newer.epoch, attempted: older.epoch },
    });
    await newer.release();
    await expect(write(newer, 'late')).rejects.toMatchObject({ code: 'LEASE_LOST', details: { status: 'released' } });
    const revoked = await leases.acquire(fresh());
    await leases.revoke({ leaseId: revoked.id, reason: 'test' });
    await expect(write(revoked, 'late')).rejects.toMatchObject({ code: 'LEASE_LOST', details: { status: 'revoked' } });
    for (const lease of [older, newer, revoked]) expect(await written(lease)).toBeNull();
  });

  test.each<[string, (above: string) => Parameters<Holdfast['acquire']>[0]]>([
    ['further name of a set', (above) => [`a/${above}`, `${above}/1`]],
    ['subtree above', (above) => ({ name: above, scope: 'subtree' })],
    ['subtree above, in a set', (above) => [`a/${above}`, { name: above, scope: 'subtree' }]],
  ])('G3, S11: taken over as a %s, the epoch is stale', async (_, parts) => {
    const above = fresh();
    const older = await leases.acquire(`${above}/1`, { renew: 'manual', ttl: 100 });
    const newer = await leases.acquire(parts(above), { wait: '10s' });
    await expect(write(older, 'late')).rejects.toMatchObject({
      code: 'STALE_EPOCH',
      details: { resource: `${above}/1`, current: newer.epoch, attempted: older.epoch },
    });
    expect(await written(older)).toBeNull();
    await newer.release();
    await leases.acquire([`a/${above}`, above, { name: `b/${above}`, scope: 'subtree' }]); // a node holds nothing below it
    await expect(write(older, 'late')).rejects.toMatchObject({ code: 'LEASE_LOST' });
  });

  test('G3, S13: one that has expired by the clock of the store is over, whoever has it', async () => {
    const lease = await leases.acquire(fresh(), { renew: 'manual', ttl: '10m' });
    await write(lease, 'live');
    server.clock.step(11 * 60_000);
    await expect(write(lease, 'late')).rejects.toThrow(/is expired since \d{4}-/);
    expect(await written(lease)).toBe('live');
    server.clock.step(-11 * 60_000);
  });

  test('G3: a counting lease is guarded by its own row', async () => {
    const name = fresh();
    const part = { name, mode: 'shared', limit: 2 } as const;
    const [one, two] = [await leases.acquire(part), await leases.acquire(part)];
    await write(one, 'one');
    await write(two, 'two');
    await one.release();
    const three = await leases.acquire(part);
    await expect(write(one, 'late')).rejects.toMatchObject({ code: 'STALE_EPOCH' });
    await write(three, 'three');
    expect(await written(one)).toBe('three');
  });

  test('G3: 100 writers through one holder all land', async () => {
    const lease = await leases.acquire(fresh());
    const push = guardedScript("return redis.call('RPUSH', KEYS[1], ARGV[1])");
    const key = guardedKey(lease, 'list');
    await Promise.all(Array.from({ length: 100 }, (_, i) => push.run(client, lease, [key], [String(i)])));
    expect(await client.llen(key)).toBe(100);
  });

  test('G3: through node-redis, and through a client with a key prefix', async () => {
    const lease = await leases.acquire(fresh());
    const other = createClient({ url: server.url });
    await other.connect();
    expect(await SET.run(other, lease, ['plain'], ['a'])).toEqual([1, 1, 'a']);
    other.destroy();
    const prefixed = new Redis(server.url, { keyPrefix: 'app:' });
    expect(await SET.run(prefixed, lease, ['key'], ['b'])).toEqual([1, 1, 'b']);
    expect(await client.get('app:key')).toBe('b');
    await lease.release();
    await expect(SET.run(prefixed, lease, ['key'], ['c'])).rejects.toMatchObject({ code: 'LEASE_LOST' });
    prefixed.disconnect();
  });

  test('G3: the keys are those of the store, in the slot of the namespace', async () => {
    const other = await connect(server.url, { services: 'off', namespace: 'other' });
    const lease = await other.acquire('a');
    expect(guardedKey(lease, 'x')).toBe('{other}:x');
    expect(keysOf('other').slice(0, 3)).toEqual(['meta', 'rows', 'index'].map((name) => `holdfast:{other}:${name}`));
    expect(await SET.run(client, lease, [guardedKey(lease, 'x')], ['other'])).toEqual([1, 1, 'other']);
    await other.shutdown();
  });

  test('a lease of another store, and what is no script or client, is refused', async () => {
    const elsewhere = await connect('memory:', { services: 'off' });
    const lease = await elsewhere.acquire('a');
    await expect(SET.run(client, lease)).rejects.toThrow(/this one is in a memory store: use redisGate/);
    await expect(SET.run({} as never, lease)).rejects.toThrow(/takes a client or cluster/);
    await expect(SET.run(client, {} as never)).rejects.toThrow(/takes the lease that acquire/);
    expect(() => guardedScript(42 as never)).toThrow(/a script is Lua text/);
    await elsewhere.shutdown();
  });
});

describe.skipIf(isSkipped('redis'))('on a cluster', () => {
  let cluster: RedisCluster;
  let leases: Holdfast;
  beforeAll(async () => {
    cluster = await startRedisCluster();
    leases = await connect(cluster.url, { services: 'off', namespace: 'shop' });
  });
  afterAll(async () => {
    await leases.shutdown();
    await cluster.remove();
  });
  const kinds: [string, () => Promise<{ client: RedisClient; close: () => unknown }>][] = [
    [
      'redis',
      async () => {
        const rootNodes = cluster.ports.map((port) => ({ url: `redis://127.0.0.1:${port}` }));
        const client = createCluster({ rootNodes });
        await client.connect();
        return { client, close: () => client.destroy() };
      },
    ],
    [
      'ioredis',
      async () => {
        const client = new Cluster(cluster.ports.map((port) => ({ host: '127.0.0.1', port })));
        return { client, close: () => client.disconnect() };
      },
    ],
  ];

  test.each(kinds)(
    'G3, G4: over %s the keys share the slot of the guard, and a key elsewhere is explained',
    async (kind, open) => {
      const { client, close } = await open();
      const lease = await leases.acquire(`orders/${kind}`);
      expect(await SET.run(client, lease, [guardedKey(lease, 'x')], ['mine'])).toEqual([1, 1, 'mine']);
      await expect(SET.run(client, lease, ['{elsewhere}:x'], ['mine'])).rejects.toThrow(/give them its hash tag/);
      const gate = redisGate(client, `{orders}:gate:${kind}`);
      const set = gate.script("return redis.call('SET', KEYS[1], ARGV[1])");
      expect(await set.run(lease, ['{orders}:0'], ['mine'])).toBe('OK');
      await expect(set.run(lease, ['{elsewhere}:0'], ['mine'])).rejects.toThrow(/give them its hash tag/);
      await lease.release();
      await expect(SET.run(client, lease, [guardedKey(lease, 'x')], ['late'])).rejects.toMatchObject({
        code: 'LEASE_LOST',
      });
      close();
    },
  );
});
