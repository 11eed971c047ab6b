// The life of the data in PostgreSQL: incarnations (S2), migrations (O4), and servers that live in another time zone.
import pg from 'pg';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LeaseError } from '../../src/domain/errors.js';
import { openPostgres, type PostgresOptions } from '../../src/stores/postgres/index.js';
import { migrate } from '../../src/stores/postgres/migrate.js';
import { openLink } from '../../src/stores/postgres/open-link.js';
import { MIGRATIONS, type Migration } from '../../src/stores/postgres/schema/migrations.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { grant as grantOn } from '../support/ask.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { isSkipped } from '../support/servers/server-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const clock = systemClock();

const LONG = { owner: 'me', ttlMs: 600_000 };
const grant = (store: Store, name: string) => grantOn(store, clock, name, LONG);

async function rejection(call: Promise<unknown>): Promise<LeaseError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof LeaseError) return error;
  throw new Error(`expected a LeaseError, got ${String(error)}`);
}

describe.skipIf(isSkipped('postgres'))('incarnations of the PostgreSQL store', () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());

  test('S2: a copy of the data taken before the last grants repeats no epoch, and says that it is another life', async () => {
    const server = await startPostgres();
    const copy = join(folder.path, 'copy');
    let store = await openPostgres(server.url, { clock });
    const before = await grant(store, 'before');
    const { incarnation } = await store.time();
    const position = (await store.events({ limit: 1 })) as { next?: string };
    await store.close();
    await server.stop('fast');
    server.copyData(copy);
    await server.start();
    store = await openPostgres(server.url, { clock });
    expect((await store.time()).incarnation).not.toBe(incarnation);
    let last = 0;
    for (let i = 0; i < 40; i += 1) last = (await grant(store, `lost/${i}`)).epoch;
    expect(last).toBeGreaterThan(before.epoch);
    await store.close();
    await server.remove();

    const restored = await startPostgres({ copyOf: copy });
    try {
      const after = await openPostgres(restored.url, { clock });
      expect((await grant(after, 'after')).epoch).toBeGreaterThan(last);
      expect((await after.time()).incarnation).not.toBe(incarnation);
      expect((await after.get([before.id])).items[0]?.status).toBe('active');
      expect((await after.events({ after: position.next, limit: 10 })).outcome).toBe('lost');
      await after.close();
    } finally {
      await restored.remove();
    }
  });

  test('S2: a crash is noticed by calls over connections of before and after it, before the first grant', async () => {
    const server = await startPostgres({ settings: { synchronous_commit: 'off' } });
    try {
      const store = await openPostgres(server.url, { clock });
      const epochs = [];
      for (let i = 0; i < 40; i += 1) epochs.push((await grant(store, `a/${i}`)).epoch);
      const { incarnation } = await store.time();
      await server.stop('immediate');
      await server.start();
      const next = await grantWhenUp(store, 'b');
      expect(next.epoch).toBeGreaterThan(Math.max(...epochs));
      expect((await store.time()).incarnation).not.toBe(incarnation);
      await store.close();
    } finally {
      await server.remove();
    }
  });

  test('S2: a killed backend makes the server recover under the same start time; that is another life all the same', async () => {
    const server = await startPostgres({ settings: { synchronous_commit: 'off' } });
    try {
      const store = await openPostgres(server.url, { clock });
      const before = await grant(store, 'a');
      const { incarnation } = await store.time();
      const victim = new pg.Client(server.url);
      victim.on('error', () => undefined);
      await victim.connect();
      const facts = `SELECT pg_backend_pid() AS pid, pg_postmaster_start_time()::text AS started`;
      const { pid, started } = (await victim.query<{ pid: number; started: string }>(facts)).rows[0] ?? {};
      const bystander = new pg.Client(server.url);
      bystander.on('error', () => undefined);
      await bystander.connect();
      // The server ends every session before it recovers.
      const ended = new Promise<void>((resolve) => {
        bystander.once('end', resolve);
      });
      process.kill(pid ?? 0, 'SIGKILL');
      await ended;
      const after = await grantWhenUp(store, 'b');
      expect(after.epoch).toBeGreaterThan(before.epoch);
      expect((await store.time()).incarnation).not.toBe(incarnation);
      const look = new pg.Client(server.url);
      await look.connect();
      expect((await look.query<{ started: string }>(facts)).rows[0]?.started).toBe(started);
      await look.end();
      await store.close();
    } finally {
      await server.remove();
    }
  });
});

