// The link to a cluster of three, over every kind of client: keys are found, hints are heard from any node, and a script goes on
// while its slot moves, each run whole and exactly once.
import { createHash } from 'node:crypto';
import { setImmediate as immediately } from 'node:timers/promises';
import { Cluster as Cluster5 } from 'ioredis';
import { Cluster as Cluster6 } from 'ioredis6';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadIoRedis } from '../../src/stores/redis/clients/own-client.js';
import { OwnConnections } from '../../src/stores/redis/connections.js';
import { openRedis } from '../../src/stores/redis/index.js';
import { keysOf } from '../../src/stores/redis/keys.js';
import type { RedisLink, Script } from '../../src/stores/redis/link.js';
import { Link, openLink } from '../../src/stores/redis/open-link.js';
import { parseRedisUrl } from '../../src/stores/redis/redis-url.js';
import { systemClock } from '../../src/system-clock.js';
import { commit, lease, peek } from '../support/redis-streams.js';
import { CLUSTER_CLIENTS, SINGLE_CLIENTS, type GivenClient } from '../support/redis-clients.js';
import { startRedisCluster, type RedisCluster } from '../support/servers/redis-cluster.js';
import { freePort, isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const says = (pattern: RegExp): string => expect.stringMatching(pattern) as string;
const source = '#!lua\nredis.call("INCR", KEYS[2]) return tostring(redis.call("INCR", KEYS[1]))';
const count: Script = { name: 'count', source, sha: createHash('sha1').update(source).digest('hex') };

describe.skipIf(isSkipped('redis'))('the link to a Redis cluster', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster();
  });
  afterAll(() => cluster.remove());

  const opened: Record<string, () => Promise<{ link: RedisLink; given?: GivenClient }>> = {
    'a url with three hosts': async () => ({ link: await openLink(cluster.url, { clock }) }),
    'a url with one host, which says that it is of a cluster': async () => ({
      link: await openLink(`redis://127.0.0.1:${cluster.ports[1]}`, { clock }),
    }),
    'a url where only ioredis is installed': async () => {
      const address = parseRedisUrl(cluster.url);
      const connections = new OwnConnections(address, (await loadIoRedis()) as never, clock);
      await connections.open();
      return { link: new Link(connections, { clock, replicas: address.replicas, awake: true, isOurs: true }) };
    },
  };
  for (const [kind, make] of Object.entries(CLUSTER_CLIENTS)) {
    opened[`a cluster of ${kind}`] = async () => {
      const given = await make(cluster.ports);
      return { given, link: await openLink(undefined, { clock, client: given.client }) };
    };
  }

  describe.each(Object.entries(opened))('through %s', (kind, open) => {
    let link: RedisLink;
    let given: GivenClient | undefined;
    beforeAll(async () => {
      ({ link, given } = await open());
    });
    afterAll(async () => {
      await link.close();
      given?.close();
    });

    test('keys of many slots are found, and what is published is heard', async () => {
      const heard: string[] = [];
      let up = (): void => undefined;
      const isUp = new Promise<void>((resolve) => {
        up = resolve;
      });
      link.subscribe(`wake ${kind}`, { message: (text) => void heard.push(text), down: () => undefined, up });
      await isUp;
      for (let index = 0; index < 20; index += 1) {
        const tag = `{${kind}${index}}`;
        expect(await link.run(count, [`${tag}:a`, `${tag}:b`], [])).toBe('1');
        await link.command(`${tag}:a`, ['PUBLISH', `wake ${kind}`, String(index)]);
      }
      await expect.poll(() => heard.length).toBe(20);
      expect(link.facts()).toMatchObject({ cluster: true });
    });

    test('S15: while the slot moves, key by key, every run is whole and happens once', async () => {
      const tag = `{moving ${kind}}`;
      const slot = await cluster.slotOf(`${tag}:a`);
      const from = await cluster.ownerOf(slot);
      await link.run(count, [`${tag}:a`, `${tag}:b`], []);
      let runs = 1;
      const moving = new AbortController();
      const running = (async () => {
        while (!moving.signal.aborted) {
          await link.run(count, [`${tag}:a`, `${tag}:b`], []);
          runs += 1;
        }
      })();
      for (const to of [(from + 1) % 3, (from + 2) % 3]) {
        const before = runs;
        await cluster.moveSlot(slot, to, async () => {
          await immediately(); // half moved, nobody can run: the runs wait inside the link
        });
        await expect.poll(() => runs).toBeGreaterThan(before + 1);
      }
      moving.abort();
      await running;
      expect(await link.command(`${tag}:a`, ['MGET', `${tag}:a`, `${tag}:b`])).toEqual([String(runs), String(runs)]);
    });
  });

  test('N1, N2: a stream goes on while its slot moves, key by key: every number once, none left out', async () => {
    const namespace = 'moving';
    const store = await openRedis(cluster.url, { clock, namespace });
    const slot = await cluster.slotOf(keysOf(namespace)[0] ?? '');
    const from = await cluster.ownerOf(slot);
    const [moving, numbers] = [new AbortController(), [] as number[]];
    const storeNext = async (): Promise<void> => {
      const held = await lease(store, `op-${numbers.length}`);
      await commit(store, held, numbers.length);
      numbers.push(held.first);
    };
    await storeNext();
    const running = (async () => {
      while (!moving.signal.aborted) await storeNext();
    })();
    for (const to of [(from + 1) % 3, from]) {
      const before = numbers.length;
      await cluster.moveSlot(slot, to);
      await expect.poll(() => numbers.length).toBeGreaterThan(before + 1);
    }
    moving.abort();
    await running;
    expect(numbers).toEqual(numbers.map((_, i) => i + 1));
    const stored = (await peek(store)).map(([, , operation]) => operation);
    expect(stored).toEqual(numbers.map((_, i) => i).slice(0, 1_000));
    await store.close();
  });

  describe.each([
    ['ioredis 5', Cluster5],
    ['ioredis 6', Cluster6],
  ] as const)('a cluster of %s that was just made', (_kind, Cluster) => {
    type Dns = (address: string, found: (error: null, address: string) => void) => void;
    const slow: Dns = (_address, found) => void setTimeout(() => found(null, '127.0.0.1'), 100);
    const made = {
      'and looks up the names of its nodes': (): Cluster5 | Cluster6 =>
        new Cluster([{ host: 'redis.internal', port: cluster.ports[0] ?? 0 }], { dnsLookup: slow }),
      'and connects when it is first asked': (): Cluster5 | Cluster6 =>
        new Cluster([{ host: '127.0.0.1', port: cluster.ports[0] ?? 0 }], { lazyConnect: true }),
    };
    test.each(Object.entries(made))('%s: it is waited for', async (_what, make) => {
      const client = make();
      const link = await openLink(undefined, { clock, client });
      expect(await link.run(count, ['{made}:a', '{made}:b'], [])).toMatch(/^\d+$/);
      expect(await link.commandToAll(['PING'])).toEqual(['PONG', 'PONG', 'PONG']);
      await link.close();
      client.disconnect();
    });

    test('A11: where nobody is there it is not waited for, and it keeps none of our listeners', async () => {
      const port = await freePort();
      for (const lazyConnect of [true, false]) {
        const client = new Cluster([{ host: '127.0.0.1', port }], { lazyConnect, clusterRetryStrategy: () => 10 });
        client.on('error', () => undefined);
        const listeners = (): number[] => ['error', 'node error', 'ready'].map((name) => client.listenerCount(name));
        const before = listeners();
        const refused = { code: 'STORE_UNAVAILABLE', retryable: true, message: says(/look at the server/) };
        await expect(openLink(undefined, { clock, client })).rejects.toMatchObject(refused);
        expect(listeners()).toEqual(before);
        client.disconnect();
      }
    });
  });

  test('a client for one server is refused at a cluster, with what to hand in', async () => {
    for (const make of Object.values(SINGLE_CLIENTS)) {
      const given = await make(cluster.ports[0] as number);
      const opening = openLink(undefined, { clock, client: given.client });
      await expect(opening).rejects.toMatchObject({
        code: 'STORE_INCOMPATIBLE',
        message: says(/hand in a cluster client/),
      });
      given.close();
    }
  });
});
