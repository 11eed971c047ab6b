// The event stream (W1) over real sockets: nothing missing and nothing twice, however a client comes, goes, reads or does not.
import { connect as connectSocket } from 'node:net';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { connect, type Holdfast } from '../../src/index.js';
import { DEFAULT_LIMITS } from '../../src/server/context.js';
import { ServeSite, type EventReader } from '../support/serve-site.js';

const site = new ServeSite();

async function withLeases<T>(use: (leases: Holdfast) => Promise<T>): Promise<T> {
  const leases = await connect(site.storeUrl, { services: 'off', owner: 'worker' });
  try {
    return await use(leases);
  } finally {
    await leases.shutdown();
  }
}
/** Two events each: acquired, released. */
async function change(leases: Holdfast, count: number, name = 'orders'): Promise<void> {
  for (let n = 0; n < count; n += 1) await (await leases.acquire(`${name}/${n}`, { ttl: '1m' })).release();
}
const ids = (reader: EventReader): string[] => reader.seen.filter(({ name }) => name !== 'end').map(({ id }) => id);
const types = (reader: EventReader): unknown[] => reader.seen.map(({ data }) => data['type']);

async function wholeLog(): Promise<string[]> {
  return withLeases(async (leases) => {
    const all: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await leases.history({ limit: 1_000, ...(cursor === undefined ? {} : { cursor }) });
      all.unshift(...page.items.map(({ id }) => id).reverse());
      if (page.cursor === undefined) return all;
      ({ cursor } = page);
    }
  });
}

