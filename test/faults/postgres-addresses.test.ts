// Addresses, roles and servers that are wrong from the start: each is told at once, with its code, whether trying again helps,
// and what to do; never with the password.
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/connect.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { freePort, isSkipped } from '../support/servers/server-process.js';
import {
  callersPool,
  Ear,
  endSessionsOf,
  failure,
  linkTo,
  one,
  session,
  until,
} from '../support/postgres-link-site.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe.skipIf(isSkipped('postgres'))('wrong from the start', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  test.each([
    ['the password', 'UNAUTHORIZED', false, /check user and password/, (url: string) => url.replace('secret', 'hush')],
    ['no password', 'UNAUTHORIZED', false, /asks for a password/, (url: string) => url.replace(':secret', '')],
    ['the user', 'UNAUTHORIZED', false, /check user/, (url: string) => url.replace('//holdfast', '//nobody')],
    ['the database', 'STORE_UNAVAILABLE', false, /create it/, (url: string) => url.replace(/holdfast$/, 'nowhere')],
    ['the host', 'STORE_UNAVAILABLE', true, /host/, (url: string) => url.replace('127.0.0.1', 'no-such-host.invalid')],
    ['sslmode', 'STORE_UNAVAILABLE', false, /sslmode=disable/, (url: string) => `${url}?sslmode=verify-full`],
    ['a file', 'INVALID_ARGUMENT', false, /no-such-file/, (url: string) => `${url}?sslrootcert=/no-such-file.crt`],
    ['the port', 'INVALID_ARGUMENT', false, /cannot be read/, (url: string) => url.replace(/:\d+\//, ':999999/')],
    ['the scheme', 'INVALID_ARGUMENT', false, /postgres:\/\//, (url: string) => url.replace('postgres', 'mysql')],
  ])('A11: %s', async (_what, code, retryable, says, spoil) => {
    const error = await failure(linkTo(spoil(server.url)));
    expect(error).toMatchObject({ code, retryable });
    expect(error.message).toMatch(says);
    const everything = JSON.stringify([error.message, error.details, error.cause]) + String(error.cause);
    expect(everything).not.toMatch(/secret|hush/);
  });

  test("A11: a server older than 13 is refused by its version, whether the pool is the store's own or the caller's", async () => {
    const owner = await session(server.url);
    // A function of a schema that is named before pg_catalog hides the server's own: so does a server of today say that it is older.
    await owner.query(`CREATE SCHEMA old;
      CREATE TABLE old.said (name text PRIMARY KEY, value text);
      CREATE FUNCTION old.current_setting(asked text) RETURNS text LANGUAGE sql STABLE AS $$
        SELECT coalesce((SELECT value FROM old.said WHERE name = asked), pg_catalog.current_setting(asked)) $$;
      CREATE ROLE dated SUPERUSER LOGIN PASSWORD 'secret';
      ALTER ROLE dated SET search_path = old, pg_catalog`);
    const say = (number: string, version: string): Promise<unknown> =>
      owner.query(
        `INSERT INTO old.said VALUES ('server_version_num', $1), ('server_version', $2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
        [number, version],
      );
    const url = server.url.replace('//holdfast', '//dated');
    const pool = callersPool(url);
    const ways = [
      () => connect(url, { schema: 'dated', services: 'off' }),
      () => connect('postgres:', { client: pool, schema: 'dated', services: 'off' }),
    ];
    for (const way of ways) {
      for (const [number, version] of [
        ['120015', '12.15'],
        ['129999', '12.99'],
        ['90624', '9.6.24'],
      ] as const) {
        await say(number, version);
        const refused = await failure(way());
        expect(refused).toMatchObject({ code: 'STORE_INCOMPATIBLE', retryable: false, details: { version } });
        expect(refused.message).toContain(`127.0.0.1:${server.port}/holdfast is PostgreSQL ${version}: 13 or newer`);
      }
    }
    const made = await owner.query("SELECT 1 FROM pg_namespace WHERE nspname = 'dated'");
    expect(made.rows).toEqual([]);
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]); // not ended, and nothing of it is kept
    expect([pool.totalCount, pool.idleCount]).toEqual([1, 1]);

    await say('130000', '13.0');
    for (const way of ways) {
      const leases = await way();
      await (await leases.acquire('dated')).release();
      await leases.shutdown();
    }
  });

  test('A11: nobody there, and somebody who says nothing', async () => {
    const url = (port: number): string => `postgres://holdfast:secret@127.0.0.1:${port}/holdfast`;
    const nobody = await failure(linkTo(url(await freePort())));
    expect(nobody).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect(nobody.message).toContain('nobody listens there');

    const mute = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    onTestFinished(() => void mute.close());
    const silent = await failure(linkTo(url((mute.address() as AddressInfo).port), { poolTimeoutMs: 300 }));
    expect(silent).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect(silent.message).toContain('no connection to PostgreSQL at 127.0.0.1');
  });

  test.each([
    ['an object', {}],
    ['null', null],
    ['a number', 7],
    ['a url', 'postgres://host/database'],
    ['a single client', new pg.Client()],
  ])('A11: %s is no pool', async (_what, client) => {
    expect(await failure(linkTo(undefined, { client }))).toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('A11: options that do not go together, or are out of bounds', async () => {
    const pool = callersPool(server.url);
    for (const refused of [
      linkTo(server.url, { client: pool }),
      linkTo(undefined, { client: pool, poolSize: 3 }),
      linkTo(undefined),
      linkTo(server.url, { poolSize: 0 }),
      linkTo(server.url, { poolTimeoutMs: 0.5 }),
      linkTo(server.url, { listenUrl: 'redis://x' }),
    ]) {
      expect(await failure(refused)).toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    expect((await linkTo('postgres:', { client: pool })).facts()).toMatchObject({ pool: "the caller's" });
    expect(
      await failure(linkTo(undefined, { client: callersPool(server.url, { binary: true } as pg.PoolConfig) })),
    ).toMatchObject({ code: 'STORE_INCOMPATIBLE', message: expect.stringContaining('binary') as unknown });
  });

  test('A11: a role without rights is FORBIDDEN and told what to GRANT; one without connections may try again', async () => {
    const owner = await session(server.url);
    await owner.query("CREATE ROLE guest LOGIN PASSWORD 'secret' CONNECTION LIMIT 1");
    const url = server.url.replace('//holdfast', '//guest');
    const link = await linkTo(url);
    const refused = await failure(link.query({ name: 'make', text: 'CREATE SCHEMA holdfast' }, []));
    expect(refused).toMatchObject({ code: 'FORBIDDEN', retryable: false });
    expect(refused.message).toContain('GRANT');
    const crowded = await failure(linkTo(url));
    expect(crowded).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect(crowded.message).toContain('no connection left');
  });

  describe('a replica', () => {
    const folder = temporaryFolder();
    let replica: PostgresServer;
    beforeAll(async () => {
      const copy = join(folder.path, 'data');
      await server.stop();
      server.copyData(copy);
      await server.start();
      writeFileSync(join(copy, 'standby.signal'), '');
      replica = await startPostgres({ copyOf: copy });
    });
    afterAll(async () => {
      await replica.remove();
      folder.remove();
    });

    test('A11: is STORE_INCOMPATIBLE for whoever opens it', async () => {
      const link = await linkTo(replica.url);
      expect(await link.query(one, [])).toEqual([{ one: 1 }]);
      const wrong = await failure(link.query({ name: 'write', text: 'CREATE TABLE t ()' }, []));
      expect(wrong).toMatchObject({ code: 'STORE_INCOMPATIBLE', retryable: false });
      expect(wrong.message).toContain('read-only replica');
    });

    test('S19, Q3: refuses LISTEN, which is told once, with the reason; so is a wrong listenUrl', async () => {
      const refused = await linkTo(server.url, { listenUrl: replica.url });
      const wrong = await linkTo(server.url, { listenUrl: server.url.replace('secret', 'hush') });
      const ears = [new Ear(), new Ear()];
      refused.listen('hf', ears[0]!);
      wrong.listen('hf', ears[1]!);
      await until('both were told', () => ears.every(({ downs }) => downs.length === 1));
      expect(ears[0]!.downs[0]).toMatchObject({ code: 'STORE_INCOMPATIBLE', retryable: false });
      expect(ears[1]!.downs[0]).toMatchObject({ code: 'UNAUTHORIZED', retryable: false });
      expect(wrong.facts()['push']).toMatch(/^polling: .*check user and password/);
    });
  });

  test('A11: a server that became read-only is something that passes, and the next call connects anew', async () => {
    const owner = await session(server.url);
    await owner.query("CREATE ROLE writer LOGIN PASSWORD 'secret'");
    const link = await linkTo(server.url.replace('//holdfast', '//writer'));
    await owner.query('ALTER ROLE writer SET default_transaction_read_only = on');
    await endSessionsOf('writer', owner);
    await until('the pool has noticed', () => link.facts()['idle'] === 0);
    const write = { name: 'write', text: 'CREATE TEMP TABLE t (); DROP TABLE t' };
    const later = await failure(link.transaction((query) => query(write, [])));
    expect(later).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect(later.message).toContain('became a replica');
    await owner.query('ALTER ROLE writer RESET default_transaction_read_only');
    await link.transaction((query) => query(write, []));
  });
});