/** The first calls after a crash may still go over connections that died with the server, or meet it coming up. */
async function grantWhenUp(store: Store, name: string): ReturnType<typeof grant> {
  for (let tries = 0; tries < 100; tries += 1) {
    try {
      return await grant(store, name);
    } catch (error) {
      if (!(error instanceof LeaseError && error.retryable)) throw error;
      await new Promise<void>((resolve) => {
        clock.after(100, resolve, true);
      });
    }
  }
  throw new Error('the server does not come up');
}

describe.skipIf(isSkipped('postgres'))('one server for the rest', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({ settings: { timezone: 'Asia/Kathmandu', datestyle: 'SQL, DMY' } });
  });
  afterAll(() => server.remove());
  const open = (options: Partial<PostgresOptions> = {}): Promise<Store> =>
    openPostgres(server.url, { clock, ...options });

  test('S13: the time zone and the date style of the server change nothing', async () => {
    const store = await open({ schema: 'zone' });
    const { now } = await store.time();
    expect(Math.abs(now - clock.wall())).toBeLessThan(5_000);
    const lease = await grant(store, 'a');
    expect(lease.expiresAt - lease.acquiredAt).toBe(600_000);
    expect(lease.epoch).toBeGreaterThanOrEqual((now - 5_000) * 1_000);
    await store.close();
  });

  test('O4: eight processes open an empty schema at once; each migration is applied once', async () => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => open({ schema: 'Empty "one"', poolSize: 1 })));
    const applied = (await stores[0]?.migrate({ dryRun: true }))?.applied;
    expect(applied).toEqual(MIGRATIONS.map(({ name }) => name));
    await grant(stores[1] as Store, 'a');
    await Promise.all(stores.map((store) => store.close()));
  });

  test.each(['a{s}b', 'a{l}b', 'a{tuned}b', 'a{quick}b', "'{s}."])('O4: a schema may be called %s', async (schema) => {
    const store = await open({ schema });
    const { id, epoch } = await grant(store, 'a/b');
    expect((await store.end([{ id, epoch, requestId: 'r', why: 'released' }])).results[0]?.outcome).toBe('released');
    await store.close();
  });

  test('O4: one migration more: the program that does not know it runs beside it, unless it says otherwise', async () => {
    const [store, link] = [await open({ schema: 'newer' }), await openLink(server.url, { clock, schema: 'newer' })];
    const more: Migration = { name: '9001-more', text: 'ALTER TABLE {s}.lease ADD COLUMN mood text', oldestCode: 1 };
    await migrate(link, 'newer', { dryRun: false, known: [...MIGRATIONS, more] });
    await grant(store, 'of the one that was running');
    const beside = await open({ schema: 'newer', migrate: 'check' });
    await grant(beside, 'of the one that came later');
    const breaking: Migration = { name: '9002-breaking', text: 'SELECT 1', oldestCode: 9_000 };
    await migrate(link, 'newer', { dryRun: false, known: [...MIGRATIONS, more, breaking] });
    const error = await rejection(open({ schema: 'newer' }));
    expect(error.code).toBe('STORE_INCOMPATIBLE');
    expect(error.message).toMatch(/9002-breaking.*Upgrade this program/s);
    await Promise.all([store.close(), beside.close(), link.close()]);
  });

  test('O4: migrations that are missing are applied by whoever opens it; `check` refuses and says what to do', async () => {
    const link = await openLink(server.url, { clock, schema: 'older' });
    await migrate(link, 'older', { dryRun: false, known: MIGRATIONS.slice(0, 1) });
    const dry = await migrate(link, 'older', { dryRun: true });
    expect(dry.pending).toEqual(MIGRATIONS.slice(1).map(({ name }) => name));
    const refused = await rejection(open({ schema: 'older', migrate: 'check' }));
    expect([refused.code, /holdfast migrate/.test(refused.message)]).toEqual(['STORE_INCOMPATIBLE', true]);
    const store = await open({ schema: 'older' });
    await grant(store, 'a');
    await Promise.all([store.close(), link.close()]);
  });

  test('O4: a migration that was edited after it was applied is refused', async () => {
    const link = await openLink(server.url, { clock, schema: 'edited' });
    const first = MIGRATIONS[0] as Migration;
    await migrate(link, 'edited', { dryRun: false, known: [{ ...first, text: `${first.text}\n-- edited` }] });
    expect((await rejection(open({ schema: 'edited' }))).code).toBe('STORE_INCOMPATIBLE');
    await link.close();
  });

  test('O4: without the right to make the schema it says what to run; with one an admin made, a plain role works', async () => {
    const admin = new pg.Client(server.url);
    await admin.connect();
    await admin.query(`CREATE ROLE plain LOGIN PASSWORD 'plain'; REVOKE CREATE ON DATABASE holdfast FROM PUBLIC`);
    const url = server.url.replace('holdfast:secret', 'plain:plain');
    const refused = await rejection(openPostgres(url, { clock, schema: 'made' }));
    expect(refused.code).toBe('FORBIDDEN');
    expect(refused.message).toMatch(/holdfast migrate/);
    expect(refused.message).not.toMatch(/plain:plain/);
    await (await open({ schema: 'made' })).close();
    await admin.query(`GRANT USAGE ON SCHEMA made TO plain`);
    await admin.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA made TO plain`);
    await admin.query(`GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA made TO plain`);
    await admin.end();
    const store = await openPostgres(url, { clock, schema: 'made', migrate: 'check' });
    const lease = await grant(store, 'a');
    const fresh = await grant(store.within('a-new-namespace'), 'a');
    expect(fresh.epoch).toBeGreaterThan(0);
    const ended = await store.end([{ id: lease.id, epoch: lease.epoch, requestId: 'r', why: 'released' }]);
    expect(ended.results[0]?.outcome).toBe('released');
    const held = { stream: 's', operationId: 'op' };
    const numbers = { ...held, kind: 'k', ttlMs: 60_000, count: 1, owner: 'o' };
    const [leased] = (await store.sequences!.lease([numbers])).results;
    if (leased?.outcome !== 'leased') throw new Error(`expected leased, got ${JSON.stringify(leased)}`);
    const tx = new pg.Client(url);
    await tx.connect();
    await tx.query('BEGIN');
    await store.sequences!.commitIn!(tx, { ...held, epoch: leased.epoch, operations: [1] });
    await tx.query('COMMIT');
    await tx.end();
    const page = await store.sequences!.read({ stream: 's', from: 1, limit: 1, seal: true, watch: true });
    expect(page.items).toHaveLength(1);
    await store.close();
  });

  test('O4: for looking only, what is not there is not made', async () => {
    const error = await rejection(open({ schema: 'nobody_made_it', readOnly: true }));
    expect([error.code, error.details['missing']]).toEqual(['STORE_UNAVAILABLE', true]);
    await (await open({ schema: 'looked_at' })).close();
    const store = await open({ schema: 'looked_at', readOnly: true, namespace: 'elsewhere' });
    expect((await store.list({ limit: 10 })).items).toEqual([]);
    expect((await store.time()).epoch).toBeGreaterThan(0);
    await store.close();
  });

  test('A8: a backup is refused with what to use instead', async () => {
    const store = await open({ schema: 'backup' });
    expect((await rejection(store.backup('/tmp/x'))).message).toMatch(/pg_dump --schema=backup/);
    await store.close();
  });
});
