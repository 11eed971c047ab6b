// A replica is no store: whoever opens one is told so, and whoever was connected to a primary that becomes one holds, waits and asks as with
// any server that is away, until it is promoted.
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connect, type ConnectOptions } from '../../src/connect.js';
import type { Holdfast } from '../../src/holdfast.js';
import { openPostgres } from '../../src/stores/postgres/index.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { callersPool, failure, session, until } from '../support/postgres-link-site.js';
import { PASSWORD, startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { isSkipped } from '../support/servers/server-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const TTL_MS = 1_000;

async function joined(url: string, options: ConnectOptions = {}): Promise<Holdfast> {
  const leases = await connect(url, { services: 'off', ...options });
  onTestFinished(() => leases.shutdown().catch(() => undefined));
  return leases;
}

/** The server takes the signal away itself. */
async function promote({ url }: PostgresServer): Promise<void> {
  await (await session(url)).query('SELECT pg_promote(true, 60)');
}

async function toLook(url: string): Promise<Store> {
  const store = await openPostgres(url, { clock: systemClock(), readOnly: true });
  onTestFinished(() => store.close());
  return store;
}

describe.skipIf(isSkipped('postgres'))('a PostgreSQL server that becomes a replica', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  const becomesReplica = async (): Promise<void> => {
    await server.stop();
    writeFileSync(join(server.dataFolder, 'standby.signal'), '');
    await server.start();
  };
  const isPromoted = async (): Promise<void> => {
    if (existsSync(join(server.dataFolder, 'standby.signal'))) await promote(server);
  };

  test('S2, S7, S9: a holder loses at its own deadline, a waiter waits on, and after the promotion it has a higher epoch', async () => {
    const [holder, waiter] = await Promise.all([joined(server.url), joined(server.url)]);
    const lease = await holder.acquire('door', { ttl: '20s' });
    const short = await holder.acquire('short', { ttl: TTL_MS });
    const waiting = waiter.acquire('door', { wait: 'forever' });
    waiting.catch(() => undefined); // where this test fails, its end ends it
    await until('it is in the queue', async () => (await holder.show('door')).queue.length === 1);
    await becomesReplica();
    onTestFinished(isPromoted);
    const refused = await failure(holder.acquire('another', { wait: 1_500 }));
    expect(refused).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect(refused.message).toContain('became a replica');
    expect(await failure(holder.show('door'))).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    await until('the short one is lost', () => short.signal.aborted, 2 * TTL_MS);
    expect(lease.isHeld).toBe(true);

    await isPromoted();
    await until('the holder gets through', () => lease.tryRenew());
    await lease.release();
    const next = await waiting;
    expect(next.epoch).toBeGreaterThan(lease.epoch);
    await next.release();
  });

  test.each([
    ['by url', (url: string) => connect(url)],
    ['to look only, when it looks', async (url: string) => (await toLook(url)).list({ limit: 10 })],
    ["with migrate: 'check'", (url: string) => connect(url, { migrate: 'check' })],
    ["over the caller's pool", (url: string) => connect('postgres:', { client: callersPool(url) })],
  ])('A11: whoever opens a replica is told so: %s', async (_how, open) => {
    await (await joined(server.url)).shutdown(); // the schema and this life are there
    await becomesReplica();
    onTestFinished(isPromoted);
    const refused = await failure(open(server.url));
    expect(refused).toMatchObject({ code: 'STORE_INCOMPATIBLE', retryable: false });
    expect(refused.message).toContain('name the primary');
  });

  test('S2, H1: a primary that is killed and replaced by its replica: no epoch comes again, and readers are told', async () => {
    const folder = temporaryFolder();
    onTestFinished(() => folder.remove());
    const copy = join(folder.path, 'data');
    const primary = await startPostgres();
    onTestFinished(() => primary.remove());
    await primary.stop();
    primary.copyData(copy);
    await primary.start();
    writeFileSync(join(copy, 'standby.signal'), '');
    appendFileSync(
      join(copy, 'postgresql.auto.conf'),
      `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=holdfast password=${PASSWORD}'\n`,
    );
    const replica = await startPostgres({ copyOf: copy });
    onTestFinished(() => replica.remove());

    const leases = await joined(primary.url);
    const first = await leases.acquire('kept', { ttl: '10m' });
    const { next: position } = (await (await toLook(primary.url)).events({ limit: 10 })) as { next: string };
    const there = await session(replica.url);
    const written = await (await session(primary.url)).query('SELECT pg_current_wal_lsn()::text AS place');
    const { place } = written.rows[0] as { place: string };
    await until('the replica has everything', async () => {
      const { rows } = await there.query('SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS has', [place]);
      return (rows[0] as { has: boolean | null }).has === true;
    });
    const { rows } = await there.query('SELECT id FROM holdfast.lease WHERE id = $1', [first.id]);
    expect(rows).toEqual([{ id: first.id }]);
    await replica.stop(); // what comes now it does not receive
    let last = first.epoch;
    for (let i = 0; i < 40; i += 1) last = (await leases.acquire(`lost/${i}`, { ttl: '10m' })).epoch;
    await primary.stop('immediate');
    await replica.start();
    await promote(replica);

    const after = await joined(replica.url);
    expect((await after.tryAcquire('kept', { ttl: '10m' })).ok).toBe(false);
    const again = await after.acquire('lost/0', { ttl: '10m' });
    expect(again.epoch).toBeGreaterThan(last);
    expect(await (await toLook(replica.url)).events({ after: position, limit: 10 })).toMatchObject({ outcome: 'lost' });
  });

  test('A11: a role that may only read is told so when it opens, and may look', async () => {
    await (await joined(server.url)).shutdown();
    const pool = callersPool(server.url, { options: '-c default_transaction_read_only=on' });
    const refused = await failure(connect('postgres:', { client: pool }));
    expect(refused).toMatchObject({ code: 'STORE_INCOMPATIBLE', retryable: false });
    expect(refused.message).toContain('default_transaction_read_only');
    const looking = await openPostgres(undefined, { clock: systemClock(), client: pool, readOnly: true });
    expect((await looking.list({ limit: 10 })).items).toEqual([]);
    await looking.close();
  });
});
