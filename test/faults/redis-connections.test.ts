// Bad days of one Redis server as the link sees them: the right code, no hang, usable again when the server is, and never a
// password in a message. Clocks are fake where only time has to pass; servers and sockets are real.
import { createHash } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { createClient, createClientPool } from 'redis';
import { Redis } from 'ioredis';
import { Redis as Redis6 } from 'ioredis6';
import { afterEach, describe, expect, test } from 'vitest';
import { loadIoRedis, loadNodeRedis } from '../../src/stores/redis/clients/own-client.js';
import { OwnConnections } from '../../src/stores/redis/connections.js';
import type { RedisLink, Script } from '../../src/stores/redis/link.js';
import { Link, openLink } from '../../src/stores/redis/open-link.js';
import { parseRedisUrl } from '../../src/stores/redis/redis-url.js';
import { systemClock } from '../../src/system-clock.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import type { Clock } from '../../src/domain/clock.js';
import { SINGLE_CLIENTS } from '../support/redis-clients.js';
import { startCutProxy } from '../support/servers/cut-proxy.js';
import { startRedis, type RedisServer } from '../support/servers/redis-server.js';
import { freePort, isSkipped } from '../support/servers/server-process.js';
import { makeCertificate } from '../support/servers/tls-certificate.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const clock = systemClock();
const says = (pattern: RegExp): string => expect.stringMatching(pattern) as string;
const source = '#!lua\nreturn redis.call("INCR", KEYS[1])';
const count: Script = { name: 'count', source, sha: createHash('sha1').update(source).digest('hex') };
const increment = (link: RedisLink): Promise<unknown> => link.run(count, ['{k}'], []);

/** What is to be ended after the test, newest first. */
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});
async function server(settings: Readonly<Record<string, string>> = {}): Promise<RedisServer> {
  const started = await startRedis({ settings });
  endings.push(() => started.remove());
  return started;
}
async function linked(url: string | undefined, client?: unknown): Promise<RedisLink> {
  const link = await openLink(url, { clock, client });
  endings.push(() => link.close());
  return link;
}
const DRIVERS = { redis: loadNodeRedis, ioredis: loadIoRedis };
async function linkedThrough(driver: keyof typeof DRIVERS, url: string, by: Clock = clock): Promise<RedisLink> {
  const connect = await DRIVERS[driver]();
  if (connect === undefined) throw new Error(`${driver} is not installed`);
  const address = parseRedisUrl(url);
  const connections = new OwnConnections(address, connect, by);
  await connections.open();
  const link = new Link(connections, { clock: by, replicas: address.replicas, awake: true, isOurs: true });
  endings.push(() => link.close());
  return link;
}
const drivers = Object.keys(DRIVERS) as (keyof typeof DRIVERS)[];

