// Bad days through the whole: a manager over the PostgreSQL store while its server is frozen, restarted, locked, cut off or
// reached in odd ways. Held leases are judged by their own deadline, waiting goes on, and afterwards everything is usable.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connect, type ConnectOptions } from '../../src/connect.js';
import type { Holdfast } from '../../src/holdfast.js';
import { openPostgres, type PostgresOptions } from '../../src/stores/postgres/index.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { callersPool, endSessionsOf, failure, session, until } from '../support/postgres-link-site.js';
import { startCutProxy, type CutProxy } from '../support/servers/cut-proxy.js';
import { startPgbouncer } from '../support/servers/pgbouncer-server.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { freePort, isSkipped } from '../support/servers/server-process.js';

const TTL_MS = 1_000;

async function opened(url: string | undefined, options: Partial<PostgresOptions> = {}): Promise<Store> {
  const store = await openPostgres(url, { clock: systemClock(), ...options });
  onTestFinished(() => store.close());
  return store;
}

async function joined(
  url: string | undefined,
  options: Partial<PostgresOptions> = {},
  defaults: ConnectOptions = {},
): Promise<Holdfast> {
  const leases = await connect(await opened(url, options), { services: 'off', ...defaults });
  onTestFinished(() => leases.shutdown().catch(() => undefined));
  return leases;
}

