// The connections of the PostgreSQL store with a server that is well: statements, transactions, pools, values, facts.
import { spawnSync } from 'node:child_process';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Connections } from '../../src/stores/postgres/connections.js';
import type { Place } from '../../src/stores/postgres/translate-error.js';
import { systemClock } from '../../src/system-clock.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { isSkipped } from '../support/servers/server-process.js';
import {
  callersPool,
  endSessionsOf,
  failure,
  linkTo,
  one,
  session,
  sleep,
  until,
} from '../support/postgres-link-site.js';

describe.skipIf(isSkipped('postgres'))('the connections of the PostgreSQL store', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({ settings: { max_connections: '30' } });
  });
  afterAll(() => server.remove());

  test('a statement is one round trip under its own name, and says who asks', async () => {
    const link = await linkTo(server.url);
    expect(await link.query({ name: 'add', text: 'SELECT $1::int + $2::int AS sum' }, [2, 3])).toEqual([{ sum: 5 }]);
    const who = { name: 'who', text: "SELECT current_setting('application_name') AS name" };
    expect(await link.query(who, [])).toEqual([{ name: 'holdfast' }]);
    const prepared = await link.query({ name: 'look', text: 'SELECT name FROM pg_prepared_statements ORDER BY 1' }, []);
    expect(prepared.map(({ name }) => String(name).replace(/_[0-9a-f]{16}$/, ''))).toEqual([
      'add',
      'hf_first_look',
      'look',
      'who',
    ]);
    expect(link.facts()).toMatchObject({
      server: `127.0.0.1:${server.port}/holdfast`,
      pool: 'own',
      poolSize: 10,
      inUse: 0,
      idle: 1,
      waiting: 0,
      statements: 'prepared',
      push: 'nobody listens',
    });
  });

  test('S17: values are the same whatever parsers the caller has set, for its pool or for all of pg', async () => {
    const { INT4 } = pg.types.builtins;
    const usual = pg.types.getTypeParser(INT4) as (text: string) => unknown;
    pg.types.setTypeParser(INT4, () => 'spoilt');
    try {
      const pool = callersPool(server.url, { types: { getTypeParser: () => () => 'spoilt too' } });
      const [row] = await (
        await linkTo(undefined, { client: pool })
      ).query(
        {
          name: 'kinds',
          text: `SELECT 7 AS i, 9007199254740993::int8 AS big, true AS b, '{"a":[1]}'::jsonb AS j, null::int AS n,
            ARRAY['a','b "c"\\d',null,'NULL',''] AS texts, ARRAY[1,2]::int8[] AS bigs, '{}'::text[] AS none,
            1.5::float8 AS f, timestamptz '2026-01-01 00:00:00+00' IS NOT NULL AS t, 'x'::text AS x`,
        },
        [],
      );
      expect(row).toEqual({
        i: 7,
        big: '9007199254740993',
        b: true,
        j: { a: [1] },
        n: null,
        texts: ['a', 'b "c"\\d', null, 'NULL', ''],
        bigs: ['1', '2'],
        none: [],
        f: 1.5,
        t: true,
        x: 'x',
      });
    } finally {
      pg.types.setTypeParser(INT4, usual);
    }
  });

  test("a caller's pool is used as it is, listens with its settings, and is not ended", async () => {
    const pool = callersPool(server.url, { max: 2, application_name: 'shop' });
    const link = await linkTo(undefined, { client: pool });
    expect(await link.query(one, [])).toEqual([{ one: 1 }]);
    expect(link.facts()).toMatchObject({ pool: "the caller's", poolSize: 2 });
    let ups = 0;
    link.listen('hf', { message: () => undefined, down: () => undefined, up: () => (ups += 1) });
    await until('it listens', () => ups === 1);
    const look = await session(server.url);
    const listening = await look.query(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'shop' AND query ILIKE '%LISTEN%'",
    );
    expect(listening.rows).toEqual([{ n: 1 }]);
    await link.close();
    expect(pool.ended).toBe(false);
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    expect(pool.listenerCount('error')).toBe(0);
  });

  test('S16: a transaction is READ COMMITTED whatever the default, and is rolled back when the work fails', async () => {
    const owner = await session(server.url);
    await owner.query("CREATE ROLE odd SUPERUSER LOGIN PASSWORD 'secret'");
    const link = await linkTo(server.url.replace('//holdfast', '//odd'));
    await owner.query('ALTER ROLE odd SET default_transaction_isolation = serializable');
    await endSessionsOf('odd', owner);
    await until('the pool has noticed', () => link.facts()['idle'] === 0);
    await link.transaction(async (query) => {
      await query({ name: 'two', text: 'CREATE TABLE notes (t text); INSERT INTO notes VALUES (1)' }, []);
      expect(await query({ name: 'iso', text: 'SHOW transaction_isolation' }, [])).toEqual([
        { transaction_isolation: 'read committed' },
      ]);
    });
    const broken = link.transaction(async (query) => {
      await query({ name: 'more', text: 'INSERT INTO notes VALUES ($1)' }, ['x']);
      throw new RangeError('the work failed');
    });
    await expect(broken).rejects.toThrow(RangeError);
    const wrong = link.transaction((query) => query({ name: 'wrong', text: 'SELECT no_such_function()' }, []));
    expect(await failure(wrong)).toMatchObject({ code: 'STORE_INCOMPATIBLE' });
    expect(await link.query({ name: 'count', text: 'SELECT count(*)::int AS n FROM notes' }, [])).toEqual([{ n: 1 }]);
    expect(link.facts()).toMatchObject({ inUse: 0 });
  });

  test('O4: a statement whose result a migration has changed is prepared anew, without an error', async () => {
    const link = await linkTo(server.url, { poolSize: 1 });
    const look = await session(server.url);
    await look.query('CREATE TABLE shape (a int); INSERT INTO shape VALUES (1)');
    const all = { name: 'all', text: 'SELECT * FROM shape' };
    expect(await link.query(all, [])).toEqual([{ a: 1 }]);
    await look.query('ALTER TABLE shape ADD b int');
    expect(await link.query(all, [])).toEqual([{ a: 1, b: null }]);
    expect(await link.query(all, [])).toEqual([{ a: 1, b: null }]);
    expect(link.facts()['statements']).toBe('prepared');
  });

  test('a call that answers one text is prepared under its name, and is answered over every kind of connection', async () => {
    const call = {
      name: 'echo',
      text: 'SELECT $1::text || cardinality($2::text[])::text || coalesce($3::int, 0) AS reply',
    };
    const values = ['a "b" ü ', ['x', 'y,z', null], undefined];
    const own = await linkTo(server.url, { poolSize: 1 });
    for (let i = 0; i < 2; i += 1) expect(await own.reply(call, values)).toBe('a "b" ü 30');
    const prepared = await own.query({ name: 'look', text: 'SELECT name FROM pg_prepared_statements' }, []);
    expect(prepared.filter(({ name }) => String(name).startsWith('echo_'))).toHaveLength(1);
    for (const settings of [{}, { pipeline: true }, { query_timeout: 5_000 }]) {
      const link = await linkTo(undefined, { client: callersPool(server.url, settings) });
      expect(await link.reply(call, values), JSON.stringify(settings)).toBe('a "b" ü 30');
    }
  });

  test('a call that fails says so, and its connection is as good as before', async () => {
    const link = await linkTo(server.url, { poolSize: 1 });
    const divide = { name: 'divide', text: 'SELECT (1 / $1::int)::text AS reply' };
    expect(await link.reply(divide, [1])).toBe('1');
    for (let i = 0; i < 3; i += 1)
      expect((await failure(link.reply(divide, [0]))).message).toContain('division by zero');
    const wrong = { name: 'wrong', text: 'SELECT no_such_function() AS reply' };
    expect(await failure(link.reply(wrong, []))).toMatchObject({ code: 'STORE_INCOMPATIBLE' });
    expect(await link.reply(divide, [1])).toBe('1');
    expect(await link.reply({ name: 'none', text: 'SELECT 1 AS reply WHERE false' }, [])).toBeUndefined();
    expect(await link.reply({ name: 'null', text: 'SELECT NULL::text AS reply' }, [])).toBeNull();
    expect(link.facts()).toMatchObject({ inUse: 0, idle: 1 });
  });

  describe('a connection that is given back', () => {
    const lend = (isOwn: boolean, max = 2): { pool: pg.Pool; connections: Connections; taken: () => number } => {
      const pool = callersPool(server.url, { max, application_name: `keeping-${isOwn}` });
      pool.on('error', () => undefined);
      let taken = 0;
      pool.on('acquire', () => (taken += 1));
      const place = (): Place => ({ server: 'here', schema: 'holdfast', isReadOnly: false });
      const connections = new Connections(pool, { clock: systemClock(), timeoutMs: 5_000, isOwn, place });
      return { pool, connections, taken: () => taken };
    };
    const use = async (connections: Connections): Promise<void> => (await connections.borrow()).giveBack();

    test('is kept for the next call where the pool is our own, and lies in the pool when nobody has called for a while', async () => {
      const { pool, connections, taken } = lend(true);
      for (let i = 0; i < 20; i += 1) await use(connections);
      expect([taken(), pool.idleCount]).toEqual([1, 0]);
      expect(connections.figures()).toMatchObject({ inUse: 0, idle: 1 });
      await until('it lies in the pool', () => pool.idleCount === 1);
      expect(connections.figures()).toMatchObject({ inUse: 0, idle: 1 });
      await use(connections);
      expect(taken()).toBe(2);
      await connections.allBack();
      expect(pool.idleCount).toBe(1);
    });

    test("goes back to a caller's pool at once, and to whoever waits for one", async () => {
      const others = lend(false);
      for (let i = 0; i < 5; i += 1) await use(others.connections);
      expect([others.taken(), others.pool.idleCount]).toEqual([5, 1]);
      const { connections } = lend(true, 1);
      const first = await connections.borrow();
      const second = connections.borrow();
      first.giveBack();
      (await second).giveBack();
      expect(connections.figures()).toMatchObject({ inUse: 0, idle: 1, waiting: 0 });
      await connections.allBack();
    });

    test('S12: is let go when it dies while it is kept', async () => {
      const { pool, connections } = lend(true);
      await use(connections);
      const look = await session(server.url);
      await look.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'keeping-true'",
      );
      await until('it is gone', () => pool.totalCount === 0);
      expect(connections.figures()).toMatchObject({ inUse: 0, idle: 0 });
      await use(connections);
      await connections.allBack();
    });
  });

  test('A11: an exhausted pool is STORE_UNAVAILABLE with its figures after poolTimeout, never a hang', async () => {
    const link = await linkTo(server.url, { poolSize: 2, poolTimeoutMs: 200 });
    const busy = [1, 2].map(() => link.query(sleep, [0.8]));
    const startedAt = performance.now();
    const errors = await Promise.all([1, 2, 3].map(() => failure(link.query(one, []))));
    expect(performance.now() - startedAt).toBeLessThan(700);
    for (const error of errors) {
      expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
      expect(error.details).toMatchObject({ poolSize: 2, inUse: 2, poolTimeoutMs: 200 });
      expect(error.message).toContain('raise poolSize');
    }
    await Promise.all(busy);
    expect(await link.query(one, [])).toEqual([{ one: 1 }]);
    expect(link.facts()).toMatchObject({ inUse: 0, waiting: 0 });
  });

  test("A11: so is a caller's pool that its caller has emptied, and a connection that comes late goes back", async () => {
    const pool = callersPool(server.url, { max: 1 });
    const link = await linkTo(undefined, { client: pool, poolTimeoutMs: 150 });
    const mine = await pool.connect();
    const error = await failure(link.query(one, []));
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', details: { poolSize: 1, inUse: 1, waiting: 1 } });
    mine.release();
    expect(await link.query(one, [])).toEqual([{ one: 1 }]);
    expect(pool.idleCount).toBe(1);
  });

  test('the thousand-and-first who waits is refused at once', async () => {
    const link = await linkTo(server.url, { poolSize: 1, poolTimeoutMs: 10_000 });
    const busy = link.query(sleep, [0.3]);
    await until('the one connection is in use', () => link.facts()['inUse'] === 1);
    const many = Array.from({ length: 1_000 }, () => link.query(one, []));
    const error = await failure(link.query(one, []));
    expect(error.message).toContain('1000 callers wait already');
    await busy;
    await Promise.all(many);
  });

  test('S12: closing waits for what is under way, cuts what does not end, and refuses what comes after', async () => {
    const link = await linkTo(server.url);
    const short = link.query(sleep, [0.2]);
    const long = failure(link.query(sleep, [60]));
    const startedAt = performance.now();
    await link.close();
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    await short;
    expect(await long).toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(await failure(link.query(one, []))).toMatchObject({ code: 'SHUTTING_DOWN' });
    const look = await session(server.url);
    await until('its connections are gone', async () => {
      const { rows } = await look.query("SELECT 1 FROM pg_stat_activity WHERE application_name = 'holdfast'");
      return rows.length === 0;
    });
  });

  test('an open link with a listener does not keep its process alive', () => {
    const program = `
      import { openLink } from ${JSON.stringify(new URL('../../dist/stores/postgres/open-link.js', import.meta.url).href)};
      import { systemClock } from ${JSON.stringify(new URL('../../dist/system-clock.js', import.meta.url).href)};
      const link = await openLink(${JSON.stringify(server.url)}, { clock: systemClock() });
      const alive = setInterval(() => undefined, 1_000); // until it listens
      await new Promise((up) => link.listen('hf', { up, down: (error) => console.log(error), message() {} }));
      clearInterval(alive);
      console.log(link.facts().push);`;
    const done = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect({ status: done.status, out: done.stdout, error: done.stderr }).toEqual({
      status: 0,
      out: 'listening\n',
      error: '',
    });
  });
});
