// connect: every option with what it takes and what it refuses, what a manager has without any, and that nothing is
// opened, counted or started where something is wrong.
import { Registry } from 'prom-client';
import { describe, expect, test, vi } from 'vitest';
import { managerSite, watched } from '../test/support/manager-site.js';
import { settled } from '../test/support/service-site.js';
import { connect, type ConnectOptions } from './connect.js';
import { LeaseError } from './domain/errors.js';
import type { StoreListener } from './stores/store.js';
import { MemoryStore } from './stores/memory/memory-store.js';
import { FakeClock } from './testing/fake-clock.js';
import { FaultyStore } from './testing/faulty-store.js';

const QUIET: ConnectOptions = { services: 'off' };

describe('options of connect: what each takes', () => {
  test('namespace: a world of its own', async () => {
    const store = new MemoryStore({ clock: new FakeClock() });
    const [a, b] = [
      await connect(store, { ...QUIET, namespace: 'one' }),
      await connect(store, { ...QUIET, namespace: 'two' }),
    ];
    expect([a.namespace, b.namespace, (await connect(store, QUIET)).namespace]).toEqual(['one', 'two', 'default']);
    await a.acquire('x', { wait: 0 });
    await b.acquire('x', { wait: 0 });
    const own = await connect('memory:', { ...QUIET, namespace: 'own-1' });
    expect(own.namespace).toBe('own-1');
    await own.shutdown();
  });

  test('owner: given, or unique to this instance', async () => {
    const store = new MemoryStore({ clock: new FakeClock() });
    expect((await connect(store, { ...QUIET, owner: 'worker-7' })).owner).toBe('worker-7');
    const [a, b] = [await connect(store, QUIET), await connect(store, QUIET)];
    expect(a.owner).toMatch(new RegExp(`^[A-Za-z0-9.-]+-${process.pid}-[A-Za-z0-9_-]{6}$`));
    expect(a.owner).not.toBe(b.owner);
  });

  test('S14: ttl, wait, renewAt and requestTimeout are the defaults of every acquire', async () => {
    const site = await managerSite({ ttl: '20s', wait: '1s', renewAt: 0.5, requestTimeout: '2s' });
    const lease = await site.leases.acquire('x');
    expect(lease.toJSON().ttlMs).toBe(20_000);
    const waiting = watched(site.leases.acquire('x'));
    await site.pass(1_000);
    expect(waiting.now().error).toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    site.store.forgetCalls();
    site.store.order({ fault: 'loseRequest', calls: 'renew' });
    await site.pass(9_000);
    expect(site.store.count('renew')).toBe(1);
    await site.pass(2_500);
    expect(site.store.count('renew')).toBe(2);
    await connect(site.truth, { ...QUIET, wait: 'forever' });
  });

  test.each([0.3, 0.6, 0.8])('renewAt %d', async (renewAt) => {
    await managerSite({ renewAt, requestTimeout: '1ms' });
  });

  test('services: auto starts them, off starts none', async () => {
    const clock = new FakeClock();
    const auto = await connect(new MemoryStore({ clock }), { clock });
    expect(clock.pendingTimers).toBeGreaterThan(3);
    await auto.shutdown();
    expect(clock.pendingTimers).toBe(0);
    await connect(new MemoryStore({ clock }), { clock, ...QUIET });
    expect(clock.pendingTimers).toBe(0);
  });

  test('migrate: auto and check', async () => {
    for (const migrate of ['auto', 'check'] as const)
      await (await connect('memory:', { ...QUIET, migrate })).shutdown();
  });

  test('O2: metrics: a registry of prom-client is written to', async () => {
    const metrics = new Registry();
    const site = await managerSite({ metrics });
    await site.leases.acquire('x');
    await site.leases.tryAcquire('x');
    const text = await metrics.metrics();
    expect(text).toContain('lease_acquisitions_total{result="success"} 1');
    expect(text).toContain('lease_acquisitions_total{result="conflict"} 1');
    expect(text).toContain('active_leases{status="active"} 1');
    expect(text).not.toContain('"x"');
    await site.leases.shutdown();
    expect(await metrics.metrics()).toContain('active_leases{status="active"} 0');
  });

  test('logger: told what a shutdown does, and by a listener that throws', async () => {
    const lines: string[] = [];
    const note = (_: object, message: string): void => void lines.push(message);
    const logger = { debug: note, info: note, warn: note, error: note };
    const site = await managerSite({ logger });
    await site.leases.acquire('x');
    site.leases.on('lease.acquired', () => {
      throw new Error('no');
    });
    await site.leases.acquire('y');
    await site.leases.shutdown();
    expect(lines).toEqual(expect.arrayContaining(['a listener of events failed', 'shutdown: x is released']));
  });

  test('S19: logger: told when wake-ups are not heard, once, and when they are again', async () => {
    const lines: string[] = [];
    const note = (_: object, message: string): void => void lines.push(message);
    const store = new MemoryStore({ clock: new FakeClock() });
    const subscribe = vi.spyOn(store, 'subscribe');
    const leases = await connect(store, { ...QUIET, logger: { debug: note, info: note, warn: note, error: note } });
    const tell = (say: (listener: StoreListener) => void): void => {
      for (const [listener] of subscribe.mock.calls) say(listener);
    };
    tell((listener) => listener.up?.());
    for (let times = 0; times < 2; times += 1) {
      tell((listener) => listener.down?.(new LeaseError('STORE_UNAVAILABLE', 'gone')));
    }
    tell((listener) => listener.up?.());
    expect(lines).toEqual(['wake-ups are not heard: waiting polls until they are', 'wake-ups are heard again']);
    await leases.shutdown();
  });

  test('clock: time, timers, randomness and ids all come from it', async () => {
    const seen: string[] = [];
    for (let run = 0; run < 2; run += 1) {
      const clock = new FakeClock({ seed: 42 });
      const leases = await connect(new MemoryStore({ clock }), { clock, ...QUIET });
      seen.push(`${(await leases.acquire('x')).id} ${leases.owner}`);
    }
    expect(seen[0]).toBe(seen[1]);
  });

  test('what is given as undefined was not given', async () => {
    const none = ['namespace', 'owner', 'ttl', 'wait', 'renewAt', 'requestTimeout', 'services', 'migrate', 'metrics']
      .concat(['logger', 'clock', 'token', 'schema', 'poolSize', 'poolTimeout', 'listenUrl', 'client'])
      .map((key) => [key, undefined]);
    const leases = await connect('memory:', Object.fromEntries(none) as ConnectOptions);
    expect(leases.namespace).toBe('default');
    await leases.shutdown();
  });
});

