// The connection for hints while a server takes connections and says nothing: one that is not there in time is given up with its socket,
// also when the link is closed meanwhile, and whoever listens is told once that nothing is heard. The clock is fake, sockets are real.
import { once } from 'node:events';
import { Cluster, Redis } from 'ioredis';
import { createClient, createCluster } from 'redis';
import { afterEach, describe, expect, test } from 'vitest';
import { loadIoRedis, loadNodeRedis } from '../../src/stores/redis/clients/own-client.js';
import { OwnConnections } from '../../src/stores/redis/connections.js';
import type { RedisLink } from '../../src/stores/redis/link.js';
import { Link, openLink } from '../../src/stores/redis/open-link.js';
import { parseRedisUrl } from '../../src/stores/redis/redis-url.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { startCutProxy, type CutProxy } from '../support/servers/cut-proxy.js';
import { startRedisCluster } from '../support/servers/redis-cluster.js';
import { startRedis } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const host = '127.0.0.1';
const ATTEMPTS = 4;

/** What is to be ended after the test, newest first. */
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});
async function proxied(ports: readonly number[]): Promise<CutProxy[]> {
  const proxies = await Promise.all(ports.map((port) => startCutProxy(port)));
  endings.push(() => Promise.all(proxies.map((proxy) => proxy.close())));
  return proxies;
}
const sum = (proxies: readonly CutProxy[], what: 'open' | 'taken'): number =>
  proxies.reduce((count, proxy) => count + proxy[what], 0);

async function ownLink(load: typeof loadIoRedis, port: number, clock: FakeClock): Promise<RedisLink> {
  const address = parseRedisUrl(`redis://${host}:${port}`);
  const connections = new OwnConnections(address, (await load()) as never, clock);
  await connections.open();
  return new Link(connections, { clock, replicas: address.replicas, awake: false, isOurs: true });
}

type Open = (ports: readonly number[], nodes: readonly number[], clock: FakeClock) => Promise<RedisLink>;
const ONE: Readonly<Record<string, Open>> = {
  'a url and redis': ([port = 0], _nodes, clock) => ownLink(loadNodeRedis, port, clock),
  'a url and ioredis': ([port = 0], _nodes, clock) => ownLink(loadIoRedis, port, clock),
  'a client of redis': async ([port = 0], _nodes, clock) => {
    const client = createClient({ url: `redis://${host}:${port}` });
    endings.push(() => client.destroy());
    await client.connect();
    return openLink(undefined, { clock, client });
  },
  'a client of ioredis': async ([port = 0], _nodes, clock) => {
    const client = new Redis(port, host);
    endings.push(() => client.disconnect());
    return openLink(undefined, { clock, client });
  },
};
const SEVERAL: Readonly<Record<string, Open>> = {
  'a cluster of redis': async (ports, nodes, clock) => {
    const client = createCluster({
      rootNodes: ports.map((port) => ({ url: `redis://${host}:${port}` })),
      nodeAddressMap: Object.fromEntries(nodes.map((node, i) => [`${host}:${node}`, { host, port: ports[i] ?? 0 }])),
    });
    endings.push(() => client.destroy());
    await client.connect();
    return openLink(undefined, { clock, client });
  },
  'a cluster of ioredis': async (ports, nodes, clock) => {
    const client = new Cluster(
      ports.map((port) => ({ host, port })),
      { natMap: Object.fromEntries(nodes.map((node, i) => [`${host}:${node}`, { host, port: ports[i] ?? 0 }])) },
    );
    endings.push(() => client.disconnect());
    await once(client, 'ready');
    return openLink(undefined, { clock, client });
  },
};

/** Attempt after attempt, none of which is answered: there is never more than the one under way, and none when the link is closed. */
async function listenToNobody(open: Open, nodes: readonly number[]): Promise<void> {
  const clock = new FakeClock();
  const proxies = await proxied(nodes);
  const ports = proxies.map(({ port }) => port);
  const link = await open(ports, nodes, clock);
  endings.push(() => link.close());
  const before = sum(proxies, 'open');
  for (const proxy of proxies) proxy.newConnections('swallow');
  const told: string[] = [];
  link.subscribe('wake', {
    message: () => undefined,
    down: ({ code }) => void told.push(`down ${code}`),
    up: () => void told.push('up'),
  });
  const attempts = sum(proxies, 'taken') + ATTEMPTS;
  await expect
    .poll(() => clock.advance(1_000).then(() => sum(proxies, 'taken')), { timeout: 20_000 })
    .toBeGreaterThanOrEqual(attempts);
  await expect.poll(() => sum(proxies, 'open')).toBeLessThanOrEqual(before + 1);
  expect(told).toEqual(['down STORE_UNAVAILABLE']);
  const taken = sum(proxies, 'taken');
  await link.close();
  await expect.poll(() => sum(proxies, 'open')).toBeLessThanOrEqual(before);
  expect(sum(proxies, 'taken')).toBe(taken);
}

describe.skipIf(isSkipped('redis'))('Q3: hints of a Redis that says nothing any more', () => {
  test.each(Object.entries(ONE))('through %s: sockets do not pile up', async (_kind, open) => {
    const server = await startRedis();
    endings.push(() => server.remove());
    await listenToNobody(open, [server.port]);
  });

  test.each(Object.entries(SEVERAL))('through %s: sockets do not pile up', async (_kind, open) => {
    const cluster = await startRedisCluster();
    endings.push(() => cluster.remove());
    await listenToNobody(open, cluster.ports);
  });

  test('who comes to listen while it is down is told so, and everybody when it is back', async () => {
    const server = await startRedis();
    endings.push(() => server.remove());
    const [proxy] = (await proxied([server.port])) as [CutProxy];
    const clock = new FakeClock();
    const link = await ownLink(loadNodeRedis, proxy.port, clock);
    endings.push(() => link.close());
    const told: string[] = [];
    const listen = (who: string): (() => void) =>
      link.subscribe('wake', {
        message: () => undefined,
        down: () => void told.push(`${who} down`),
        up: () => void told.push(`${who} up`),
      });
    listen('first');
    await expect.poll(() => told).toEqual(['first up']);
    proxy.newConnections('refuse');
    proxy.cut();
    await expect.poll(() => told).toEqual(['first up', 'first down']);
    for (let i = 0; i < 5; i += 1) await clock.advance(5_000);
    listen('second');
    await expect.poll(() => told.slice(2)).toEqual(['second down']);
    proxy.heal();
    await expect.poll(() => clock.advance(1_000).then(() => told.slice(3))).toEqual(['first up', 'second up']);
  });
});
