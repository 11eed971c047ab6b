// Who may make something in the PostgreSQL store (O4). A namespace is made with the rights of the schema's owner, by functions that
// anybody can call: they ask whether the caller may write. The grants are those of docs/stores/postgres.md.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgres } from '../../src/stores/postgres/index.js';
import { systemClock } from '../../src/system-clock.js';
import { grant } from '../support/ask.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const FORBIDDEN = '42501';
const SETUP = `
  CREATE ROLE app NOLOGIN;
  GRANT USAGE ON SCHEMA holdfast TO app;
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA holdfast TO app;
  GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA holdfast TO app;
  CREATE ROLE viewer LOGIN PASSWORD 'secret';
  GRANT USAGE ON SCHEMA holdfast TO viewer;
  GRANT SELECT ON ALL TABLES IN SCHEMA holdfast TO viewer;
  GRANT SELECT ON ALL SEQUENCES IN SCHEMA holdfast TO viewer;
  CREATE ROLE member LOGIN PASSWORD 'secret' IN ROLE app;
  CREATE ROLE turncoat LOGIN NOINHERIT PASSWORD 'secret' IN ROLE app;`;

describe.skipIf(isSkipped('postgres'))('rights in the PostgreSQL store', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
    await (await openPostgres(server.url, { clock })).close();
    await as('holdfast', (owner) => owner.query(SETUP));
  });
  afterAll(() => server.remove());

  const urlOf = (role: string) => server.url.replace('holdfast:secret', `${role}:secret`);
  async function as<T>(role: string, act: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client(urlOf(role));
    await client.connect();
    try {
      return await act(client);
    } finally {
      await client.end();
    }
  }
  async function everything(): Promise<unknown> {
    const counters = `SELECT relname AS name FROM pg_class WHERE relnamespace = 'holdfast'::regnamespace AND relkind = 'S'`;
    const text = `SELECT name FROM holdfast.namespace UNION ALL SELECT incarnation FROM holdfast.life UNION ALL ${counters} ORDER BY 1`;
    return (await as('holdfast', (owner) => owner.query(text))).rows;
  }

  test.each(['open_namespace_v1($$made-by-viewer$$)', 'begin_life_v1()', 'enter_v1($$made-by-viewer$$)'])(
    'O4: who may only look makes nothing with %s',
    async (call) => {
      if (call.startsWith('begin')) await as('holdfast', (owner) => owner.query('DELETE FROM holdfast.life'));
      const before = await everything();
      const asked = as('viewer', (viewer) => viewer.query(`SELECT holdfast.${call}`));
      await expect(asked).rejects.toMatchObject({ code: FORBIDDEN });
      expect(await everything()).toEqual(before);
    },
  );

  test('O4: who may only look still looks, also into a namespace that is not there', async () => {
    await (await openPostgres(server.url, { clock })).close(); // begins a life, if there is none
    const store = await openPostgres(urlOf('viewer'), { clock, readOnly: true });
    expect((await store.within('not-there').list({ limit: 10 })).items).toEqual([]);
    expect((await store.time()).incarnation).not.toBe('unwritten');
    await store.close();
  });

  test('O4: a right that came with another role counts, inherited or taken on', async () => {
    const store = await openPostgres(urlOf('member'), { clock, migrate: 'check', namespace: 'of-a-member' });
    expect((await grant(store, clock, 'a')).epoch).toBeGreaterThan(0);
    await store.close();
    await as('turncoat', async (client) => {
      const opens = `SELECT holdfast.open_namespace_v1('of-a-turncoat')`;
      await expect(client.query(opens)).rejects.toMatchObject({ code: FORBIDDEN });
      await client.query(`SET ROLE app; ${opens}`);
    });
    expect(JSON.stringify(await everything())).toContain('of-a-turncoat');
  });

  test.each(['', 'has a space', 'line\nbreak', 'x'.repeat(65), 'ümlaut'])(
    'O4: what is no name of a namespace becomes none: %j',
    async (name) => {
      const asked = as('member', (client) => client.query('SELECT holdfast.open_namespace_v1($1)', [name]));
      await expect(asked).rejects.toMatchObject({ code: 'HF002' });
    },
  );
});