describe('W1: events', () => {
  test('W1: events come as they happen, from whichever process, each with its position', async () => {
    const server = await site.serve();
    const reader = await site.events(server);
    expect(reader.status).toBe(200);
    await withLeases((leases) => change(leases, 3));
    await reader.until(({ seen }) => seen.length >= 6);
    expect(types(reader)).toEqual(Array.from({ length: 3 }, () => ['lease.acquired', 'lease.released']).flat());
    expect(ids(reader)).toEqual(await wholeLog());
    expect(reader.seen[0]?.data).toMatchObject({
      resource: 'orders/0',
      owner: 'worker',
      sentence: expect.any(String) as string,
    });
  });

  test('W1: a client resumes where it was: from memory, from the log, and without having seen anything', async () => {
    const server = await site.serve();
    await withLeases(async (leases) => {
      const stays = await site.events(server);
      const first = await site.events(server);
      const { lastId: begun } = first;
      await change(leases, 5);
      await first.until(({ seen }) => seen.length >= 10);
      first.stop();
      await change(leases, 300, 'more');
      await stays.until(({ seen }) => seen.length >= 610);
      const seen = ids(stays);
      const fromMemory = await site.events(server, '/v1/events', { 'last-event-id': ids(first)[4] ?? '' });
      await fromMemory.until((reader) => reader.seen.length >= 605);
      expect(ids(fromMemory)).toEqual(seen.slice(5));
      stays.stop();
      fromMemory.stop();
      const other = await site.serve(); // has kept nothing: reads the log
      const fromLog = await site.events(other, `/v1/events?after=${encodeURIComponent(begun)}`);
      await change(leases, 5, 'last');
      await fromLog.until((reader) => reader.seen.length >= 620);
      expect(ids(fromLog)).toEqual(await wholeLog());
    });
  });

  test('W1, H1: a client far behind resumes over one connection while another keeps up', async () => {
    const server = await site.serve();
    const stays = await site.events(server);
    const behind = stays.lastId;
    // More than a client may leave unread: handed over in one go it would be cut before it has read a byte, each time anew.
    await withLeases((leases) => change(leases, 2_000));
    await stays.until(({ seen }) => seen.length >= 4_000);
    expect(JSON.stringify(stays.seen.map(({ data }) => data)).length).toBeGreaterThan(1_024 * 1_024);
    const resumed = await site.events(server, '/v1/events', { 'last-event-id': behind });
    await resumed.until(({ seen }) => seen.length >= 4_000);
    expect(ids(resumed)).toEqual(ids(stays));
    await withLeases((leases) => change(leases, 1, 'after'));
    await resumed.until(({ seen }) => seen.length >= 4_002);
    expect(ids(resumed)).toEqual(await wholeLog());
  });

  test('W1: nothing is missing and nothing twice for clients that come back again and again under load', async () => {
    const server = await site.serve();
    const seen: string[][] = [[], [], [], []];
    const load = { isDone: false };
    const begun = await site.events(server);
    const start = begun.lastId;
    const follow = async (mine: string[]): Promise<void> => {
      let last = start;
      while (!load.isDone || last !== begun.lastId) {
        const reader = await site.events(server, '/v1/events', { 'last-event-id': last });
        await reader.until((now) => now.seen.length >= 37 || (load.isDone && now.lastId === begun.lastId));
        reader.stop();
        mine.push(...ids(reader));
        last = reader.lastId;
      }
    };
    await withLeases(async (leases) => {
      const followers = seen.map(follow);
      await change(leases, 400);
      await begun.until((reader) => reader.seen.length >= 800);
      load.isDone = true;
      await change(leases, 20, 'wake');
      await begun.until((reader) => reader.seen.length >= 840);
      await Promise.all(followers);
    });
    const all = await wholeLog();
    expect(ids(begun)).toEqual(all);
    for (const mine of seen) expect(mine).toEqual(all.slice(0, mine.length));
    for (const mine of seen) expect(mine.length).toBeGreaterThanOrEqual(800);
  });

  test('W1, H1: a position older than the log is told what is lost, and goes on from the oldest there is', async () => {
    const server = await site.serve();
    const first = await site.events(server);
    await withLeases((leases) => change(leases, 3));
    await first.until(({ seen }) => seen.length >= 6);
    first.stop();
    const { openSqlite } = await import('../../src/stores/sqlite/index.js');
    const { systemClock } = await import('../../src/system-clock.js');
    const store = await openSqlite(site.storeUrl, { clock: systemClock(), namespace: 'default', migrate: 'check' });
    await expect.poll(() => store.prune({ olderThanMs: 0, limit: 4 })).toMatchObject({ events: 4 });
    await store.close();
    const reader = await site.events(server, '/v1/events', { 'last-event-id': ids(first)[0] ?? '' });
    await reader.until(({ seen }) => seen.length >= 3);
    expect(types(reader)).toEqual(['events.lost', 'lease.acquired', 'lease.released']);
    expect(reader.seen[0]?.data).toMatchObject({
      data: { oldest: reader.seen[0]?.id },
      sentence: expect.stringMatching(/gone/) as string,
    });
    const again = await site.events(server, '/v1/events', { 'last-event-id': reader.seen[0]?.id ?? '' });
    await again.until(({ seen }) => seen.length >= 2);
    expect(types(again)).toEqual(['lease.acquired', 'lease.released']);
    const alien = await site.events(server, '/v1/events', { 'last-event-id': 'sqlite!default!another-life!000' });
    await alien.until(({ seen }) => seen.length >= 3);
    expect(types(alien)).toEqual(['events.lost', 'lease.acquired', 'lease.released']);
    const nonsense = await site.events(server, '/v1/events', { 'last-event-id': 'nonsense' });
    expect(nonsense.status).toBe(400);
  });

  test('W1, W5: a client that never reads is cut, keeps a position to resume at, and slows nobody down', async () => {
    const server = await site.serve();
    const good = await site.events(server);
    const lazy = connectSocket(server.port, '127.0.0.1');
    await once(lazy, 'connect');
    lazy.write('GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const [head] = (await once(lazy, 'data')) as [Buffer];
    lazy.pause();
    const names = Array.from({ length: 64 }, (_, n) => `big/${'x'.repeat(480)}/${n}`);
    const rounds = 400; // 800 events of some 34 kB: more than the kernel and the server keep for anybody
    await withLeases(async (leases) => {
      for (let n = 0; n < rounds; n += 1) await (await leases.acquire(names, { ttl: '1m' })).release();
    });
    await good.until(({ seen }) => seen.length >= 2 * rounds);
    const chunks = [head];
    lazy.on('data', (chunk: Buffer) => void chunks.push(chunk));
    lazy.on('error', () => undefined);
    lazy.resume();
    await once(lazy, 'close');
    // Chunked encoding puts lengths between events, and an event may be cut in two: only whole ones count.
    const text = Buffer.concat(chunks).toString('utf8');
    const got = [...text.matchAll(/^id: (\S+)\ndata: .*\}\n\n/gm)].map(([, id]) => id ?? '');
    const all = await wholeLog();
    expect(got.length).toBeGreaterThan(0);
    expect(got.length).toBeLessThan(2 * rounds);
    expect(got).toEqual(all.slice(0, got.length));
    const resumed = await site.events(server, '/v1/events', { 'last-event-id': got.at(-1) ?? '' });
    await resumed.until(({ seen }) => seen.length >= 2 * rounds - got.length);
    expect([...got, ...ids(resumed)]).toEqual(all);
    expect(ids(good)).toEqual(all);
  });

  test('W1, W3: a prefix, asked for or of the token, bounds what is seen', async () => {
    const server = await site.serve();
    const admin = await site.token(server, { name: 'ops', role: 'admin' });
    const eu = await site.token(server, { name: 'eu', role: 'read', prefix: 'orders/eu' }, admin);
    const as = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
    const bounded = await site.events(server, '/v1/events', as(eu));
    const asked = await site.events(server, '/v1/events?prefix=orders/us&type=lease.released', as(admin));
    const all = await site.events(server, '/v1/events', as(admin));
    expect((await site.events(server, '/v1/events?prefix=orders/us', as(eu))).status).toBe(403);
    expect((await site.events(server, '/v1/events')).status).toBe(401);
    await withLeases(async (leases) => {
      await change(leases, 2, 'orders/us');
      await (await leases.acquire(['orders/us/secret', 'orders/eu/both'], { ttl: '1m' })).release();
      await change(leases, 1, 'orders/eu');
    });
    await all.until(({ seen }) => seen.length >= 8);
    await bounded.until(({ seen }) => seen.length >= 4);
    expect(bounded.seen.map(({ data }) => data['resource'])).toEqual([
      ...['orders/eu/both', 'orders/eu/both'],
      ...['orders/eu/0', 'orders/eu/0'],
    ]);
    expect(JSON.stringify(bounded.seen)).not.toMatch(/orders\/us|secret/);
    expect(asked.seen.map(({ data }) => data['resource'])).toEqual(['orders/us/0', 'orders/us/1', 'orders/eu/both']);
  });

  test('W1, W3: a stream ends with its token, and with the server, and says so', async () => {
    const server = await site.serve();
    const admin = await site.token(server, { name: 'ops', role: 'admin' });
    const brief = await site.token(server, { name: 'brief', role: 'read' }, admin);
    const [mine, other] = [
      await site.events(server, '/v1/events', { authorization: `Bearer ${brief}` }),
      await site.events(server, '/v1/events', { authorization: `Bearer ${admin}` }),
    ];
    await site.ask(server, 'DELETE /v1/tokens/brief', { token: admin });
    await mine.ended;
    expect(mine.seen.at(-1)).toMatchObject({ name: 'end', data: { code: 'UNAUTHORIZED' } });
    expect(other.isOver).toBe(false);
    await server.stop();
    await other.ended;
    expect(other.seen.at(-1)).toMatchObject({ name: 'end', data: { code: 'SHUTTING_DOWN' } });
  });

  test('W5: one token cannot take every stream, of events or of hints', async () => {
    const server = await site.serve({
      limits: { eventClients: 4, eventClientsPerToken: 2, waits: 4, hintStreamsPerToken: 2 },
    });
    const admin = await site.token(server, { name: 'ops', role: 'admin' });
    const other = await site.token(server, { name: 'other', role: 'read' }, admin);
    for (const path of ['/v1/events', '/v1/store/hints?wake=default']) {
      const open = async (token: string): Promise<number> =>
        (await fetch(server.url + path, { headers: { authorization: `Bearer ${token}`, 'holdfast-client': 'one' } }))
          .status;
      expect([await open(admin), await open(admin), await open(admin)], path).toEqual([200, 200, 429]);
      expect(await open(other), path).toBe(200);
    }
    expect(DEFAULT_LIMITS.eventClientsPerToken).toBeLessThan(DEFAULT_LIMITS.eventClients);
    expect(DEFAULT_LIMITS.hintStreamsPerToken).toBeLessThan(DEFAULT_LIMITS.waits);
  });

  test('W1, H4: without a log there is nothing to follow, and that is said', async () => {
    const server = await site.serve();
    await site.ask(server, 'PATCH /v1/config', { body: { keep_history: false } });
    const reader = await site.events(server);
    expect(reader.status).toBe(400);
    await reader.ended;
    expect(reader.text).toContain('keep_history is off');
  });
});
