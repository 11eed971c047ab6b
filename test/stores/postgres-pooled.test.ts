// The PostgreSQL store through PgBouncer in transaction mode (S19): the conformance suite, streams included, random programs, clients
// that share three connections, and what is written in the caller's own transaction. Only LISTEN goes to the server itself.
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/connect.js';
import { guardPostgres } from '../../src/guards/index.js';
import type { SequenceLease } from '../../src/sequence/face.js';
import { openPostgres } from '../../src/stores/postgres/index.js';
import { MIGRATIONS } from '../../src/stores/postgres/schema/migrations.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { concurrentPart } from '../../src/testing/store-conformance/concurrent.js';
import { storeConformance } from '../../src/testing/store-conformance/index.js';
import { randomPrograms } from '../../src/testing/store-conformance/random-programs.js';
import { sequencePrograms } from '../../src/testing/store-conformance/sequence/programs.js';
import { postgresHarness, PostgresSite } from '../support/postgres-harness.js';
import { callersPool, until } from '../support/postgres-link-site.js';
import { isSkipped } from '../support/servers/server-process.js';

const PROGRAMS = 20; // the direct way is asked many more
const CONCURRENT_MS = 3_000;

describe.skipIf(isSkipped('postgres') || isSkipped('pgbouncer'))('through a pooler in transaction mode', () => {
  let site: PostgresSite;
  beforeAll(async () => {
    site = await PostgresSite.startPooled();
    await site.sql('CREATE TABLE data (value text)');
  });
  afterAll(() => site.stop());

  const harness = { ...postgresHarness(() => site), name: 'PostgreSQL behind PgBouncer' };
  storeConformance(harness, { describe, test, skip: test.skip });
  randomPrograms(harness, { describe, test }, { programs: PROGRAMS });
  sequencePrograms(harness, { describe, test }, { programs: PROGRAMS });
  concurrentPart(harness, { describe, test }, { clock: systemClock(), durationMs: CONCURRENT_MS });

  test('S19: the way of these tests leads through the pooler: names are given up, and only LISTEN goes past it', async () => {
    const opened = await site.open();
    onTestFinished(() => opened.close());
    const { store } = opened;
    onTestFinished(store.subscribe({}));
    await until('it listens', async () => (await store.info()).details['push'] === 'listening');
    await Promise.all(Array.from({ length: 20 }, () => store.time()));
    const { details } = await store.info();
    expect(details['server']).toContain(`:${site.pooler?.port}/`);
    expect(details['statements']).toBe('not prepared: a pooler keeps no names');
    // What all of this has left on the connections that others use too.
    const locks = "SELECT pid, mode, objid FROM pg_locks WHERE locktype = 'advisory'";
    expect(await site.sql(locks)).toEqual([]);
  });

  test('S19, O4: eight processes make one schema at once through three connections', async () => {
    const schema = 'made at once';
    const open = async (): Promise<Store> => {
      const { url, listenUrl } = site.way;
      const store = await openPostgres(url, { clock: systemClock(), schema, poolSize: 1, listenUrl });
      onTestFinished(() => store.close());
      return store;
    };
    const stores = await Promise.all(Array.from({ length: 8 }, open));
    const made = await stores[0]?.migrate({ dryRun: true });
    expect(made).toEqual({ applied: MIGRATIONS.map(({ name }) => name), pending: [] });
  });

  test('S19, N2, G1: commit({ tx }) and guardPostgres in transactions of a pool behind it, while the connections are shared', async () => {
    const { url, listenUrl } = site.way;
    const leases = await connect(url, {
      listenUrl: listenUrl!,
      poolSize: 3,
      schema: 'in transactions',
      services: 'off',
    });
    onTestFinished(() => leases.shutdown());
    const pool = callersPool(url, { max: 3 });
    const [stream, lease] = [leases.sequence('payments'), await leases.acquire('payments', { ttl: '60s' })];
    const within = async (end: 'COMMIT' | 'ROLLBACK', work: (tx: pg.PoolClient) => Promise<unknown>): Promise<void> => {
      const tx = await pool.connect();
      try {
        await tx.query('BEGIN');
        await work(tx);
        await tx.query(end);
      } finally {
        await tx.query('ROLLBACK'); // where it was ended already, this does nothing
        tx.release();
      }
    };
    const pay = async (operationId: string, end: 'COMMIT' | 'ROLLBACK'): Promise<SequenceLease<unknown>> => {
      const held = await stream.lease({ operationId, kind: 'payment' });
      await within(end, async (tx) => {
        await guardPostgres(tx, lease);
        await tx.query('INSERT INTO data VALUES ($1)', [operationId]);
        await held.commit(operationId, { tx });
      });
      return held;
    };
    const ids = Array.from({ length: 30 }, (_, i) => `p-${i}`);
    const [open] = await Promise.all([pay('p-last', 'ROLLBACK'), ...ids.map((id) => pay(id, 'COMMIT'))]);
    const paid = async (): Promise<unknown[]> => (await site.sql('SELECT value FROM data')).map(({ value }) => value);
    expect((await paid()).sort()).toEqual([...ids].sort());
    expect((await stream.figures())?.open).toBe(1);
    await open.commit('p-last');
    const read = (await stream.read(1, 100)).map(({ operation }) => operation);
    expect([...read].sort()).toEqual([...ids, 'p-last'].sort());

    for await (const item of stream.reader('books').follow()) {
      await within('COMMIT', (tx) => item.done({ tx }));
      if (item.number === read.length) break;
    }
    await lease.release();
    const late = await stream.lease({ operationId: 'late', kind: 'payment' });
    const refused = within('COMMIT', async (tx) => {
      await tx.query("INSERT INTO data VALUES ('late')");
      await guardPostgres(tx, lease);
      await late.commit('late', { tx });
    });
    await expect(refused).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(await paid()).not.toContain('late');
    expect((await stream.figures())?.open).toBe(1);
  });
});