describe('options of connect: what each refuses', () => {
  test.each<[unknown, RegExp]>([
    [{ namespace: 'a/b' }, /a namespace is 1 to 64 characters/],
    [{ namespace: '' }, /a namespace is 1 to 64 characters/],
    [{ owner: '' }, /owner is from 1 to 128 bytes/],
    [{ owner: 7 }, /owner must be text/],
    [{ token: 'secret' }, /token is for http: and https: stores: leave it out/],
    [{ ttl: 'soon' }, /ttl takes milliseconds or text/],
    [{ ttl: 249 }, /ttl is from 250ms to 30d/],
    [{ ttl: '31d' }, /ttl is from 250ms to 30d/],
    [{ wait: -1 }, /wait is from 0s to 1d/],
    [{ wait: 'never' }, /wait takes milliseconds/],
    [{ renewAt: 0 }, /renewAt is from 0.3 to 0.8 of the ttl, got 0/],
    [{ renewAt: 1 }, /renewAt is from 0.3 to 0.8/],
    [{ renewAt: NaN }, /renewAt is from 0.3 to 0.8 of the ttl, got NaN/],
    [{ renewAt: 0.29 }, /renewAt is from 0.3 to 0.8/],
    [{ renewAt: 0.81 }, /renewAt is from 0.3 to 0.8/],
    [{ renewAt: '0.5' }, /renewAt is from 0.3 to 0.8/],
    [{ requestTimeout: 0 }, /requestTimeout is from 1ms/],
    [{ requestTimeout: 'x' }, /requestTimeout takes milliseconds/],
    [{ schema: 'public' }, /schema is for PostgreSQL/],
    [{ poolSize: 10 }, /poolSize is for PostgreSQL/],
    [{ poolTimeout: '5s' }, /poolTimeout is for PostgreSQL/],
    [{ listenUrl: 'postgres://x' }, /listenUrl is for PostgreSQL/],
    [{ client: {} }, /client is for PostgreSQL and Redis: leave it out/],
    [{ services: 'on' }, /services is 'auto' or 'off', got "on"/],
    [{ migrate: 'force' }, /migrate is 'auto' or 'check', got "force"/],
    [{ metrics: {} }, /metrics takes a Registry of prom-client/],
    [{ logger: { info: () => undefined } }, /logger must have the methods debug, info, warn and error/],
    [{ clock: {} }, /clock is an object such as systemClock\(\) answers/],
    [{ clock: 5 }, /clock is an object such as systemClock\(\) answers/],
    [{ ttls: 5 }, /unknown option "ttls": known are namespace, owner, ttl/],
    [null, /options are an object, got null/],
    ['fast', /options are an object, got "fast"/],
  ])('%o', async (options, message) => {
    const failed = connect('memory:', options as ConnectOptions);
    await expect(failed).rejects.toThrow(message);
    await expect(failed).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test.each<[string, unknown, RegExp]>([
    ['postgres://h/db', { poolSize: 0 }, /poolSize is from 1 to 1000 connections, got 0/],
    ['postgres://h/db', { poolSize: 2.5 }, /poolSize is from 1 to 1000/],
    ['postgres://h/db', { poolTimeout: 'soon' }, /poolTimeout takes milliseconds/],
    ['postgres://h/db', { poolTimeout: 0 }, /poolTimeout is from 1ms to 10m/],
    ['postgres://h/db', { schema: '' }, /schema must be text that is not empty/],
    ['postgres://h/db', { schema: 5 }, /schema must be text/],
    ['postgres://h/db', { listenUrl: 5 }, /listenUrl must be text/],
    ['postgres://h/db', { client: 'pool' }, /client is a Pool of pg, or a client of redis or ioredis/],
    ['postgres:', { client: {}, poolSize: 5 }, /poolSize is for a pool of our own/],
    ['postgresql://h/db', { token: 'x' }, /token is for http: and https: stores/],
    ['redis://h', { schema: 'x' }, /schema is for PostgreSQL: leave it out/],
    ['rediss://h', { listenUrl: 'x' }, /listenUrl is for PostgreSQL/],
  ])('%s with %o', async (url, options, message) => {
    const failed = connect(url, options as ConnectOptions);
    await expect(failed).rejects.toThrow(message);
    await expect(failed).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('what belongs to a url, beside a store that is given', async () => {
    const store = new MemoryStore({ clock: new FakeClock() });
    await expect(connect(store, { poolSize: 4 })).rejects.toThrow(/poolSize is for PostgreSQL: leave it out/);
  });

  test('S14: durations that do not fit together, with the sum', async () => {
    await expect(connect('memory:', { ttl: '10s', requestTimeout: '2s' })).rejects.toThrow(
      /renewal point 6000 \+ 2 × requestTimeout 2000 \+ backoff 200 \+ margin 1005 = 11205 ms > ttl 10000 ms/,
    );
    await expect(connect('memory:', { ttl: '10s', renewAt: 0.8 })).rejects.toThrow(/do not fit/);
    await (await connect('memory:', { ...QUIET, ttl: '10s', renewAt: 0.6 })).shutdown();
  });

  test('nothing is registered, opened or started where something is wrong', async () => {
    const metrics = new Registry();
    const store = new MemoryStore({ clock: new FakeClock() });
    const info = vi.spyOn(store, 'info');
    await expect(connect(store, { metrics, renewAt: 2 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect([metrics.getMetricsAsArray(), info.mock.calls]).toEqual([[], []]);
  });
});

describe('a store that is given', () => {
  test.each<[unknown, string]>([
    [null, 'null'],
    [5, '5'],
    [{}, 'an object'],
    [() => 1, 'a function'],
  ])('%o is none', async (value, shownAs) => {
    await expect(connect(value as string)).rejects.toThrow(`or a store, got ${shownAs}`);
  });

  test('is left open by a shutdown; one that was opened here is closed', async () => {
    const store = new MemoryStore({ clock: new FakeClock() });
    await (await connect(store, QUIET)).shutdown();
    expect((await store.time()).epoch).toBeGreaterThan(0);
    const own = await connect('memory:', QUIET);
    await own.shutdown();
    await expect(own.now()).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  test('two calls to connect, one more for the first lease', async () => {
    const clock = new FakeClock();
    const store = new FaultyStore(new MemoryStore({ clock }), clock);
    const leases = await connect(store, { clock, ...QUIET });
    expect(store.calls.map(({ call }) => call)).toEqual(['info', 'settings']);
    await leases.acquire('x');
    expect(store.count()).toBe(3);
  });

  test('A11: that does not answer is an error, never a hang', async () => {
    const clock = new FakeClock();
    const store = new FaultyStore(new MemoryStore({ clock }), clock);
    store.order({ fault: 'loseReply', times: Infinity });
    const connected = watched(connect(store, { clock, ...QUIET }));
    await settled();
    await clock.advance(10_000);
    await settled();
    expect(connected.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE', details: { timedOut: true } });
  });

  test('S14: its own least ttl counts', async () => {
    const clock = new FakeClock();
    const store = new MemoryStore({ clock });
    const info = await store.info();
    vi.spyOn(store, 'info').mockResolvedValue({ ...info, capabilities: { ...info.capabilities, minTtlMs: 5_000 } });
    const leases = await connect(store, { clock, ...QUIET });
    await expect(leases.acquire('x', { ttl: '4s' })).rejects.toThrow(/ttl is from 5s/);
    await leases.acquire('x', { ttl: '5s' });
  });

  test('A4: adaptive_ttl_enabled: twice what the work took, within its bounds', async () => {
    const site = await managerSite();
    await site.leases.config.set('adaptive_ttl_enabled', true);
    const first = await site.leases.acquire('job');
    expect(first.toJSON().ttlMs).toBe(30_000);
    await site.pass(20_000);
    await first.release();
    const [given, adaptive] = [
      await site.leases.acquire('job', { ttl: '60s', wait: 0 }),
      watched(site.leases.acquire('job', { ttl: 'adaptive' })),
    ];
    await given.release();
    await site.pass(10);
    const ttlMs = adaptive.now().value?.toJSON().ttlMs ?? 0;
    expect(ttlMs).toBeGreaterThanOrEqual(10_000);
    expect(ttlMs).toBeLessThanOrEqual(900_000);
  });
});
