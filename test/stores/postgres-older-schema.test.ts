// The schema is brought up to date under the feet of those who run on it as it was (O4, decision 0010): their calls wait for nothing
// that a migration holds, none fails, and what they hold, wait for and are told goes on beside what newer processes do.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/connect.js';
import type { Holdfast } from '../../src/holdfast.js';
import { openPostgres } from '../../src/stores/postgres/index.js';
import { checkMigrated, migrate } from '../../src/stores/postgres/migrate.js';
import { openLink } from '../../src/stores/postgres/open-link.js';
import { PostgresStore } from '../../src/stores/postgres/postgres-store.js';
import { inSchema } from '../../src/stores/postgres/quote.js';
import { MIGRATIONS, type Migration } from '../../src/stores/postgres/schema/migrations.js';
import { SchemaCalls } from '../../src/stores/postgres/schema-calls.js';
import { systemClock } from '../../src/system-clock.js';
import { failure, session, until } from '../support/postgres-link-site.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const SCHEMA = 'older';
const [OLDER, NEWEST] = [MIGRATIONS.slice(0, -1), MIGRATIONS.at(-1) as Migration];
const PAIRS = 20;
const WORKERS = 4;

describe.skipIf(isSkipped('postgres'))('on a schema that is one migration older', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  /** A process of the version before: it knows one migration less, and calls the functions that were there then. */
  const olderProcess = async (): Promise<Holdfast> => {
    const link = await openLink(server.url, { clock, schema: SCHEMA });
    await migrate(link, SCHEMA, { dryRun: false, known: OLDER });
    const text = `SELECT ${SCHEMA}.channel_v1() AS channel, ${SCHEMA}.begin_life_v1(), ${SCHEMA}.open_namespace_v1('default')`;
    const [row] = await link.query({ name: 'begin', text }, []);
    const calls = new SchemaCalls(link, SCHEMA, {
      clock,
      channel: String(row?.['channel']),
      isReadOnly: false,
      awake: false,
    });
    const leases = await connect(new PostgresStore(calls, 'default'), { services: 'off' });
    onTestFinished(() => leases.shutdown());
    return leases;
  };

  test('O4: one that works on it goes on while newer code brings it up to date, and beside that code', async () => {
    const [older, another] = [await olderProcess(), await olderProcess()];
    const held = await older.acquire('held', { ttl: 3_000 });
    const waited = await older.acquire('waited-for', { ttl: '60s' });
    const waiting = another.acquire('waited-for', { wait: 'forever' });
    await until('it is in the queue', async () => (await older.show('waited-for')).queue.length === 1);

    const stop = new AbortController();
    let pairs = 0;
    const worker = async (leases: Holdfast, i: number): Promise<void> => {
      while (!stop.signal.aborted) {
        await leases.withLease([`work/${i}`, 'shared-by-all'], { wait: '20s' }, async () => undefined);
        pairs += 1;
      }
    };
    const working = Promise.all(Array.from({ length: WORKERS }, (_, i) => worker(i % 2 === 0 ? older : another, i)));
    const somePairs = async (): Promise<void> => {
      const enough = pairs + PAIRS;
      await until('more was done', () => pairs >= enough);
    };
    await somePairs();

    // As long as it is under way nobody waits for it.
    const migrating = await session(server.url);
    await migrating.query('BEGIN');
    await migrating.query(inSchema(NEWEST.text, SCHEMA));
    await somePairs();
    await migrating.query('ROLLBACK');

    const refused = await failure(openPostgres(server.url, { clock, schema: SCHEMA, migrate: 'check' }));
    expect(refused.code).toBe('STORE_INCOMPATIBLE');
    expect(refused.message).toContain(`lacks ${NEWEST.name}`);
    const newer = await connect(await openPostgres(server.url, { clock, schema: SCHEMA }), { services: 'off' });
    onTestFinished(() => newer.shutdown());
    await somePairs();
    stop.abort();
    await working;

    // Each sees what the other has, and wakes it.
    expect((await newer.show('held')).holders.map(({ id }) => id)).toEqual([held.id]);
    const renewed = await held.renew();
    expect(renewed.renewals).toBeGreaterThan(0);
    expect(held.signal.aborted).toBe(false);
    await newer.revoke({ leaseId: waited.id, reason: 'test' });
    const next = await waiting;
    const later = newer.acquire('waited-for', { wait: 'forever' });
    await until('it is in the queue', async () => (await older.show('waited-for')).queue.length === 1);
    await next.release();
    const last = await later;
    expect([next.epoch > waited.epoch, last.epoch > next.epoch]).toEqual([true, true]);
    await Promise.all([last.release(), held.release()]);
    const { number } = await newer.sequence('orders').lease({ operationId: 'op', kind: 'k' });
    expect(number).toBe(1);
    const link = await openLink(server.url, { clock, schema: SCHEMA });
    onTestFinished(() => link.close());
    expect((await checkMigrated(link, SCHEMA, false)).applied).toEqual(MIGRATIONS.map(({ name }) => name));
  });
});
