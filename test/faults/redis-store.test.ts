// Bad days of a Redis store under the manager: memory full, keys of others, the server frozen, gone, restarted, its clock
// stepped, answers delivered twice. Held leases are judged by their own deadline (S7); everything is usable again afterwards.
import { Redis } from 'ioredis';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createClient } from 'redis';
import { afterEach, describe, expect, test } from 'vitest';
import { connect, type ConnectOptions } from '../../src/connect.js';
import type { LeaseError } from '../../src/domain/errors.js';
import type { Lease } from '../../src/domain/lease.js';
import type { RenewRequest } from '../../src/domain/requests.js';
import type { Holdfast } from '../../src/holdfast.js';
import { openRedis } from '../../src/stores/redis/index.js';
import { systemClock } from '../../src/system-clock.js';
import { ask, acquire, grant } from '../support/ask.js';
import { startCutProxy } from '../support/servers/cut-proxy.js';
import { startRedis, type RedisOptions, type RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const DURABLE = { appendonly: 'yes', appendfsync: 'always' };
const HOUR = 3_600_000;

/** What is to be ended after the test, newest first. */
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});
async function server(options: RedisOptions = {}): Promise<RedisServer> {
  const started = await startRedis(options);
  endings.push(() => started.remove());
  return started;
}
async function opened(url: string | undefined, more: { client?: unknown; namespace?: string } = {}) {
  const store = await openRedis(url, { clock, ...more });
  endings.push(() => store.close());
  return store;
}
async function manager(url: string, options: ConnectOptions = {}): Promise<Holdfast> {
  const leases = await connect(await opened(url), { services: 'off', ...options });
  endings.push(() => leases.shutdown());
  return leases;
}
async function admin(redis: RedisServer) {
  const client = createClient({ url: redis.url });
  endings.push(() => client.destroy());
  await client.connect();
  return client;
}
function renewal({ id, epoch }: Lease, ttlMs: number): RenewRequest {
  return { id, epoch: epoch, ttlMs, requestId: clock.randomText(), callerWall: clock.wall() };
}
async function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'nothing was wrong',
    (error: unknown) => (error as LeaseError).code,
  );
}
const lost = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

