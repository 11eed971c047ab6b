// Notifications on bad days (Q3, S19): the connection is cut, the server restarts, the socket is half-open.
// Each time the listener is told once that it is deaf and once that it hears again; nothing is promised about what was said
// meanwhile.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openPostgres } from '../../src/stores/postgres/index.js';
import { systemClock } from '../../src/system-clock.js';
import { acquire, ask, grant } from '../support/ask.js';
import { startCutProxy } from '../support/servers/cut-proxy.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { isSkipped } from '../support/servers/server-process.js';
import { callersPool, Ear, linkTo, session, until } from '../support/postgres-link-site.js';

const FOUND_WITHIN_MS = 15_000;

/** Whether the kernel has a timer running for this end of an open connection that nothing is under way on: the second of its timers is
 *  the one that looks whether the other end is there. */
function isKeptAlive(port: number | undefined): boolean {
  const end = `:${Number(port).toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const timers = sockets
    .filter(([, local, , state]) => local?.endsWith(end) && state === '01')
    .map((socket) => socket[5]);
  return timers.some((timer) => timer?.startsWith('02:'));
}

describe.skipIf(isSkipped('postgres'))('listening', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  test('Q3: one connection for all channels, opened by the first listener and closed after the last', async () => {
    const link = await linkTo(server.url);
    const look = await session(server.url);
    const connections = async (): Promise<number> => {
      const text = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'holdfast'";
      return ((await look.query(text)).rows[0] as { n: number }).n;
    };
    expect(await connections()).toBe(1);
    const [a, b, again] = [new Ear(), new Ear(), new Ear()];
    const stops = [link.listen('hf a', a), link.listen('hf"b', b)];
    await until('both listen', () => a.ups === 1 && b.ups === 1);
    stops.push(link.listen('hf a', again));
    await until('the third listens', () => again.ups === 1);
    expect(await connections()).toBe(2);

    await look.query("SELECT pg_notify('hf a', 'to a'), pg_notify('hf\"b', 'to b'), pg_notify('other', 'to nobody')");
    await until('each heard its own', () => a.heard.length + b.heard.length + again.heard.length === 3);
    expect([a.heard, b.heard, again.heard]).toEqual([['to a'], ['to b'], ['to a']]);

    stops[0]!();
    stops[0]!();
    await look.query("SELECT pg_notify('hf a', 'more')");
    await until('the other one heard', () => again.heard.length === 2);
    expect(a.heard).toHaveLength(1);
    stops[2]!();
    stops[1]!();
    await until('its connection is gone', async () => (await connections()) === 1);
    expect(link.facts()['push']).toBe('nobody listens');
    expect([a, b, again].flatMap(({ downs }) => downs)).toEqual([]);
  });

  test('Q3: cut and restarted: down, then up, once each, and hearing goes on', async () => {
    const proxy = await startCutProxy(server.port);
    onTestFinished(() => proxy.close());
    const link = await linkTo(server.url, { listenUrl: server.url.replace(`:${server.port}/`, `:${proxy.port}/`) });
    const ear = new Ear();
    link.listen('hf', ear);
    await until('it listens', () => ear.ups === 1);
    proxy.cut();
    await until('it listens again', () => ear.ups === 2);
    expect(ear.downs).toHaveLength(1);

    await server.stop();
    await until('it noticed', () => ear.downs.length === 2);
    expect(link.facts()['push']).toMatch(/^polling: /);
    await server.start();
    await until('it listens once more', () => ear.ups === 3);
    await link.query({ name: 'say', text: 'SELECT pg_notify($1, $2)' }, ['hf', 'hello']);
    await until('it heard', () => ear.heard.length === 1);
    expect(ear.downs).toHaveLength(2);
    expect(ear.downs[1]).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
  });

  test('Q3: the system, too, looks whether the connection that listens is alive, also beside a pool that does not ask for it', async () => {
    const look = await session(server.url);
    const ports = async (): Promise<number[]> => {
      const text =
        "SELECT client_port AS port FROM pg_stat_activity WHERE application_name = 'kept' ORDER BY backend_start";
      return ((await look.query(text)).rows as { port: number }[]).map(({ port }) => port);
    };
    const client = callersPool(server.url, { application_name: 'kept' });
    const link = await linkTo(undefined, { client });
    const [ofThePool] = await ports();
    const ear = new Ear();
    link.listen('hf', ear);
    await until('it listens', () => ear.ups === 1);
    const listening = (await ports()).find((port) => port !== ofThePool);
    await until('it is kept alive', () => isKeptAlive(listening));
    expect(isKeptAlive(ofThePool)).toBe(false);
  });

  test('Q3: who waits asks once when the connection that listens is up again, whatever was said meanwhile', async () => {
    const proxy = await startCutProxy(server.port);
    onTestFinished(() => proxy.close());
    const clock = systemClock();
    const listenUrl = server.url.replace(`:${server.port}/`, `:${proxy.port}/`);
    const store = await openPostgres(server.url, { clock, schema: 'caught_up', listenUrl });
    onTestFinished(() => store.close());
    const woken: string[] = [];
    let ups = 0;
    store.subscribe({ wake: (ids) => woken.push(...ids), up: () => (ups += 1) });
    await until('it listens', () => ups === 1);
    await grant(store, clock, 'a');
    const waiting = await ask(store, clock, 'a', { owner: 'next', join: true });
    expect(await acquire(store, waiting)).toMatchObject({ outcome: 'queued' });
    expect(woken).toEqual([]);
    proxy.cut();
    await until('it listens again', () => ups === 2);
    expect(woken).toEqual([waiting.id]); // nobody has let go of anything
  });

  test(`Q3: a half-open socket is found within ${FOUND_WITHIN_MS} ms`, async () => {
    const proxy = await startCutProxy(server.port);
    onTestFinished(() => proxy.close());
    const link = await linkTo(server.url, { listenUrl: server.url.replace(`:${server.port}/`, `:${proxy.port}/`) });
    const ear = new Ear();
    link.listen('hf', ear);
    await until('it listens', () => ear.ups === 1);
    proxy.blackHole();
    const startedAt = performance.now();
    await until('it noticed', () => ear.downs.length === 1, FOUND_WITHIN_MS);
    expect(performance.now() - startedAt).toBeLessThan(FOUND_WITHIN_MS);
    expect(ear.downs[0]).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    await until('it listens again', () => ear.ups === 2);
  });

  test('S12: what a listener throws does not escape and does not keep others from hearing', async () => {
    const link = await linkTo(server.url);
    const ear = new Ear();
    const throwing = (): never => {
      throw new Error('from a listener');
    };
    link.listen('hf', { message: throwing, down: throwing, up: throwing });
    link.listen('hf', ear);
    await until('it listens', () => ear.ups === 1);
    await link.query({ name: 'say', text: 'SELECT pg_notify($1, $2)' }, ['hf', 'hello']);
    await until('it heard', () => ear.heard.length === 1);
  });
});
