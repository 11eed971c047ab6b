// Streams on Redis beyond the conformance suite: what a server must have before one is opened (N6), what outlives it, keys
// that neither vanish nor run out, bounds, and every kind of client.
import { createClient } from 'redis';
import { afterEach, describe, expect, test } from 'vitest';
import { connect } from '../../src/index.js';
import { openRedis } from '../../src/stores/redis/index.js';
import { keysOf, settledChannelOf, streamKeysOf } from '../../src/stores/redis/keys.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { grant } from '../support/ask.js';
import { SINGLE_CLIENTS } from '../support/redis-clients.js';
import { onRedis, type Admin } from '../support/redis-site.js';
import { commit, lease, leaseOf, only, peek, STREAM, streamsOf } from '../support/redis-streams.js';
import { startRedis, type RedisOptions, type RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const says = (pattern: RegExp): string => expect.stringMatching(pattern) as string;
const refused = (pattern: RegExp): object => ({ code: 'STORE_INCOMPATIBLE', retryable: false, message: says(pattern) });
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function serve(options: RedisOptions = {}): Promise<RedisServer> {
  const server = await startRedis(options);
  endings.push(() => server.remove());
  return server;
}
async function open(url: string, readOnly = false): Promise<Store> {
  const store = await openRedis(url, { clock, readOnly });
  endings.push(() => store.close());
  return store;
}
async function administrate(url: string): Promise<Admin> {
  const admin: Admin = createClient({ url });
  await admin.connect();
  endings.push(() => admin.destroy());
  return admin;
}

describe.skipIf(isSkipped('redis'))('N6: a stream is opened', () => {
  test('where every write is on disk before it is answered, as the server is set at that moment', async () => {
    const server = await serve({ settings: { appendonly: 'yes', appendfsync: 'everysec' } });
    const streams = streamsOf(await open(server.url));
    const admin = await administrate(server.url);
    await expect(streams.ready({ acceptLoss: false })).rejects.toMatchObject(
      refused(/may lose committed operations \(appendfsync everysec\): CONFIG SET appendfsync always/),
    );
    await admin.configSet('appendfsync', 'always');
    expect((await streams.ready({ acceptLoss: false })).durability).toMatch(/on disk, before it is answered/);
    await admin.configSet('no-appendfsync-on-rewrite', 'yes');
    await expect(streams.ready({ acceptLoss: false })).rejects.toMatchObject(refused(/no-appendfsync-on-rewrite yes/));
  });

  test('without an append-only file only when the loss is accepted, and then it is said', async () => {
    const server = await serve();
    const streams = streamsOf(await open(server.url));
    await expect(streams.ready({ acceptLoss: false })).rejects.toMatchObject(
      refused(/appendonly no.*CONFIG SET appendonly yes.*accept-loss/),
    );
    expect((await streams.ready({ acceptLoss: true })).durability).toMatch(/may be lost \(appendonly no.*accepted/);
    const leases = await connect(server.url, { services: 'off' });
    endings.push(() => leases.shutdown());
    const asked = { operationId: 'a', kind: 'k' };
    await expect(leases.sequence('strict').lease(asked)).rejects.toMatchObject({ code: 'STORE_INCOMPATIBLE' });
    const held = await leases.sequence('loose', { durability: 'accept-loss' }).lease(asked);
    expect(held.number).toBe(1);
    await expect(leases.sequence('strict').lease(asked)).rejects.toMatchObject({ code: 'STORE_INCOMPATIBLE' });
  });

  test('to look at it, recover it or read it no such promise is asked for', async () => {
    const server = await serve();
    const leases = await connect(server.url, { services: 'off' });
    const other = await connect(server.url, { services: 'off' });
    endings.push(
      () => leases.shutdown(),
      () => other.shutdown(),
    );
    const held = await leases.sequence('loose', { durability: 'accept-loss' }).lease({ operationId: 'a', kind: 'k' });
    await held.commit('x');
    expect((await other.streams()).items).toMatchObject([{ name: 'loose', watermark: 1 }]);
    expect(await other.sequence('loose').read(1, 10)).toMatchObject([{ number: 1, operation: 'x' }]);
    expect(await other.sequence('loose').gaps.list()).toEqual([]);
    expect(await other.sequence('loose').trim(1)).toBe(0);
  });

  test('of a server that hides its settings only when the loss is accepted', async () => {
    const server = await serve({ settings: { appendonly: 'yes', appendfsync: 'always' } });
    const admin = await administrate(server.url);
    await admin.sendCommand(['ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all', '-config']);
    const streams = streamsOf(await open(`redis://app:secret@127.0.0.1:${server.port}`));
    await expect(streams.ready({ acceptLoss: false })).rejects.toMatchObject(
      refused(/CONFIG GET is forbidden\): allow config\|get.*accept-loss/),
    );
    expect((await streams.ready({ acceptLoss: true })).durability).toMatch(/not known/);
  });
});

describe.skipIf(isSkipped('redis'))('a stream and its server', () => {
  test('N6, S2, N1: what was committed outlives a crash of the server; numbers go on, epochs are higher', async () => {
    const server = await serve({ settings: { appendonly: 'yes', appendfsync: 'always' } });
    const before = await open(server.url);
    await commit(before, await lease(before, 'a'), { text: 'ü\t\u0000', b: 1, a: 2 });
    const held = await lease(before, 'b');
    await server.stop('SIGKILL');
    await server.start();
    const after = await open(server.url);
    const next = await lease(after, 'c');
    expect(next.first).toBe(3);
    expect(next.epoch).toBeGreaterThan(held.epoch + 1);
    expect(await commit(after, held, 'still held')).toEqual({ outcome: 'committed', first: 2, repeated: false });
    expect(await peek(after)).toEqual([
      [1, 'committed', { text: 'ü\t\u0000', b: 1, a: 2 }],
      [2, 'committed', 'still held'],
    ]);
  });
});

describe.skipIf(isSkipped('redis'))('a stream on one server', () => {
  let server: RedisServer;
  let admin: Admin;
  let store: Store;
  const STREAM_KEYS = streamKeysOf('default');
  onRedis(clock, { stepClock: true }, (site) => {
    ({ server, admin, store } = site);
  });
  const longestMs = async (): Promise<number> => {
    const entries = (await admin.sendCommand(['SLOWLOG', 'GET', '1000'])) as unknown as [number, number, number][];
    await admin.sendCommand(['SLOWLOG', 'RESET']);
    return Math.max(0, ...entries.map(([, , micros]) => micros)) / 1_000;
  };
  const leaseMany = async (stream: string, count: number, ttlMs: number): Promise<void> => {
    for (let at = 0; at < count; at += 250) {
      const requests = Array.from({ length: Math.min(250, count - at) }, (_, i) =>
        leaseOf(`${stream}-${at + i}`, { stream, ttlMs }),
      );
      const { results } = await streamsOf(store).lease(requests);
      expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['leased']));
    }
  };

  test('its keys are made by its first write, none runs out, none becomes empty, and nothing is left of what is forgotten', async () => {
    const looking = await open(server.url, true);
    expect(await peek(looking)).toEqual([]);
    expect((await streamsOf(looking).streams({ limit: 10 })).streams).toEqual([]);
    expect((await admin.keys('*')).sort()).toEqual([...keysOf('default')].sort());
    const large = 'x'.repeat(2_000);
    await commit(store, await lease(store, 'a', { count: 2 }), large, large);
    const held = await lease(store, 'b');
    await streamsOf(store).progress([
      { stream: STREAM, operationId: 'b', epoch: held.epoch, progress: { what: 'partial', work: large } },
    ]);
    await commit(store, held, large);
    const streams = streamsOf(store);
    await streams.read({ stream: STREAM, from: 1, limit: 10, seal: true, watch: false });
    await streams.cursor({ stream: STREAM, reader: 'r', act: 'open' });
    await streams.cursor({ stream: STREAM, reader: 'r', act: 'forget' });
    expect((await streams.trim({ stream: STREAM, before: 4, limit: 10 })).removed).toBe(3);
    server.clock.step(31 * 86_400_000);
    expect((await streams.trim({ stream: STREAM, before: 4, limit: 10 })).forgotten).toBe(2);
    expect((await admin.keys('*')).sort()).toEqual([...STREAM_KEYS].sort());
    for (const key of STREAM_KEYS) expect([key, await admin.ttl(key)]).toEqual([key, -1]);
    const [, spans = '', work = '', ids = '', readers = '', openKey = '', due = '', again = '', places = ''] =
      STREAM_KEYS.slice(8);
    const left = await Promise.all([
      ...[spans, work, ids, readers].map((key) => admin.hLen(key)),
      ...[openKey, due, again].map((key) => admin.zCard(key)),
    ]);
    expect(left).toEqual([1, 1, 1, 1, 1, 1, 1]);
    expect(await admin.zRange(places, 0, -1)).toEqual(['', `s${STREAM}`]);
  });

  test('a key that is not ours is named before anything is written, and leases go on', async () => {
    const spans = STREAM_KEYS[9] ?? '';
    await admin.set(spans, 'mine');
    await expect(lease(store, 'a')).rejects.toMatchObject({ code: 'STORE_INCOMPATIBLE', details: { key: spans } });
    expect((await admin.keys('*')).sort()).toEqual([...keysOf('default'), spans].sort());
    await grant(store, clock, 'a');
    await admin.del(spans);
    expect((await lease(store, 'a')).first).toBe(1);
    const places = STREAM_KEYS[16] ?? '';
    await admin.del(places);
    await admin.set(places, 'mine');
    await expect(streamsOf(store).gaps({ stream: STREAM, after: 0, limit: 1 })).rejects.toMatchObject({
      code: 'STORE_INCOMPATIBLE',
      details: { key: places },
    });
  });

  test('S18, V1: what is due in one stream is claimed at once, however much is due in others; all scripts stay short', async () => {
    await leaseMany('a', 6_000, 100);
    await leaseMany('b', 3, 100);
    await leaseMany('b2', 300, 600_000);
    server.clock.step(1_000);
    await longestMs();
    const order = { owner: 'o', ttlMs: 60_000, gapsToo: false };
    const mine = await streamsOf(store).claim({ ...order, stream: 'b', limit: 2 });
    expect([mine.claimed.map(({ stream, first }) => `${stream} ${first}`), mine.backlog, mine.more]).toEqual([
      ['b 1', 'b 2'],
      3,
      true,
    ]);
    const all = await streamsOf(store).claim({ ...order, limit: 1_000 });
    expect(all.claimed.map(({ first }) => first)).toEqual(Array.from({ length: 1_000 }, (_, i) => i + 1));
    expect([all.backlog, all.more]).toEqual([1_001, true]);
    const none = await streamsOf(store).claim({ ...order, stream: 'b2', limit: 5 });
    expect([none.claimed, none.backlog, none.more]).toEqual([[], 0, false]);
    expect(await longestMs()).toBeLessThan(1_000);
  });

  test('S18, N1: the 100,001st open number is refused with RATE_LIMITED, and there is room when some are settled', async () => {
    const wide = Array.from({ length: 100 }, (_, i) => leaseOf(`w-${i}`, { count: 1_000 }));
    const { results } = await streamsOf(store).lease(wide);
    const [first] = results;
    if (first?.outcome !== 'leased') throw new Error('the first is leased');
    await expect(lease(store, 'more')).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      message: says(/100000 numbers of orders are open/),
    });
    const gone = { stream: STREAM, operationId: 'w-0', epoch: first.epoch, reason: 'none' };
    await streamsOf(store).release([gone]);
    expect((await lease(store, 'more')).first).toBe(100_001);
    expect((await streamsOf(store).streams({ stream: STREAM, limit: 1 })).streams[0]?.open).toBe(99_001);
  });

  test('S17: numbers are exact up to the last safe integer, and end there', async () => {
    await lease(store, 'a');
    const row = await admin.hGet(STREAM_KEYS[8] ?? '', STREAM);
    const last = Number.MAX_SAFE_INTEGER;
    await admin.hSet(STREAM_KEYS[8] ?? '', STREAM, (row ?? '').replace(/^\d+/, String(last - 3)));
    await commit(store, await lease(store, 'b', { count: 2 }), 'x', 'y');
    expect((await lease(store, 'c')).first).toBe(last - 1);
    await expect(lease(store, 'd')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: says(/safe integers/) });
    await streamsOf(store).release([{ stream: STREAM, ...(await lease(store, 'a')), reason: 'none' }]);
    expect(await peek(store, last - 2)).toEqual([[last - 2, 'committed', 'y']]);
  });

  test('N3: a settled number is announced only while somebody waits for it, once a step, with the names', async () => {
    const ear = admin.duplicate();
    await ear.connect();
    endings.push(() => ear.destroy());
    const heard: string[] = [];
    const channel = settledChannelOf('default');
    await ear.subscribe(channel, (message) => void heard.push(message));
    const end = async (word: string): Promise<void> => {
      await admin.publish(channel, word);
      await expect.poll(() => heard.at(-1)).toBe(word);
    };
    await commit(store, await lease(store, 'a'), 1);
    await end('nobody waited');
    const held = [await lease(store, 'b'), await lease(store, 'c')];
    await streamsOf(store).barrier({ stream: STREAM, number: 4, watch: true });
    const commits = held.map(({ operationId, epoch }) => ({ stream: STREAM, operationId, epoch, operations: [1] }));
    await streamsOf(store).commit(commits);
    await end('somebody waited');
    server.clock.step(10_001);
    await commit(store, await lease(store, 'd'), 1);
    await end('it is long ago');
    expect(heard).toEqual(['nobody waited', STREAM, 'somebody waited', 'it is long ago']);
  });

  test('S18: at maxmemory no number is leased, and what was leased is committed, read and trimmed', async () => {
    const held = await lease(store, 'a');
    await admin.configSet('maxmemory', '1mb');
    try {
      const late = leaseOf('b');
      await expect(streamsOf(store).lease([late])).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        retryable: true,
      });
      expect((await commit(store, held, 1)).outcome).toBe('committed');
      const page = await streamsOf(store).read({ stream: STREAM, from: 1, limit: 1, seal: true, watch: true });
      expect([page.items.length, page.seal]).toEqual([1, 1]);
      expect((await streamsOf(store).trim({ stream: STREAM, before: 2, limit: 1 })).removed).toBe(1);
    } finally {
      await admin.configSet('maxmemory', '0');
    }
  });

  test.each(Object.entries(SINGLE_CLIENTS))(
    'N1, N2, N5, V1: through %s everything means the same',
    async (_kind, make) => {
      const given = await make(server.port);
      const through = await openRedis(undefined, { clock, client: given.client });
      try {
        const streams = streamsOf(through);
        const operations = [{ text: 'ü\n\t"\u0000', n: 2 ** 53 - 1 }, 'x'.repeat(5_000)];
        const held = await lease(through, 'a', { count: 2 });
        expect(await commit(through, held, ...operations)).toMatchObject({ outcome: 'committed', first: 1 });
        const late = await lease(through, 'b');
        const kept = { stream: STREAM, operationId: 'b', epoch: late.epoch };
        const wrong = await streams.progress([{ ...kept, progress: { what: 'finished', operations } }]);
        expect(() => only(wrong)).toThrow('the lease has 1 numbers, so it takes 1 operations, got 2');
        await streams.progress([{ ...kept, progress: { what: 'finished', operations: [1] } }]);
        server.clock.step(61_000);
        const { claimed } = await streams.claim({ limit: 5, owner: 'o', ttlMs: 5_000, gapsToo: true });
        expect(claimed.map(({ first, finished }) => [first, finished])).toEqual([[3, [1]]]);
        const claim = { stream: STREAM, operationId: 'b', claimEpoch: claimed[0]?.claimEpoch ?? 0 };
        expect(only(await streams.settle([{ ...claim, settlement: { to: 'commit' } }]))).toMatchObject({ first: 3 });
        const opened = await streams.cursor({ stream: STREAM, reader: 'r', act: 'open' });
        const epoch = opened.outcome === 'opened' ? opened.epoch : 0;
        expect(await streams.cursor({ stream: STREAM, reader: 'r', act: 'done', number: 2, epoch })).toMatchObject({
          done: 2,
        });
        expect(await peek(through)).toEqual([
          [1, 'committed', operations[0]],
          [2, 'committed', operations[1]],
          [3, 'committed', 1],
        ]);
        const [figures] = (await streams.streams({ limit: 1 })).streams;
        expect(figures).toMatchObject({
          leased: 3,
          open: 0,
          watermark: 3,
          seal: 2,
          readers: [{ name: 'r', distance: 1 }],
        });
      } finally {
        await through.close();
        given.close();
      }
    },
  );
});