describe.skipIf(isSkipped('redis'))('a Redis store on bad days', () => {
  test('A11: at maxmemory nothing new is granted, with the right code; what is held is renewed and given back', async () => {
    const redis = await server();
    const store = await opened(redis.url);
    const lease = await grant(store, clock, 'held', { ttlMs: 20_000 });
    const control = await admin(redis);
    await control.sendCommand(['CONFIG', 'SET', 'maxmemory', '1']);
    const refused = acquire(store, await ask(store, clock, 'new')).catch((error: unknown) => error);
    expect(await refused).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      retryable: true,
      message: expect.stringContaining('maxmemory') as string,
    });
    const renewed = await store.renew([renewal(lease, 30_000)]);
    expect(renewed.results[0]).toMatchObject({ outcome: 'renewed' });
    const ended = await store.end([{ id: lease.id, epoch: lease.epoch, requestId: 'end', why: 'released' }]);
    expect(ended.results[0]).toMatchObject({ outcome: 'released' });
    await control.sendCommand(['CONFIG', 'SET', 'maxmemory', '0']);
    await grant(store, clock, 'new');
  });

  test('A11: a key of another kind is named and left alone; other namespaces are not touched', async () => {
    const redis = await server();
    const control = await admin(redis);
    await control.sendCommand(['RPUSH', 'holdfast:{theirs}:meta', 'x']);
    await control.sendCommand(['SET', 'holdfast:{ours}:rows', 'x']);
    for (const namespace of ['theirs', 'ours']) {
      const opening = opened(redis.url, { namespace }).catch((error: unknown) => error);
      expect(await opening).toMatchObject({
        code: 'STORE_INCOMPATIBLE',
        message: expect.stringContaining(`{${namespace}}`) as string,
      });
    }
    const store = await opened(redis.url);
    await grant(store, clock, 'door');
    await control.sendCommand(['DEL', 'holdfast:{default}:queue']);
    await control.sendCommand(['SET', 'holdfast:{default}:queue', 'x']);
    expect(await codeOf(ask(store, clock, 'door', { join: true }).then((request) => acquire(store, request)))).toBe(
      'STORE_INCOMPATIBLE',
    );
  });

  test('scripts flushed in the middle of everything are given again', async () => {
    const redis = await server();
    const leases = await manager(redis.url);
    const control = await admin(redis);
    for (let round = 0; round < 3; round += 1) {
      const lease = await leases.acquire('door');
      await control.sendCommand(['SCRIPT', 'FLUSH', 'SYNC']);
      await lease.renew();
      await control.sendCommand(['SCRIPT', 'FLUSH', 'SYNC']);
      expect(await lease.release()).toMatchObject({ outcome: 'released' });
    }
  });

  test('Q3, S12: a user without a right to channels takes, waits and gives back: it hears nothing and looks for itself', async () => {
    const redis = await server();
    const control = await admin(redis);
    await control.sendCommand(['ACL', 'SETUSER', 'app', 'on', '>secret', '~*', 'resetchannels', '+@all']);
    const url = `redis://app:secret@127.0.0.1:${redis.port}`;
    const [holder, waiter] = [await manager(url), await manager(url)];
    const held = await holder.acquire('door');
    const waiting = waiter.acquire('door', { wait: '30s' });
    await expect.poll(async () => (await holder.show('door')).queue.length).toBe(1);
    expect(await held.release()).toMatchObject({ outcome: 'released' });
    await (await waiting).release(); // at its next refresh, 3 s at most (Q2)
    const store = await opened(url);
    const told = new Promise<LeaseError>((down) => {
      store.subscribe({ down });
    });
    expect(await told).toMatchObject({ code: 'FORBIDDEN' });
  });

  test('S7: a frozen server takes nothing from the deadline, and thawed it is usable again', async () => {
    const redis = await server();
    const leases = await manager(redis.url, { ttl: 1_000 });
    const lease = await leases.acquire('door');
    redis.freeze();
    const frozenAt = clock.monotonic();
    await lost(lease.signal);
    expect(clock.monotonic() - frozenAt).toBeLessThanOrEqual(1_000);
    expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST' });
    expect(lease.isHeld).toBe(false);
    redis.thaw();
    const next = await leases.acquire('door', { wait: '10s' });
    expect(next.epoch).toBeGreaterThan(lease.epoch);
    await next.release();
  });

  test('S2, S7, S15: a server that is killed and restarted: lost at the deadline, later grants are higher', async () => {
    const redis = await server({ settings: DURABLE });
    const leases = await manager(redis.url, { ttl: 1_000 });
    const before = await leases.acquire('door');
    await redis.stop('SIGKILL');
    const stoppedAt = clock.monotonic();
    await lost(before.signal);
    expect(clock.monotonic() - stoppedAt).toBeLessThanOrEqual(1_000);
    expect(await codeOf(leases.tryAcquire('other'))).toBe('STORE_UNAVAILABLE');
    await redis.start();
    const after = await leases.acquire('door', { wait: '10s' });
    expect(after.epoch).toBeGreaterThan(before.epoch);
    await after.release();
  });

  test('S1, S15: killed inside many calls: each is answered, and none is granted twice', async () => {
    const redis = await server({ settings: DURABLE });
    const leases = await manager(redis.url);
    const names = Array.from({ length: 1_000 }, (_, i) => `crash/${i}`);
    const asked = names.map((name) => leases.acquire(name, { wait: '30s', ttl: '30s' }));
    while (leases.held().length === 0) await nextTurn();
    const before = leases.held().length;
    await redis.stop('SIGKILL');
    await redis.start();
    const held = await Promise.all(asked);
    expect(before).toBeLessThan(names.length); // the others were under way, or had not left
    expect(new Set(held.map(({ epoch }) => epoch)).size).toBe(names.length);
    const { items } = await leases.list({ prefix: 'crash', limit: 1_000 });
    expect(items.map(({ id }) => id).sort()).toEqual(held.map(({ id }) => id).sort());
    await Promise.all(held.map((lease) => lease.release()));
  });

  test('S2: a server that comes back empty grants higher epochs than it ever did', async () => {
    const redis = await server();
    const leases = await manager(redis.url);
    const before = await leases.acquire('door', { renew: 'manual', ttl: '1m' });
    await redis.stop('SIGKILL');
    await redis.start();
    const after = await leases.acquire('door', { wait: '10s' });
    expect(after.epoch).toBeGreaterThan(before.epoch);
    expect(await codeOf(before.renew())).toBe('LEASE_LOST');
    await after.release();
  });

  test('Q3: who waits goes on waiting through a restart, and is served when the holder lets go', async () => {
    const redis = await server({ settings: DURABLE });
    const holder = await manager(redis.url, { ttl: '20s' });
    const waiter = await manager(redis.url);
    const held = await holder.acquire('door');
    const waiting = waiter.acquire('door', { wait: '30s' });
    await expect.poll(async () => (await holder.show('door')).queue.length).toBe(1);
    await redis.stop('SIGKILL');
    await redis.start();
    await expect
      .poll(
        () =>
          holder.show('door').then(
            (view) => view.queue.length,
            () => 0,
          ),
        { timeout: 10_000 },
      )
      .toBe(1);
    expect(held.isHeld).toBe(true);
    await expect.poll(async () => (await held.release()).outcome).not.toBe('unknown');
    const next = await waiting;
    expect(next.epoch).toBeGreaterThan(held.epoch);
    await next.release();
  });

  test('S13: a server clock stepped forward ends leases early, one stepped back revives nothing', async () => {
    const redis = await server({ stepClock: true });
    const store = await opened(redis.url);
    const first = await grant(store, clock, 'door', { ttlMs: 60_000 });
    redis.clock.step(HOUR);
    const { now } = await store.time();
    const second = await grant(store, clock, 'door', { ttlMs: 60_000 });
    expect(second.epoch).toBeGreaterThan(first.epoch);
    redis.clock.step(-2 * HOUR);
    expect((await store.time()).now).toBeGreaterThanOrEqual(now);
    const late = await store.renew([renewal(first, 60_000)]);
    expect(late.results[0]).toMatchObject({ outcome: 'notHeld', status: 'expired' });
    const still = await store.renew([renewal(second, 60_000)]);
    expect(still.results[0]).toMatchObject({ outcome: 'renewed' });
    const other = await grant(store, clock, 'window');
    expect(other.epoch).toBeGreaterThan(second.epoch);
  });

  test('S8, S15: what a client library sends again after a lost answer is granted once', async () => {
    const redis = await server();
    const proxy = await startCutProxy(redis.port);
    endings.push(() => proxy.close());
    const client = new Redis(proxy.port, '127.0.0.1'); // by default it resends what was not answered
    endings.push(() => client.disconnect());
    const store = await opened(undefined, { client });
    const truth = await opened(redis.url);
    await grant(store, clock, 'window'); // the script is known from here on
    const request = await ask(store, clock, 'door');
    proxy.blackHole('answers');
    const granting = acquire(store, request);
    await expect.poll(async () => (await truth.show('door', 0)).holders.length).toBe(1);
    proxy.heal();
    expect(await granting).toMatchObject({ outcome: 'granted', again: true });
    const log = await truth.events({ limit: 100 });
    const rows = log.outcome === 'rows' ? log.rows : [];
    expect(rows.filter(({ type, resource }) => type === 'lease.acquired' && resource === 'door')).toHaveLength(1);
  });

  test('S15: a connection cut inside a call leaves the answer unknown, and repeating the id settles it', async () => {
    const redis = await server();
    const proxy = await startCutProxy(redis.port);
    endings.push(() => proxy.close());
    const store = await opened(`redis://127.0.0.1:${proxy.port}`);
    const truth = await opened(redis.url);
    await grant(store, clock, 'window'); // the script is known from here on
    const request = await ask(store, clock, 'door');
    proxy.blackHole('answers');
    const unknown = acquire(store, request).catch((error: unknown) => error);
    await expect.poll(async () => (await truth.show('door', 0)).holders.length).toBe(1);
    proxy.cut();
    expect(await unknown).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect(await acquire(store, request)).toMatchObject({ outcome: 'granted', again: true });
  });
});