describe.skipIf(isSkipped('redis'))('Redis on bad days', () => {
  describe.each(drivers)('through a url and %s', (driver) => {
    test('A11: nobody there, an unknown host, a server that is no Redis', async () => {
      const nobody = linkedThrough(driver, `redis://127.0.0.1:${await freePort()}`);
      await expect(nobody).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        retryable: true,
        message: says(/start the server/),
      });
      const unknown = linkedThrough(driver, 'redis://no-such-host.invalid');
      await expect(unknown).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', details: { executed: false } });
      const other = createServer((socket) =>
        socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      );
      endings.push(() => other.close());
      const port = await new Promise<number>((resolve) => {
        other.listen(0, '127.0.0.1', () => resolve((other.address() as AddressInfo).port));
      });
      const noRedis = linkedThrough(driver, `redis://127.0.0.1:${port}`);
      await expect(noRedis).rejects.toMatchObject({ name: 'LeaseError', code: 'STORE_UNAVAILABLE' });
    });

    test('A11: a wrong, a missing and a needless password, none of them shown', async () => {
      const { port } = await server({ requirepass: 'open-sesame' });
      await linkedThrough(driver, `redis://:open-sesame@127.0.0.1:${port}`);
      for (const url of [
        `redis://:hunter2@127.0.0.1:${port}`,
        `redis://who:hunter2@127.0.0.1:${port}`,
        `redis://127.0.0.1:${port}`,
      ]) {
        const error: unknown = await linkedThrough(driver, url).catch((reason: unknown) => reason);
        expect(error).toMatchObject({ name: 'LeaseError', code: 'UNAUTHORIZED', retryable: false });
        expect(inspect(error, { depth: 9 })).not.toContain('hunter2');
      }
    });

    test('A11: a user without the right is told which', async () => {
      const { port, url } = await server();
      const admin = await linked(url);
      await admin.command('', ['ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all', '-evalsha']);
      const link = await linkedThrough(driver, `redis://app:secret@127.0.0.1:${port}`);
      await expect(increment(link)).rejects.toMatchObject({ code: 'FORBIDDEN', message: says(/evalsha/) });
    });

    test('S15: a server killed inside a call leaves the answer unknown; restarted, it is used again', async () => {
      const redis = await server({ appendonly: 'yes', appendfsync: 'always' });
      const link = await linkedThrough(driver, redis.url);
      expect(await increment(link)).toBe(1);
      redis.freeze();
      const pending = increment(link);
      const outcome = expect(pending).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
      await redis.stop('SIGKILL');
      await outcome;
      await expect(increment(link)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', details: { executed: false } });
      await redis.start();
      await expect.poll(() => increment(link).catch(() => 0), { timeout: 10_000 }).toBeGreaterThan(1);
    });

    test('a black-holed connection is given up after 5 s, and the next call has another', async () => {
      const redis = await server();
      const proxy = await startCutProxy(redis.port);
      endings.push(() => proxy.close());
      const fake = new FakeClock();
      const link = await linkedThrough(driver, `redis://127.0.0.1:${proxy.port}`, fake);
      expect(await increment(link)).toBe(1);
      proxy.blackHole();
      const pending = increment(link);
      const outcome = expect(pending).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
      await fake.advance(5_000);
      await outcome;
      expect(await increment(link)).toBe(2);
    });

    test('a server that takes connections and says nothing is given up on within 5 s', async () => {
      const redis = await server();
      const proxy = await startCutProxy(redis.port);
      endings.push(() => proxy.close());
      proxy.newConnections('swallow');
      const fake = new FakeClock();
      const opening = linkedThrough(driver, `redis://127.0.0.1:${proxy.port}`, fake);
      const outcome = expect(opening).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      await expect.poll(() => proxy.bytesFromClients).toBeGreaterThan(0);
      await fake.advance(5_000);
      await outcome;
    });

    test('Q3: hearing finds a half-open socket within 15 s, says down, comes back and says up', async () => {
      const redis = await server();
      const proxy = await startCutProxy(redis.port);
      endings.push(() => proxy.close());
      const fake = new FakeClock();
      const link = await linkedThrough(driver, `redis://127.0.0.1:${proxy.port}`, fake);
      const told: string[] = [];
      link.subscribe('wake', {
        message: (text) => void told.push(text),
        down: (error) => void told.push(`down ${error.code}`),
        up: () => void told.push('up'),
      });
      await expect.poll(() => told).toEqual(['up']);
      proxy.blackHole();
      for (let second = 0; second < 15 && told.length < 2; second += 1) await fake.advance(1_000);
      expect(told).toEqual(['up', 'down STORE_UNAVAILABLE']);
      await expect.poll(() => fake.advance(1_000).then(() => told)).toEqual(['up', 'down STORE_UNAVAILABLE', 'up']);
      const other = await linked(redis.url);
      await other.command('', ['PUBLISH', 'wake', 'hello']);
      await expect.poll(() => told.at(-1)).toBe('hello');
      proxy.cut();
      await expect.poll(() => told.at(-1)).toBe('down STORE_UNAVAILABLE');
      await expect.poll(() => fake.advance(1_000).then(() => told.at(-1))).toBe('up');
    });

    test('TLS: the right name is taken; a wrong name, an unknown authority and no TLS at all are refused', async () => {
      const folder = temporaryFolder();
      endings.push(() => folder.remove());
      const { authority, certificate, key } = makeCertificate(folder.path, ['DNS:localhost']);
      const tlsPort = String(await freePort());
      const files = { 'tls-cert-file': certificate, 'tls-key-file': key, 'tls-ca-cert-file': authority };
      const redis = await server({ 'tls-port': tlsPort, ...files, 'tls-auth-clients': 'no' });
      const ca = `?tlsCa=${encodeURIComponent(authority)}`;
      const link = await linkedThrough(driver, `rediss://localhost:${tlsPort}${ca}`);
      expect(await increment(link)).toBe(1);
      for (const url of [`rediss://127.0.0.1:${tlsPort}${ca}`, `rediss://localhost:${tlsPort}`]) {
        await expect(linkedThrough(driver, url)).rejects.toMatchObject({
          code: 'STORE_UNAVAILABLE',
          retryable: false,
          message: says(/cannot be trusted/),
        });
      }
      // A server without TLS waits for the rest of what it takes for a command, so only time tells.
      const fake = new FakeClock();
      const proxy = await startCutProxy(redis.port);
      endings.push(() => proxy.close());
      const plain = expect(linkedThrough(driver, `rediss://localhost:${proxy.port}${ca}`, fake)).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
      });
      await expect.poll(() => proxy.bytesFromClients).toBeGreaterThan(0);
      await fake.advance(5_000);
      await plain;
      await expect(linkedThrough(driver, `rediss://localhost:${tlsPort}?tlsCa=/no/such/file`)).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
      });
    });

    test('a primary that becomes a replica is left alone, and used again when it is one no more', async () => {
      const redis = await server();
      const link = await linkedThrough(driver, redis.url);
      expect(await increment(link)).toBe(1);
      const admin = await linked(undefined, await adminOf(redis));
      await admin.command('', ['REPLICAOF', '127.0.0.1', '1']);
      await expect(increment(link)).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: says(/replica/),
        details: { executed: false },
      });
      await expect(linkedThrough(driver, redis.url)).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: says(/replica/),
      });
      await admin.command('', ['REPLICAOF', 'NO', 'ONE']);
      await expect.poll(() => increment(link).catch(() => 0)).toBe(2);
    });
  });

  test('A11: eviction that may throw leases away is refused, also where CONFIG is forbidden', async () => {
    const redis = await server({ 'maxmemory-policy': 'allkeys-lru', maxmemory: '100mb' });
    await expect(linked(redis.url)).rejects.toMatchObject({
      code: 'STORE_INCOMPATIBLE',
      message: says(/maxmemory-policy noeviction/),
    });
    const admin = await adminOf(redis);
    await admin.sendCommand(['ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all', '-config']);
    const restricted = `redis://app:secret@127.0.0.1:${redis.port}`;
    await expect(linked(restricted)).rejects.toMatchObject({ code: 'STORE_INCOMPATIBLE' });
    await admin.sendCommand(['CONFIG', 'SET', 'maxmemory-policy', 'noeviction']);
    const link = await linked(restricted);
    expect(link.facts()).toMatchObject({ maxmemoryPolicy: 'noeviction', appendfsync: undefined });
  });

  test.each(Object.entries(SINGLE_CLIENTS))(
    'S12: the caller’s %s is used again after a restart, and no event escapes',
    async (_kind, make) => {
      const redis = await server({ appendonly: 'yes', appendfsync: 'always' });
      const given = await make(redis.port);
      endings.push(() => given.close());
      const link = await linked(undefined, given.client);
      const told: string[] = [];
      link.subscribe('wake', {
        message: () => undefined,
        down: () => void told.push('down'),
        up: () => void told.push('up'),
      });
      await expect.poll(() => told).toEqual(['up']);
      expect(await increment(link)).toBe(1);
      await redis.stop('SIGKILL');
      await expect.poll(() => told.includes('down')).toBe(true);
      await redis.start();
      await expect.poll(() => increment(link).catch(() => 0), { timeout: 10_000 }).toBeGreaterThan(1);
      await expect.poll(() => told.at(-1), { timeout: 10_000 }).toBe('up');
    },
  );

  test('S15: the caller’s client that queues while its server is gone does not hold up the store', async () => {
    const redis = await server();
    const clients = [new Redis(redis.port, { maxRetriesPerRequest: null }), createClient({ url: redis.url })];
    endings.push(() => (clients[0] as Redis).disconnect());
    endings.push(() => (clients[1] as { destroy(): void }).destroy());
    await (clients[1] as { connect(): Promise<unknown> }).connect();
    const fake = new FakeClock();
    const links: RedisLink[] = [];
    for (const client of clients) links.push(await openLink(undefined, { clock: fake, client }));
    endings.push(() => Promise.all(links.map((link) => link.close())));
    await redis.stop('SIGKILL');
    for (const link of links) {
      const pending = increment(link);
      const outcome = expect(pending).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      await fake.advance(5_000);
      await outcome;
    }
  });

  test('A11: the caller’s client in subscriber mode is refused with what to do', async () => {
    const redis = await server();
    const five = new Redis(redis.port);
    const six = new Redis6(redis.port, { protocol: 2 });
    const two = createClient({ url: redis.url, RESP: 2 });
    endings.push(
      () => five.disconnect(),
      () => six.disconnect(),
      () => two.destroy(),
    );
    await two.connect();
    await Promise.all([five.subscribe('x'), six.subscribe('x'), two.subscribe('x', () => undefined)]);
    for (const client of [five, six, two]) {
      await expect(linked(undefined, client)).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: says(/duplicate\(\)/),
      });
    }
    await five.unsubscribe('x');
    const link = await linked(undefined, five);
    await five.subscribe('x');
    await expect(increment(link)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: says(/subscriber mode/) });
  });

  test('with RESP3 one connection can hear and ask, so a client that hears is taken', async () => {
    const redis = await server();
    const client = createClient({ url: redis.url });
    const six = new Redis6(redis.port);
    endings.push(
      () => six.disconnect(),
      () => client.destroy(),
    );
    await client.connect();
    await Promise.all([client.subscribe('x', () => undefined), six.subscribe('x')]);
    expect(await increment(await linked(undefined, client))).toBe(1);
    expect(await increment(await linked(undefined, six))).toBe(2);
  });

  test('A11: a key prefix, numbers as text, a closed client, a pool and anything else are refused', async () => {
    const redis = await server();
    const prefixed = new Redis(redis.port, { keyPrefix: 'app:' });
    const texts = new Redis(redis.port, { stringNumbers: true });
    const ours = createClient({ url: redis.url, keyPrefix: 'app:' });
    const pool = createClientPool({ url: redis.url });
    endings.push(
      () => prefixed.disconnect(),
      () => texts.disconnect(),
      () => ours.destroy(),
      () => pool.destroy(),
    );
    await Promise.all([ours.connect(), pool.connect()]);
    await expect(linked(undefined, prefixed)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: says(/keyPrefix.*namespace/),
    });
    await expect(linked(undefined, ours)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: says(/keyPrefix/),
    });
    await expect(linked(undefined, texts)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: says(/stringNumbers/),
    });
    await expect(linked(undefined, pool)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: says(/pool/) });
    await expect(linked(undefined, createClient({ url: redis.url }))).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: says(/connect\(\)/),
    });
    for (const odd of [1, null, 'redis', {}, { sendCommand: () => undefined }, new Map()]) {
      await expect(linked(undefined, odd)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    await expect(linked(undefined)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

async function adminOf(redis: RedisServer): Promise<{ sendCommand(args: readonly string[]): Promise<unknown> }> {
  const client = createClient({ url: redis.url });
  endings.push(() => client.destroy());
  await client.connect();
  return client;
}
