// Connections that die, hang or are cut short: a call has one answer, and after it the link is usable again (S12, S15).
import { spawnSync } from 'node:child_process';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startCutProxy, type CutProxy } from '../support/servers/cut-proxy.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { findBinary, isSkipped } from '../support/servers/server-process.js';
import { callersPool, failure, linkTo, one, session, sleep, until } from '../support/postgres-link-site.js';

describe.skipIf(isSkipped('postgres'))('connections that die', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
    const owner = new pg.Client({ connectionString: server.url });
    await owner.connect();
    await owner.query(
      'CREATE SEQUENCE calls; SELECT nextval($$calls$$); CREATE TABLE busy (n int); INSERT INTO busy VALUES (1)',
    );
    await owner.end();
  });
  afterAll(() => server.remove());

  const through = async (): Promise<{ proxy: CutProxy; url: string }> => {
    const proxy = await startCutProxy(server.port);
    onTestFinished(() => proxy.close());
    return { proxy, url: server.url.replace(`:${server.port}/`, `:${proxy.port}/`) };
  };
  const callsSeen = async (look: pg.Client): Promise<number> => {
    const { rows } = await look.query('SELECT last_value::int AS n FROM calls');
    return (rows[0] as { n: number }).n;
  };
  const counted = { name: 'counted', text: "SELECT nextval('calls'), pg_sleep($1)" };

  test('S12: a restart while the pool is idle fails no call afterwards', async () => {
    const link = await linkTo(server.url);
    const pool = callersPool(server.url);
    const other = await linkTo(undefined, { client: pool });
    await Promise.all([1, 2, 3].flatMap(() => [link.query(sleep, [0.05]), other.query(sleep, [0.05])]));
    await server.stop();
    await server.start();
    for (const each of [link, other]) {
      const answers = await Promise.all(Array.from({ length: 6 }, () => each.query(one, [])));
      expect(answers).toEqual(Array.from({ length: 6 }, () => [{ one: 1 }]));
    }
  });

  test('a connection that died while this process was not looking is found out before it is used', async () => {
    const link = await linkTo(server.url);
    await Promise.all([1, 2, 3].map(() => link.query(sleep, [0.05])));
    const kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdfast'";
    // While this runs, the loop stands still: nothing has told the pool when the next call is made.
    const done = spawnSync(findBinary('psql'), ['-qAt', '-d', server.url, '-c', `${kill}; SELECT pg_sleep(0.1)`]);
    expect(done.status).toBe(0);
    expect(await link.query(one, [])).toEqual([{ one: 1 }]);
  });

  test('S15: cut or crashed inside a call is an unknown answer, and the call is not sent twice', async () => {
    const { proxy, url } = await through();
    const link = await linkTo(url);
    const look = await session(server.url);
    const before = await callsSeen(look);
    const cut = failure(link.query(counted, [0.5]));
    await until('the server is at it', async () => (await callsSeen(look)) > before);
    proxy.cut();
    expect(await cut).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect(await link.query(one, [])).toEqual([{ one: 1 }]);
    expect(await callsSeen(look)).toBe(before + 1);

    const crashed = failure(link.query(counted, [5]));
    await until('the server is at it again', async () => {
      const { rows } = await look.query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
      return rows.length === 1;
    });
    await server.stop('immediate');
    expect(await crashed).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    const gone = await failure(link.query(one, []));
    expect(gone).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    await server.start();
    expect(await link.query(one, [])).toEqual([{ one: 1 }]);
  });

  test("A11: statement_timeout, lock_timeout and query_timeout of the caller's pool", async () => {
    const pool = callersPool(server.url, { statement_timeout: 100, lock_timeout: 50 });
    const link = await linkTo(undefined, { client: pool });
    const slow = await failure(link.query(sleep, [5]));
    expect(slow).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect(slow.message).toContain('statement_timeout');

    const locker = await session(server.url);
    await locker.query('BEGIN; LOCK TABLE busy');
    const locked = await failure(link.query({ name: 'busy', text: 'SELECT n FROM busy' }, []));
    expect(locked).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect(locked.message).toContain('lock_timeout');
    await locker.query('ROLLBACK');
    expect(await link.query({ name: 'busy', text: 'SELECT n FROM busy' }, [])).toEqual([{ n: 1 }]);
    expect(pool.totalCount).toBe(1); // neither cost a connection

    const hasty = await linkTo(undefined, { client: callersPool(server.url, { query_timeout: 100 }) });
    expect(await failure(hasty.query(sleep, [1]))).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect(await hasty.query(one, [])).toEqual([{ one: 1 }]);
  });

  test('S20: silence and a lock that does not end are answered in bounded time, and free what they held', async () => {
    const { proxy, url } = await through();
    const [hole, direct, look] = await Promise.all([
      linkTo(url, { poolSize: 2 }),
      linkTo(server.url),
      session(server.url),
    ]);
    const locker = await session(server.url);
    await locker.query('BEGIN; LOCK TABLE busy');

    const startedAt = performance.now();
    const locked = failure(direct.query({ name: 'busy', text: 'SELECT n FROM busy' }, []));
    const swallowed = [1, 2].map(() => failure(hole.query(sleep, [5])));
    await until('both are under way', async () => {
      const { rows } = await look.query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
      return rows.length === 2;
    });
    proxy.blackHole();
    proxy.newConnections('swallow');
    const third = await failure(hole.query(one, []));
    expect(third.details).toMatchObject({ poolSize: 2, inUse: 2 });
    for (const error of [await locked, ...(await Promise.all(swallowed))]) {
      expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    }
    expect(performance.now() - startedAt).toBeLessThan(13_000);
    expect((await swallowed[0])?.message).toContain('may or may not be done');

    proxy.newConnections('pass');
    expect(await hole.query(one, [])).toEqual([{ one: 1 }]);
    // The server was asked to stop waiting for the lock: no session is left behind that would go on later.
    await until('nobody waits for the lock', async () => {
      const { rows } = await look.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
      return rows.length === 0;
    });
    await locker.query('ROLLBACK');
    expect(await direct.query({ name: 'busy', text: 'SELECT n FROM busy' }, [])).toEqual([{ n: 1 }]);
    expect([direct.facts()['inUse'], hole.facts()['inUse']]).toEqual([0, 0]);
  });
});
