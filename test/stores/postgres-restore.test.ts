// Backups put back on a PostgreSQL server that goes on running (S2): nothing of the server changes, and a dump holds the row that names
// its life as well. That row is known by where and by whom it was written, so a copy of it begins another life.
import { spawnSync } from 'node:child_process';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryGate } from '../../src/guards/index.js';
import { openPostgres } from '../../src/stores/postgres/index.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { grant as grantOn } from '../support/ask.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { findBinary, isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const grant = (store: Store, name: string) => grantOn(store, clock, name, { owner: 'me', ttlMs: 600_000 });

describe.skipIf(isSkipped('postgres'))('a backup of the PostgreSQL store', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  function run(binary: string, args: readonly string[], input = ''): string {
    const done = spawnSync(findBinary(binary), [...args, '-d', server.url], { input, encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`${binary} failed: ${done.stderr}${done.error?.message ?? ''}`);
    return done.stdout;
  }
  const psql = (text: string) => run('psql', ['--single-transaction', '-q', '-v', 'ON_ERROR_STOP=1'], text);

  async function sql(text: string, url = server.url): Promise<void> {
    const client = new pg.Client(url);
    await client.connect();
    try {
      await client.query(text);
    } finally {
      await client.end();
    }
  }

  const wholeSchema = (schema: string) => `DROP SCHEMA ${schema} CASCADE;`;
  const everyTable = (
    schema: string,
  ) => `DO $$ BEGIN EXECUTE (SELECT 'TRUNCATE ' || string_agg(c.oid::regclass::text, ', ')
    FROM pg_class c WHERE c.relnamespace = '${schema}'::regnamespace AND c.relkind = 'r'); END $$;`;
  const everyRow = (schema: string) => `DO $$ BEGIN EXECUTE (SELECT string_agg('DELETE FROM ' || c.oid::regclass, ';')
    FROM pg_class c WHERE c.relnamespace = '${schema}'::regnamespace AND c.relkind = 'r'); END $$;`;

  test.each([
    { what: 'the schema', schema: 'whole', flags: [], emptied: wholeSchema },
    { what: 'the data alone, into emptied tables', schema: 'emptied', flags: ['--data-only'], emptied: everyTable },
    { what: 'the data alone, row by row', schema: 'rows', flags: ['--data-only', '--inserts'], emptied: everyRow },
  ])('S2, H1, S11: a dump of $what put back begins another life', async ({ schema, flags, emptied }) => {
    const store = await openPostgres(server.url, { clock, schema });
    await grant(store, 'before');
    const { incarnation } = await store.time();
    const dump = run('pg_dump', [`--schema=${schema}`, ...flags]);
    const gate = memoryGate();
    const lost = [];
    for (let i = 0; i < 5; i += 1) lost.push(await grant(store, `orders/${i}`));
    const older = { resource: 'orders/0', epoch: lost[0]!.epoch };
    await gate.admit(older);
    const position = (await store.events({ limit: 100 })) as { next?: string };

    psql(emptied(schema) + dump);
    const after = await grant(store, 'orders/0');
    expect(after.epoch).toBeGreaterThan(Math.max(...lost.map(({ epoch }) => epoch)));
    expect((await store.time()).incarnation).not.toBe(incarnation);
    expect((await store.events({ after: position.next, limit: 10 })).outcome).toBe('lost');
    await gate.admit({ resource: 'orders/0', epoch: after.epoch });
    await expect(gate.admit(older)).rejects.toMatchObject({ code: 'STALE_EPOCH' });
    const { incarnation: present } = await store.time();
    await grant(store, 'orders/1');
    expect((await store.time()).incarnation).toBe(present);
    await store.close();
  });

  test('S2: a copy of the database made from it as a template is another life, also under its name', async () => {
    const [url, elsewhere] = [`${server.url}_kept`, server.url.replace(/[^/]+$/, 'postgres')];
    await sql('CREATE DATABASE holdfast_kept');
    let store = await openPostgres(url, { clock });
    await grant(store, 'before');
    const { incarnation } = await store.time();
    await store.close();
    await sql('CREATE DATABASE holdfast_copy TEMPLATE holdfast_kept', elsewhere);
    store = await openPostgres(url, { clock });
    const lost = await grant(store, 'after');
    expect((await store.time()).incarnation).toBe(incarnation);
    await store.close();
    await sql('DROP DATABASE holdfast_kept', elsewhere);
    await sql('ALTER DATABASE holdfast_copy RENAME TO holdfast_kept', elsewhere);
    store = await openPostgres(url, { clock });
    expect((await grant(store, 'after')).epoch).toBeGreaterThan(lost.epoch);
    expect((await store.time()).incarnation).not.toBe(incarnation);
    await store.close();
  });

  test.each(['VACUUM FREEZE', 'VACUUM FULL', 'VACUUM (FULL, FREEZE)'])(
    'S2: %s leaves the life as it is',
    async (how) => {
      const store = await openPostgres(server.url, { clock, schema: 'vacuumed' });
      const { incarnation } = await store.time();
      await sql(`${how} vacuumed.life`);
      await grant(store, how);
      expect((await store.time()).incarnation).toBe(incarnation);
      await store.close();
    },
  );

  test('S2: a life that begins inside a savepoint is one, and goes on', async () => {
    const store = await openPostgres(server.url, { clock, schema: 'savepoint' });
    await sql(
      `BEGIN; DELETE FROM savepoint.life; SAVEPOINT a; SELECT savepoint.enter_v1('default'); RELEASE a; COMMIT`,
    );
    const { incarnation } = await store.time();
    await grant(store, 'a');
    expect((await store.time()).incarnation).toBe(incarnation);
    await store.close();
  });
});
