// S16: one order of locks for everybody, also in the calls that come first: the ones that open a namespace, begin a life, or make a
// stream. Another call is stopped half-way by doing its steps by hand; what it takes next must not be with somebody who waits for it.
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPostgres } from '../../src/stores/postgres/index.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { ask } from '../support/ask.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const ID = 'an-id-nobody-has-seen';
const AUTHORITY = { id: ID, epoch: 7, requestId: 'r' };

describe.skipIf(isSkipped('postgres'))('the order of locks in first calls', () => {
  let server: PostgresServer;
  let store: Store;
  let half: pg.Client;
  let made = 0;
  let schema: string;

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    schema = `order_${(made += 1)}`;
    store = await openPostgres(server.url, { clock, schema });
    half = new pg.Client(server.url);
    await half.connect();
  });
  afterEach(async () => {
    await half.end();
    await store.close();
  });

  /** Resolves once a call waits for what the half one has. */
  async function untilItWaits(): Promise<void> {
    const waits = 'SELECT 1 FROM pg_locks l WHERE NOT l.granted AND pg_backend_pid() = ANY (pg_blocking_pids(l.pid))';
    while ((await half.query(waits)).rowCount === 0);
  }

  const calls: [string, (fresh: Store) => Promise<string>][] = [
    ['one acquire', async (fresh) => outcomeOf(await fresh.acquire([await ask(fresh, clock, 'a', { id: ID })]))],
    [
      'a list of acquires',
      async (fresh) =>
        outcomeOf(await fresh.acquire([await ask(fresh, clock, 'a', { id: ID }), await ask(fresh, clock, 'b')])),
    ],
    ['a renewal', async (fresh) => outcomeOf(await fresh.renew([{ ...AUTHORITY, callerWall: clock.wall() }]))],
    ['an end', async (fresh) => outcomeOf(await fresh.end([{ ...AUTHORITY, why: 'released' }]))],
    ['a change', async (fresh) => outcomeOf(await fresh.change([{ ...AUTHORITY, kind: 'downgrade' }]))],
  ];
  const opens = (namespace: string) => `SELECT ${schema}.enter_v1('${namespace}')`;

  test.each(calls)('S16: %s in a new namespace lets who opens it have its names', async (_what, call) => {
    await half.query(`BEGIN; ${opens('fresh')}`);
    const called = call(store.within('fresh')).catch(messageOf);
    await untilItWaits();
    await half.query(`SELECT ${schema}.lock_names_v1(${schema}.seed_v1('fresh'), '{a}', '{}', '{${ID}}')`);
    await half.query('COMMIT');
    expect(await called).toMatch(/granted|notHeld|noted/);
  });

  test.each(calls)('S16, S2: %s in a new life lets who begins it have its names', async (_what, call) => {
    await half.query(`DELETE FROM ${schema}.life`);
    await half.query(`BEGIN; ${opens('default')}`);
    const called = call(store).catch(messageOf);
    await untilItWaits();
    await half.query(`SELECT ${schema}.lock_names_v1(${schema}.seed_v1('default'), '{a}', '{}', '{${ID}}')`);
    await half.query('COMMIT');
    expect(await called).toMatch(/granted|notHeld|noted/);
  });

  test('S16, N1: leasing numbers of an old stream and a new one waits for who makes that one with nothing locked', async () => {
    const streams = store.sequences!;
    const numbers = (stream: string, operationId: string) => ({
      ...{ stream, operationId },
      ...{ kind: 'k', ttlMs: 60_000, count: 1, owner: 'me' },
    });
    await streams.lease([numbers('old', 'first')]);
    const ns = `(SELECT id FROM ${schema}.namespace WHERE name = 'default')`;
    await half.query(`BEGIN; SELECT ${schema}.seq_make_v1(${ns}, '{new,old}')`); // as appending begins
    const called = streams.lease([numbers('old', 'a'), numbers('new', 'a')]).then(outcomeOf, messageOf);
    await untilItWaits();
    await half.query(`SELECT ${schema}.seq_lock_v1(${ns}, '{new,old}', true, true)`);
    await half.query('COMMIT');
    expect(await called).toBe('leased');
  });
});

function outcomeOf({ results }: { readonly results: readonly { readonly outcome: string }[] }): string {
  return results[0]?.outcome ?? 'none';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
