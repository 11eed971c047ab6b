// A8, H1: `leases.watch()` over Redis while its connections are cut, swallowed, or its server is another. What was written stands
// in the log, so a watcher sees every event once and in order, whatever became of its connections; and where the log was cut
// off before it had read it, it is told so by one `events.lost` and goes on with the oldest there is.
import { createClient } from 'redis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/connect.js';
import type { LeaseEvent } from '../../src/domain/events.js';
import type { Holdfast } from '../../src/holdfast.js';
import { openRedis } from '../../src/stores/redis/index.js';
import { keysOf } from '../../src/stores/redis/keys.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { SINGLE_CLIENTS } from '../support/redis-clients.js';
import { startCutProxy, type CutProxy } from '../support/servers/cut-proxy.js';
import { startRedis, type RedisOptions, type RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const [, , , , , , LOG = ''] = keysOf('default');
const EVENTS = 150;
const CUT_EVERY = 25;
const CUT_AFTER = 12;
const TEN_SECONDS = { timeout: 10_000 };

interface Site {
  readonly server: RedisServer;
  readonly proxy: CutProxy;
  /** Past the proxy. */
  readonly worker: Holdfast;
  readonly truth: Store;
  /** Through it, by url or over the caller's client. */
  readonly watcher: Holdfast;
}

async function joined(url: string | undefined, client?: unknown): Promise<{ leases: Holdfast; store: Store }> {
  const store = await openRedis(url, { clock, client });
  const leases = await connect(store, { services: 'off' });
  onTestFinished(async () => {
    await leases.shutdown().catch(() => undefined);
    await store.close();
  });
  return { leases, store };
}

async function site(kind = 'a url', options: RedisOptions = {}): Promise<Site> {
  const server = await startRedis(options);
  onTestFinished(() => server.remove());
  const proxy = await startCutProxy(server.port);
  onTestFinished(() => proxy.close());
  const given = await SINGLE_CLIENTS[kind]?.(proxy.port);
  onTestFinished(() => given?.close());
  const watching = await joined(given === undefined ? `redis://127.0.0.1:${proxy.port}` : undefined, given?.client);
  const working = await joined(server.url);
  return { server, proxy, worker: working.leases, truth: working.store, watcher: watching.leases };
}

/** What it has seen grows in `seen`; `stop` ends it, or rejects with what ended it too soon. */
function watch(watcher: Holdfast, after: string): { seen: LeaseEvent[]; stop: () => Promise<void> } {
  const [seen, stopping]: [LeaseEvent[], AbortController] = [[], new AbortController()];
  const watching = (async () => {
    for await (const event of watcher.watch({ prefix: 'watched', after, signal: stopping.signal })) seen.push(event);
  })();
  watching.catch(() => undefined); // `stop` tells of it
  const stop = async (): Promise<void> => {
    stopping.abort();
    await watching;
  };
  onTestFinished(() => stop().catch(() => undefined));
  return { seen, stop };
}

/** A position before all that is watched: a watch from now on begins when it is answered. */
async function positionOf(worker: Holdfast): Promise<string> {
  await take(worker, 'before');
  return (await worker.history({ limit: 1 })).items[0]?.id ?? '';
}
/** Two events, one epoch. */
async function take(worker: Holdfast, name: string): Promise<number> {
  const lease = await worker.acquire(name, { wait: '10s' });
  await lease.release();
  return lease.epoch;
}
async function takeMany(worker: Holdfast, count: number): Promise<number[]> {
  const epochs: number[] = [];
  for (let i = 0; i < count; i += 1) epochs.push(await take(worker, `watched/${i % 7}`));
  return epochs;
}
const story = (epochs: readonly number[]): string[] =>
  epochs.flatMap((epoch) => [`lease.acquired ${epoch}`, `lease.released ${epoch}`]);
const told = (seen: readonly LeaseEvent[]): string[] =>
  seen.map(({ type, epoch }) => (type === 'events.lost' ? type : `${type} ${epoch}`));

describe.skipIf(isSkipped('redis'))('a watcher of a Redis namespace', () => {
  test.each(['a url', 'redis 6', 'ioredis 5', 'ioredis 6'])(
    'A8, H1, Q3: whose connections are cut again and again sees each event once, in order: through %s',
    async (kind) => {
      const { proxy, worker, watcher } = await site(kind);
      const { seen, stop } = watch(watcher, await positionOf(worker));
      const drawn: number[] = [];
      for (let i = 0; i < EVENTS; i += 1) {
        drawn.push(await take(worker, `watched/${i % 7}`));
        if (i % CUT_EVERY !== CUT_AFTER) continue;
        const { taken } = proxy;
        proxy.cut();
        await expect.poll(() => proxy.taken, TEN_SECONDS).toBeGreaterThan(taken); // it is back, to be cut again
      }
      await expect.poll(() => seen.length, TEN_SECONDS).toBe(2 * EVENTS);
      await stop();
      expect(told(seen)).toEqual(story(drawn));
    },
  );

  test.each(['a url', 'ioredis 5'])(
    'A8, H1, S15: a page of the log that was lost on its way is asked for again: through %s',
    async (kind) => {
      const { proxy, worker, watcher } = await site(kind);
      const { seen, stop } = watch(watcher, await positionOf(worker));
      const drawn = await takeMany(worker, 3);
      await expect.poll(() => seen.length, TEN_SECONDS).toBe(6);
      for (let round = 0; round < 3; round += 1) {
        const asked = proxy.bytesFromClients;
        proxy.blackHole('answers');
        drawn.push(...(await takeMany(worker, 5)));
        await expect.poll(() => proxy.bytesFromClients, TEN_SECONDS).toBeGreaterThan(asked); // its answer goes nowhere
        proxy.heal();
        await expect.poll(() => seen.length, TEN_SECONDS).toBe(2 * drawn.length);
      }
      await stop();
      expect(told(seen)).toEqual(story(drawn));
    },
  );

  test('A8, H1: what the cap cut off while it was away is one events.lost, then the oldest there is', async () => {
    const { server, proxy, worker, truth, watcher } = await site();
    const { seen, stop } = watch(watcher, await positionOf(worker));
    const before = await takeMany(worker, 5);
    await expect.poll(() => seen.length, TEN_SECONDS).toBe(10);
    proxy.newConnections('refuse');
    proxy.cut();
    const away = await takeMany(worker, 10);
    await trim(server, 6);
    const kept = await rowsOf(truth);
    expect(kept).toEqual(story(away).slice(-6));
    const late = await takeMany(worker, 2);
    proxy.newConnections('pass');
    await expect.poll(() => seen.length, TEN_SECONDS).toBe(10 + 1 + kept.length + 4);
    await stop();
    expect(told(seen)).toEqual([...story(before), 'events.lost', ...kept, ...story(late)]);
    expect(seen[10]?.data?.['oldest']).toEqual(expect.any(String));
    expect(seen[10]?.sentence).toContain('are gone');
  });

  test('A8, H1, H4: a pruner takes nothing from a watcher that had read it, and what it had not is events.lost', async () => {
    const { proxy, server, worker, truth, watcher } = await site('a url', { stepClock: true });
    const { seen, stop } = watch(watcher, await positionOf(worker));
    const before = await takeMany(worker, 5);
    await expect.poll(() => seen.length, TEN_SECONDS).toBe(10);
    server.clock.step(60_000);
    await truth.prune({ olderThanMs: 30_000, limit: 1_000 });
    const between = await takeMany(worker, 2);
    await expect.poll(() => seen.length, TEN_SECONDS).toBe(14);
    proxy.newConnections('refuse');
    proxy.cut();
    await takeMany(worker, 3);
    server.clock.step(60_000);
    await truth.prune({ olderThanMs: 30_000, limit: 1_000 });
    const after = await takeMany(worker, 2);
    proxy.newConnections('pass');
    await expect.poll(() => seen.length, TEN_SECONDS).toBe(19);
    await stop();
    expect(told(seen)).toEqual([...story(before), ...story(between), 'events.lost', ...story(after)]);
  });

  test('A8, H1, S2: a server that comes back as another incarnation is one events.lost, and nothing after it is left out', async () => {
    const { server, worker, watcher } = await site('a url', {
      settings: { appendonly: 'yes', appendfsync: 'always' },
    });
    const { seen, stop } = watch(watcher, await positionOf(worker));
    const before = await takeMany(worker, 3);
    await expect.poll(() => seen.length, TEN_SECONDS).toBe(6);
    await server.stop('SIGKILL');
    await server.start();
    const after = await takeMany(worker, 3);
    expect(Math.min(...after)).toBeGreaterThan(Math.max(...before));
    await expect.poll(() => told(seen).slice(-6), TEN_SECONDS).toEqual(story(after));
    await stop();
    const [lost, ...rest] = told(seen).slice(6);
    expect(lost).toBe('events.lost');
    expect(rest).toEqual([...story(before), ...story(after)]); // the log survived: it is told again, from the oldest
  });
});

/** As the cap does it, which only cuts at about a million. */
async function trim(server: RedisServer, left: number): Promise<void> {
  const admin = createClient({ url: server.url });
  await admin.connect();
  await admin.xTrim(LOG, 'MAXLEN', left);
  admin.destroy();
}
async function rowsOf(store: Store): Promise<string[]> {
  const page = await store.events({ prefix: 'watched', limit: 1_000 });
  return page.outcome === 'rows' ? page.rows.map(({ type, epoch }) => `${type} ${epoch}`) : [];
}
