// A primary of a cluster that is killed and replaced by its own replica, met by every kind of client at once: they find the new one
// by themselves, nothing hangs, no epoch comes twice (S2), and the dead node that comes back changes nothing. What the replica had
// not is lost, as the page says. Prints what each failover kept and lost.
import { afterEach, describe, expect, test } from 'vitest';
import { connect } from '../../src/connect.js';
import type { LeaseError } from '../../src/domain/errors.js';
import type { Lease } from '../../src/domain/lease.js';
import type { Holdfast } from '../../src/holdfast.js';
import { loadIoRedis } from '../../src/stores/redis/clients/own-client.js';
import { OwnConnections } from '../../src/stores/redis/connections.js';
import { openRedis } from '../../src/stores/redis/index.js';
import { keysOf } from '../../src/stores/redis/keys.js';
import { Namespace } from '../../src/stores/redis/namespace.js';
import { Link } from '../../src/stores/redis/open-link.js';
import { RedisStore } from '../../src/stores/redis/redis-store.js';
import { parseRedisUrl } from '../../src/stores/redis/redis-url.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { grant } from '../support/ask.js';
import { failoverTable } from '../support/failover-table.js';
import { CLUSTER_CLIENTS } from '../support/redis-clients.js';
import { startRedisCluster, type RedisCluster } from '../support/servers/redis-cluster.js';
import type { ClusterReplica } from '../support/servers/redis-cluster-replica.js';
import type { RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const note = failoverTable();
const LOST = 10;
const PATIENT = { timeout: 30_000 };
const ROUNDS = 4;
/** A replica takes the place of its primary only when it is told to, and the other nodes serve what they have. */
const NOBODY_STEPS_IN = { 'cluster-replica-no-failover': 'yes', 'cluster-require-full-coverage': 'no' };

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

interface Site {
  readonly cluster: RedisCluster;
  /** The node that has the namespace. */
  readonly primary: RedisServer;
  readonly replica: ClusterReplica;
  readonly stores: Readonly<Record<string, Store>>;
}

async function site(settings: Readonly<Record<string, string>> = {}): Promise<Site> {
  const cluster = await startRedisCluster(settings);
  endings.push(() => cluster.remove());
  const owner = await cluster.ownerOf(await cluster.slotOf(keysOf('default')[0] ?? ''));
  const replica = await cluster.addReplica(owner);
  const stores: Record<string, Store> = {
    'a url': await openRedis(cluster.url, { clock }),
    'a url, by ioredis': await byIoRedis(cluster.url),
  };
  for (const [kind, make] of Object.entries(CLUSTER_CLIENTS)) {
    const given = await make(cluster.ports);
    endings.push(() => given.close());
    stores[kind] = await openRedis(undefined, { clock, client: given.client });
  }
  endings.push(() => Promise.all(Object.values(stores).map((store) => store.close())));
  return { cluster, primary: cluster.servers[owner] as RedisServer, replica, stores };
}
/** As a url is opened where only ioredis is installed. */
async function byIoRedis(url: string, name = 'default'): Promise<Store> {
  const address = parseRedisUrl(url);
  const connections = new OwnConnections(address, (await loadIoRedis()) as never, clock);
  await connections.open();
  const { replicas } = address;
  const namespace = new Namespace(new Link(connections, { clock, replicas, awake: true, isOurs: true }), name, false);
  await namespace.open();
  return new RedisStore(namespace, clock);
}
/** A namespace of another node. */
async function nameElsewhere(cluster: RedisCluster, than: RedisServer): Promise<string> {
  for (const name of ['one', 'two', 'three', 'four', 'five', 'six']) {
    const owner = await cluster.ownerOf(await cluster.slotOf(keysOf(name)[0] ?? ''));
    if (cluster.servers[owner] !== than) return name;
  }
  throw new Error('all of them are on one node');
}
/** Asks until it is answered; what it is told meanwhile may be tried again (A11). */
async function afterFailover<T>(call: () => Promise<T>): Promise<T> {
  let result: T | undefined;
  const ask = (): Promise<string | undefined> =>
    call().then(
      (value) => void (result = value),
      (error: unknown) => {
        expect(error).toMatchObject({ name: 'LeaseError', retryable: true });
        return (error as LeaseError).code;
      },
    );
  await expect.poll(ask, PATIENT).toBeUndefined();
  return result as T;
}
async function isStanding(store: Store, { id, epoch }: Lease): Promise<boolean> {
  const order = { id, epoch, ttlMs: 60_000, requestId: clock.randomText(), callerWall: clock.wall() };
  return (await store.renew([order])).results[0]?.outcome === 'renewed';
}

describe.skipIf(isSkipped('redis'))('a node of a Redis cluster that is replaced by its replica', () => {
  test('S2, A11: what was not replicated is lost, no epoch comes twice, and every client goes on', async () => {
    const { primary, replica, stores } = await site();
    const clients = Object.entries(stores);
    const leases: Record<string, { kept: Lease; lost: Lease[] }> = {};
    for (const [kind, store] of clients) {
      leases[kind] = { kept: await grant(store, clock, `${kind}/kept`, { ttlMs: 60_000 }), lost: [] };
    }
    await replica.caughtUp();
    await replica.holdReplication();
    for (const [kind, store] of clients) {
      for (let i = 0; i < LOST; i += 1) {
        leases[kind]?.lost.push(await grant(store, clock, `${kind}/lost/${i}`, { ttlMs: 60_000 }));
      }
    }
    const before = Math.max(...Object.values(leases).flatMap(({ lost }) => lost.map(({ epoch }) => epoch)));
    await primary.stop('SIGKILL');
    await replica.takeOver('TAKEOVER');
    const drawn: number[] = [];
    for (const [kind, store] of clients) {
      const next = await afterFailover(() => grant(store, clock, `${kind}/lost/0`, { ttlMs: 60_000 }));
      drawn.push(next.epoch);
      const { kept, lost } = leases[kind] as { kept: Lease; lost: Lease[] };
      const standing = await Promise.all(lost.map((lease) => isStanding(store, lease)));
      const gone = standing.filter((stands) => !stands).length;
      const stay = (await isStanding(store, kept)) ? 1 : 0;
      expect([kind, stay, gone]).toEqual([kind, 1, LOST]);
      note({ what: 'node, replica behind', client: kind, kept: stay, lost: gone, before, after: next.epoch });
    }
    expect(Math.min(...drawn)).toBeGreaterThan(before);
    expect(drawn).toEqual([...new Set(drawn)].sort((a, b) => a - b));
  });

  test('A11, A8, S9: while nobody is in its place that may be asked again; who waits and who watches goes on', async () => {
    const { cluster, primary, replica, stores } = await site(NOBODY_STEPS_IN);
    const elsewhere = await nameElsewhere(cluster, primary);
    const kinds = Object.keys(stores);
    const holder = await connect(stores['a url'], { services: 'off', ttl: '2m' });
    endings.push(() => holder.shutdown().catch(() => undefined));
    const held = await holder.acquire('door');
    const after = (await holder.history({ limit: 1 })).items[0]?.id ?? '';
    const [waiting, served, told] = [[] as Promise<void>[], [] as string[], {} as Record<string, string[]>];
    for (const kind of kinds) {
      const leases = await connect(stores[kind], { services: 'off', owner: kind });
      endings.push(() => leases.shutdown().catch(() => undefined));
      const seen: string[] = (told[kind] = []);
      const stopping = new AbortController();
      endings.push(() => stopping.abort());
      waiting.push(
        leases.withLease('door', { wait: '2m' }, async () => void served.push(kind)),
        (async () => {
          for await (const { type } of leases.watch({ resource: 'door', after, signal: stopping.signal })) {
            seen.push(type);
            if (seen.filter((one) => one === 'lease.released').length > kinds.length) break;
          }
        })(),
      );
    }
    const all = Promise.all(waiting);
    all.catch(() => undefined); // awaited below
    await expect.poll(async () => (await holder.show('door')).queue.length, PATIENT).toBe(kinds.length);
    await replica.caughtUp();
    await primary.stop('SIGKILL');
    const refused = async ([kind, store]: [string, Store]): Promise<void> => {
      const rounds = kind === 'redis 6' ? 1 : ROUNDS; // that library keeps each in its queue for 5 s
      for (let i = 0; i < rounds; i += 1) {
        const message = expect.not.stringContaining('()') as string; // it says what failed
        const unavailable = { code: 'STORE_UNAVAILABLE', retryable: true, message };
        await expect(store.time(), kind).rejects.toMatchObject(unavailable);
      }
    };
    await Promise.all(Object.entries(stores).map(refused));
    for (let i = 0; i < ROUNDS; i += 1) {
      await (await byIoRedis(cluster.url, elsewhere)).close();
      await (await openRedis(cluster.url, { clock, namespace: elsewhere })).close();
    }
    await replica.takeOver('TAKEOVER');
    await expect.poll(async () => (await held.release()).outcome, PATIENT).not.toBe('unknown');
    await all;
    expect(served.toSorted()).toEqual(kinds.toSorted());
    for (const kind of kinds) expect(told[kind]?.filter((type) => type === 'events.lost')).toHaveLength(1);
  });

  test.each(['FORCE', 'by themselves'] as const)(
    'S2, S7, Q3: managers hold what they held and go on taking turns, and the node that comes back changes nothing: %s',
    async (how) => {
      const { cluster, primary, replica, stores } = await site();
      const members: { kind: string; leases: Holdfast; drawn: number[] }[] = [];
      for (const [kind, store] of Object.entries(stores)) {
        const leases = await connect(store, { services: 'off', ttl: '20s' });
        endings.push(() => leases.shutdown().catch(() => undefined));
        members.push({ kind, leases, drawn: [] });
      }
      const steady = await Promise.all(members.map(({ kind, leases }) => leases.acquire(`steady/${kind}`)));
      await replica.caughtUp();
      const over = new AbortController();
      const workers = members.map(async ({ leases, drawn }) => {
        while (!over.signal.aborted) {
          const lease = await leases.acquire('door', { wait: '60s', ttl: '5s' });
          drawn.push(lease.epoch);
          await lease.release();
        }
      });
      const broken = Promise.all(workers);
      broken.catch(() => undefined); // awaited below
      const eachGoesOn = async (): Promise<void> => {
        const turns = members.map(({ drawn }) => drawn.length + 3);
        const all = expect
          .poll(() => members.every(({ drawn }, i) => drawn.length >= (turns[i] ?? 0)), PATIENT)
          .toBe(true);
        await Promise.race([all, broken]);
      };
      await eachGoesOn();
      const before = Math.max(...members.flatMap(({ drawn }) => drawn));
      await primary.stop('SIGKILL');
      const goneAt = members.map(({ drawn }) => drawn.length);
      if (how !== 'by themselves') await replica.takeOver(how);
      await eachGoesOn();
      await primary.start();
      await expect.poll(() => cluster.roleOf(primary), PATIENT).toBe('slave');
      await eachGoesOn();
      over.abort();
      await broken;
      const kept = await Promise.all(steady.map((lease) => lease.tryRenew()));
      for (const [i, { kind, drawn }] of members.entries()) {
        expect(drawn).toEqual([...drawn].sort((a, b) => a - b));
        const after = drawn.find((epoch, at) => at >= (goneAt[i] ?? 0) && epoch > before) ?? 0;
        const [stay, gone] = kept[i] ? [1, 0] : [0, 1];
        note({ what: `node, ${how}`, client: kind, kept: stay, lost: gone, before, after });
      }
      expect(kept).toEqual(kept.map(() => true));
      const all = members.flatMap(({ drawn }) => drawn);
      expect(new Set(all).size).toBe(all.length);
    },
  );
});