describe.skipIf(isSkipped('postgres'))('bad days of a PostgreSQL store', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  const through = async (): Promise<{ proxy: CutProxy; url: string }> => {
    const proxy = await startCutProxy(server.port);
    onTestFinished(() => proxy.close());
    return { proxy, url: server.url.replace(`:${server.port}/`, `:${proxy.port}/`) };
  };

  test('A11: connect by url: it works, and what is wrong with the address or the server is told at once', async () => {
    const leases = await connect(server.url, { services: 'off' });
    const lease = await leases.acquire('by-url');
    expect((await leases.show('by-url')).holders.map(({ id }) => id)).toEqual([lease.id]);
    await leases.shutdown();
    const refused = await failure(connect(server.url.replace('secret', 'hush')));
    expect(refused).toMatchObject({ code: 'UNAUTHORIZED', retryable: false });
    expect(`${refused.message} ${JSON.stringify(refused.details)}`).not.toContain('hush');
    const gone = await failure(connect(server.url.replace(/:\d+\//, `:${await freePort()}/`)));
    expect(gone).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
  });

  test('S7: frozen: a lease of one second is lost within one second by its own deadline; thawed, all goes on', async () => {
    const leases = await joined(server.url);
    const lease = await leases.acquire('door', { ttl: TTL_MS });
    await lease.renew();
    server.freeze();
    onTestFinished(() => server.thaw());
    const frozenAt = performance.now();
    await until('it is lost', () => lease.signal.aborted, TTL_MS);
    expect(performance.now() - frozenAt).toBeLessThanOrEqual(TTL_MS);
    expect(lease.isHeld).toBe(false);
    expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST' });
    const refused = await failure(leases.acquire('window', { wait: 500, ttl: TTL_MS }));
    expect(refused.retryable).toBe(true);
    server.thaw();
    const next = await leases.acquire('door', { wait: '10s', ttl: TTL_MS });
    expect(next.epoch).toBeGreaterThan(lease.epoch);
    await next.release();
  });

  test('S9, Q3: restarted: a holder holds on, a waiter waits on, and the hand-over works', async () => {
    const [holder, waiter] = await Promise.all([joined(server.url), joined(server.url)]);
    const lease = await holder.acquire('restart', { ttl: '20s' });
    const waiting = waiter.acquire('restart', { wait: 'forever' });
    await until('it is in the queue', async () => (await holder.show('restart')).queue.length === 1);
    await server.stop();
    const refused = await failure(holder.acquire('another', { wait: 1_500 })); // asked again and again, and nobody is there
    expect(refused.retryable).toBe(true);
    expect(lease.isHeld).toBe(true);
    await server.start();
    await until('the holder gets through', () => lease.tryRenew());
    expect(await lease.release()).toMatchObject({ outcome: 'released' });
    const next = await waiting;
    expect(next.epoch).toBeGreaterThan(lease.epoch);
    await next.release();
  });

  test('S15: crashed inside many calls: each is answered, none is granted twice', async () => {
    const leases = await joined(server.url);
    const names = Array.from({ length: 200 }, (_, i) => `crash/${i}`);
    const asked = names.map((name) => leases.acquire(name, { wait: '20s', ttl: '20s' }));
    await until('some are there', () => leases.held().length > 0);
    await server.stop('immediate');
    await server.start();
    const held = await Promise.all(asked);
    const epochs = new Set(held.map(({ epoch }) => epoch));
    expect(epochs.size).toBe(names.length);
    const { items } = await leases.list({ prefix: 'crash', limit: 1_000 });
    expect(items.filter(({ status }) => status === 'active')).toHaveLength(names.length);
    await Promise.all(held.map((lease) => lease.release()));
  });

  test('S7, S15: cut off without a word: lost at the deadline, and usable when the network is', async () => {
    const { proxy, url } = await through();
    const leases = await joined(url, { poolSize: 3, poolTimeoutMs: 500 });
    const lease = await leases.acquire('hole', { ttl: TTL_MS });
    proxy.blackHole();
    proxy.newConnections('swallow');
    const cutAt = performance.now();
    await until('it is lost', () => lease.signal.aborted, TTL_MS);
    expect(performance.now() - cutAt).toBeLessThanOrEqual(TTL_MS);
    proxy.heal();
    const next = await leases.acquire('hole', { wait: '15s' });
    expect(next.epoch).toBeGreaterThan(lease.epoch);
    await next.release();
  });

  test('A11: a table locked by somebody: calls end in time, nothing hangs, and it goes on when the lock is gone', async () => {
    const leases = await joined(server.url);
    const lease = await leases.acquire('locked', { ttl: TTL_MS });
    const locker = await session(server.url);
    const { rows } = await locker.query("SELECT tablename FROM pg_tables WHERE schemaname = 'holdfast'");
    const tables = (rows as { tablename: string }[]).map(({ tablename }) => `holdfast."${tablename}"`);
    await locker.query(`BEGIN; LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`);
    const refused = await failure(leases.acquire('other', { wait: 700, ttl: TTL_MS }));
    expect(refused.retryable).toBe(true);
    await until('it is lost', () => lease.signal.aborted, 2 * TTL_MS);
    await locker.query('ROLLBACK');
    const next = await leases.acquire('locked', { wait: '10s', ttl: TTL_MS });
    expect(next.epoch).toBeGreaterThan(lease.epoch);
    await next.release();
  });

  test("A11: lock_timeout of the caller's pool: STORE_UNAVAILABLE, to be tried again", async () => {
    const store = await opened(undefined, { client: callersPool(server.url, { lock_timeout: 50 }) });
    const locker = await session(server.url);
    const { rows } = await locker.query("SELECT tablename FROM pg_tables WHERE schemaname = 'holdfast'");
    const tables = (rows as { tablename: string }[]).map(({ tablename }) => `holdfast."${tablename}"`);
    await locker.query(`BEGIN; LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`);
    expect(await failure(store.settings())).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    await locker.query('ROLLBACK');
    expect((await store.settings()).now).toBeGreaterThan(0);
  });

  test.each(['serializable', 'repeatable read'])("S16: %s set by the caller's pool is refused", async (isolation) => {
    const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`;
    const refused = await failure(opened(undefined, { client: callersPool(server.url, { options }) }));
    expect(refused).toMatchObject({ code: 'STORE_INCOMPATIBLE', retryable: false });
    expect(refused.message).toContain('default_transaction_isolation');
  });

  test('S16: so it is when somebody sets it later, for the role: nothing is granted over such a connection', async () => {
    const owner = await session(server.url);
    await owner.query("CREATE ROLE strict SUPERUSER LOGIN PASSWORD 'secret'");
    const leases = await joined(server.url.replace('//holdfast', '//strict'));
    await owner.query('ALTER ROLE strict SET default_transaction_isolation = serializable');
    await endSessionsOf('strict', owner);
    const refused = await failure(leases.acquire('strict', { wait: '5s' }));
    expect(refused).toMatchObject({ code: 'STORE_INCOMPATIBLE', retryable: false });
  });

  test('S13: another time zone, and other formats of dates, change nothing', async () => {
    const options =
      '-c timezone=Pacific/Kiritimati -c datestyle=German -c intervalstyle=sql_standard -c extra_float_digits=0';
    const far = await joined(undefined, { client: callersPool(server.url, { options }) });
    const near = await joined(server.url);
    const lease = await far.acquire('zone', { ttl: '30s', metadata: { a: 1.5 } });
    expect(await near.get(lease.id)).toEqual(await far.get(lease.id));
    expect(Math.abs(Date.parse(lease.expiresAt) - Date.now() - 30_000)).toBeLessThan(5_000);
    await lease.release();
  });

  test('A11: no right to create the schema is FORBIDDEN; a schema that is not there is STORE_INCOMPATIBLE', async () => {
    const owner = await session(server.url);
    await owner.query("CREATE ROLE visitor LOGIN PASSWORD 'secret'");
    const visitor = server.url.replace('//holdfast', '//visitor');
    expect(await failure(opened(visitor, { schema: 'mine' }))).toMatchObject({ code: 'FORBIDDEN', retryable: false });
    const unmade = await failure(opened(visitor, { schema: 'mine', migrate: 'check' }));
    expect(unmade).toMatchObject({ code: 'STORE_INCOMPATIBLE', retryable: false });
    expect(unmade.message).toContain('migrate');
  });

  test('Q3: wake-ups delivered again, late, or made up by somebody change nothing', async () => {
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => joined(server.url)));
    const listener = await session(server.url);
    const { rows } = await listener.query('SELECT holdfast.channel_v1() AS channel');
    const { channel } = rows[0] as { channel: string };
    const heard: string[] = [];
    listener.on('notification', ({ payload = '' }) => heard.push(payload));
    await listener.query(`LISTEN "${channel}"`);
    const held = await first!.acquire('again');
    const waiting = second!.acquire('again', { wait: 'forever' });
    await until('it is in the queue', async () => (await first!.show('again')).queue.length === 1);
    await held.release();
    const next = await waiting;
    await until('the wake-up was heard', () => heard.length > 0);

    let isGranted = false;
    const last = third!.acquire('again', { wait: 'forever' }).then((lease) => {
      isGranted = true;
      return lease;
    });
    await until('it is in the queue', async () => (await first!.show('again')).queue.length === 1);
    const ticket = (await first!.show('again')).queue[0]!.id;
    const needless = heard[0]!.replace(held.id, ticket).replace(next.id, ticket);
    for (const payload of [...heard, needless, needless, '', '{', 'null', '[]', '{"n":1}', '{"n":"default","w":[1]}']) {
      await listener.query('SELECT pg_notify($1, $2)', [channel, payload]);
    }
    await third!.now();
    expect([isGranted, next.isHeld]).toEqual([false, true]);
    expect((await first!.show('again')).holders.map(({ id }) => id)).toEqual([next.id]);
    await next.release();
    expect((await last).epoch).toBeGreaterThan(next.epoch);
    await (await last).release();
  });

  test('H1, Q3: a watcher whose connections are cut sees each event once', async () => {
    const { proxy, url } = await through();
    const [watcher, worker] = await Promise.all([joined(url), joined(server.url)]);
    const seen: number[] = [];
    await (await worker.acquire('watched/before')).release();
    const after = (await worker.history({ limit: 1 })).items[0]?.id ?? ''; // a watch from now on begins when it is answered
    const watching = (async () => {
      for await (const event of watcher.watch({ prefix: 'watched', type: 'lease.acquired', after })) {
        seen.push(event.epoch ?? 0);
        if (seen.length === 60) break;
      }
    })();
    const drawn: number[] = [];
    for (let i = 0; i < 60; i += 1) {
      const lease = await worker.acquire(`watched/${i % 7}`, { wait: '10s' });
      drawn.push(lease.epoch);
      await lease.release();
      if (i % 20 === 10) proxy.cut();
    }
    await watching;
    expect(seen).toEqual(drawn);
  });

  test.skipIf(isSkipped('pgbouncer'))(
    'S19: behind PgBouncer in transaction mode everything works, with and without push',
    async () => {
      const pooler = await startPgbouncer(server);
      onTestFinished(() => pooler.remove());
      const [polling, pushed] = await Promise.all([joined(pooler.url), joined(pooler.url, { listenUrl: server.url })]);
      for (const [holder, waiter] of [
        [polling, pushed],
        [pushed, polling],
      ] as const) {
        const lease = await holder.acquire('pooled', { ttl: '10s' });
        const waiting = waiter.acquire('pooled', { wait: '20s' });
        await until('it is in the queue', async () => (await holder.show('pooled')).queue.length === 1);
        await lease.release();
        const next = await waiting;
        expect(next.epoch).toBeGreaterThan(lease.epoch);
        await next.release();
      }
      const all = await Promise.all(Array.from({ length: 100 }, (_, i) => polling.acquire(`pooled/${i}`)));
      expect(new Set(all.map(({ epoch }) => epoch)).size).toBe(100);
      await Promise.all(all.map((lease) => lease.release()));
    },
  );
});
