// PgBouncer in transaction mode (S19): it hands each statement to another connection of the server, keeps no prepared names
// and delivers no notifications. Answers stay right, and the facts say what was given up.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startPgbouncer, type PgbouncerServer } from '../support/servers/pgbouncer-server.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { isSkipped } from '../support/servers/server-process.js';
import { Ear, failure, linkTo, one, session, sleep, until } from '../support/postgres-link-site.js';

describe.skipIf(isSkipped('postgres') || isSkipped('pgbouncer'))('behind PgBouncer in transaction mode', () => {
  let server: PostgresServer;
  let pooler: PgbouncerServer;
  beforeAll(async () => {
    server = await startPostgres();
    pooler = await startPgbouncer(server);
  });
  afterAll(async () => {
    await pooler.remove();
    await server.remove();
  });

  test('S19: every answer is right while two clients share connections, and names are given up without an error', async () => {
    const links = await Promise.all([linkTo(pooler.url), linkTo(pooler.url)]);
    const texts = ['SELECT $1::int + 1 AS n', 'SELECT $1::int * 2 AS n'];
    const rounds = Array.from({ length: 200 }, (_, i) => i);
    const answers = await Promise.all(
      rounds.flatMap((i) => links.map((link, which) => link.query({ name: 'same', text: texts[which]! }, [i]))),
    );
    expect(answers).toEqual(rounds.flatMap((i) => [[{ n: i + 1 }], [{ n: i * 2 }]]));
    expect(links.map((link) => link.facts()['statements'])).toEqual([
      'not prepared: a pooler keeps no names',
      'not prepared: a pooler keeps no names',
    ]);
  });

  test('S19: one name with two texts, as two versions of this program may have it, never runs the other text', async () => {
    const two = await startPgbouncer(server, { poolSize: 2 });
    onTestFinished(() => two.remove());
    const [first, second] = [await session(two.url), await session(two.url)];
    const older = { name: 'same', text: 'SELECT $1::int + 1 AS n' };
    const newer = { name: 'same', text: 'SELECT $1::int * 2 AS n' };
    // Whoever is in a transaction keeps one of the two connections; the link under test gets the other one.
    await first.query('BEGIN');
    await second.query('BEGIN');
    await first.query('ROLLBACK');
    const old = await linkTo(two.url);
    expect(await old.query(older, [5])).toEqual([{ n: 6 }]);
    await first.query('BEGIN');
    await second.query('ROLLBACK');
    const fresh = await linkTo(two.url);
    expect(await fresh.query(newer, [5])).toEqual([{ n: 10 }]);
    expect(fresh.facts()['statements']).toBe('prepared');
    await second.query('BEGIN');
    await first.query('ROLLBACK');
    expect(await fresh.query(newer, [5])).toEqual([{ n: 10 }]);
    await second.query('ROLLBACK');
  });

  test('S19: a transaction stays on one connection', async () => {
    const link = await linkTo(pooler.url);
    const pid = { name: 'pid', text: 'SELECT pg_backend_pid() AS pid, txid_current() AS tx' };
    const rows = await link.transaction(async (query) => {
      const first = await query(pid, []);
      await Promise.all([1, 2, 3].map(() => link.query(sleep, [0.02])));
      return [...first, ...(await query(pid, []))];
    });
    expect(rows[0]).toEqual(rows[1]);
  });

  test('S19, Q3: a pooler that takes LISTEN and delivers nothing is found out, told once, and said in the facts', async () => {
    const link = await linkTo(pooler.url);
    const ear = new Ear();
    link.listen('hf', ear);
    await until('it was told', () => ear.downs.length > 0);
    expect(ear.ups).toBe(0);
    expect(ear.downs).toHaveLength(1);
    expect(ear.downs[0]).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: false, details: { deaf: true } });
    expect(ear.downs[0]?.message).toContain('listenUrl');
    expect(link.facts()['push']).toMatch(/^polling: .*transaction mode/);
    const late = new Ear();
    link.listen('hf', late);
    expect(late.downs).toHaveLength(1);
    expect(await link.query(one, [])).toEqual([{ one: 1 }]);
  });

  test('S19, Q3: with listenUrl to the server itself it hears, and in session mode without', async () => {
    const direct = await linkTo(pooler.url, { listenUrl: server.url });
    const bySession = await startPgbouncer(server, { mode: 'session', poolSize: 20 });
    try {
      const pooled = await linkTo(bySession.url);
      const ears = [new Ear(), new Ear()];
      direct.listen('hf', ears[0]!);
      pooled.listen('hf', ears[1]!);
      await until('both listen', () => ears.every((ear) => ear.ups === 1));
      await direct.query({ name: 'say', text: 'SELECT pg_notify($1, $2)' }, ['hf', 'hello']);
      await until('both heard', () => ears.every((ear) => ear.heard.length === 1));
      expect(direct.facts()['push']).toBe('listening');
      await pooled.close();
    } finally {
      await bySession.remove();
    }
  });

  test('A11: a wrong password, an unknown database and a server that is gone behind the pooler', async () => {
    expect(await failure(linkTo(pooler.url.replace('secret', 'hush')))).toMatchObject({ code: 'UNAUTHORIZED' });
    expect(await failure(linkTo(pooler.url.replace(/holdfast$/, 'nowhere')))).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      retryable: false,
    });
    const link = await linkTo(pooler.url, { poolTimeoutMs: 2_000 });
    const look = await session(server.url);
    const call = failure(link.query(sleep, [30]));
    await until('the server is at it', async () => {
      const { rows } = await look.query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
      return rows.length === 1;
    });
    await server.stop('immediate');
    expect(await call).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    await server.start();
    await until('it is usable again', () =>
      link.query(one, []).then(
        () => true,
        (error: unknown) => {
          expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
          return false;
        },
      ),
    );
  });
});
