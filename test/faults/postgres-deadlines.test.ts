// A held lease while the caller's pool gives no answer for a while: time-outs of its own on locked tables, or no connection left.
// What is asked fails in time and may be tried again. What is held goes on when the trouble ends before its deadline, and is lost
// at its own deadline, not later, when it does not (S7, S15).
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/connect.js';
import type { LeaseEvent } from '../../src/domain/events.js';
import type { Holdfast } from '../../src/holdfast.js';
import type { HeldLease } from '../../src/manager/face.js';
import { callersPool, failure, session, until } from '../support/postgres-link-site.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { isSkipped } from '../support/servers/server-process.js';

/** Its first renewal is due after 0.6 s, and it is lost 1.8 s after the last one that was answered. */
const TIMES = { ttl: 2_000, renewAt: 0.3, requestTimeout: 400 };
const MARGIN_MS = 201;
const POOL_SIZE = 3;

/** Begins the trouble; answers what ends it. */
type Trouble = (server: PostgresServer, pool: pg.Pool) => Promise<() => Promise<unknown>>;

const lockedTables: Trouble = async (server) => {
  const locker = await session(server.url);
  const { rows } = await locker.query("SELECT tablename FROM pg_tables WHERE schemaname = 'holdfast'");
  const tables = (rows as { tablename: string }[]).map(({ tablename }) => `holdfast."${tablename}"`);
  await locker.query(`BEGIN; LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`);
  return () => locker.query('ROLLBACK');
};

const takenConnections: Trouble = async (_server, pool) => {
  const taken = await Promise.all(Array.from({ length: POOL_SIZE }, () => pool.connect()));
  const end = async (): Promise<void> => {
    for (const client of taken.splice(0)) client.release();
  };
  onTestFinished(end); // its pool could not be ended otherwise
  return end;
};

interface Case {
  readonly trouble: Trouble;
  readonly config?: pg.PoolConfig;
  readonly poolTimeout?: number;
  readonly says: RegExp;
}

const CASES: readonly (readonly [string, Case])[] = [
  [
    'statement_timeout on locked tables',
    { trouble: lockedTables, config: { statement_timeout: 300 }, says: /statement_timeout/ },
  ],
  ['lock_timeout on locked tables', { trouble: lockedTables, config: { lock_timeout: 75 }, says: /lock_timeout/ }],
  ['no connection left', { trouble: takenConnections, poolTimeout: 100, says: /no connection of the pool came free/ }],
];
const WAITING_LONGER: readonly [string, Case] = [
  'no connection left, and a poolTimeout that outlasts the lease',
  { trouble: takenConnections, says: /gave no answer in time/ },
];

describe.skipIf(isSkipped('postgres'))("a held lease over the caller's pool", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
    await (await connect(server.url, { services: 'off' })).shutdown(); // the schema is made without time-outs
  });
  afterAll(() => server.remove());

  interface Site {
    readonly leases: Holdfast;
    readonly pool: pg.Pool;
    readonly lease: HeldLease;
    readonly seen: (type: LeaseEvent['type']) => number;
  }
  const holding = async ({ config, poolTimeout }: Case): Promise<Site> => {
    const pool = callersPool(server.url, { max: POOL_SIZE, ...config });
    const waits = poolTimeout === undefined ? {} : { poolTimeout };
    const leases = await connect('postgres:', { client: pool, services: 'off', ...waits, ...TIMES });
    onTestFinished(() => leases.shutdown());
    const events: LeaseEvent[] = [];
    leases.on('*', (event) => void events.push(event));
    const lease = await leases.acquire('door');
    return { leases, pool, lease, seen: (type) => events.filter((event) => event.type === type).length };
  };

  test.each(CASES)('S7, S15: %s, for less than is left: it is held throughout', async (_what, one) => {
    const { leases, pool, lease, seen } = await holding(one);
    await lease.renew();
    const end = await one.trouble(server, pool);
    const waiting = leases.acquire('window', { wait: '30s' });
    const refused = await failure(leases.show('door'));
    expect(refused).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect(refused.message).toMatch(one.says);
    await until('a renewal has failed', () => seen('lease.renewal_failed') > 0);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    await end();
    const before = seen('lease.renewed');
    await until('it is renewed', () => seen('lease.renewed') > before);
    expect([lease.isHeld, lease.signal.aborted, seen('lease.lost')]).toEqual([true, false, 0]);
    await (await waiting).release();
    expect(await lease.release()).toMatchObject({ outcome: 'released' });
  });

  test.each([...CASES, WAITING_LONGER])(
    'S7, S15: %s, for longer: it is lost at its own deadline',
    async (_what, one) => {
      const { leases, pool, lease, seen } = await holding(one);
      const end = await one.trouble(server, pool);
      const refused = await failure(leases.tryAcquire('window'));
      expect(refused).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
      expect(refused.message).toMatch(one.says);
      let lostAt = 0;
      lease.signal.addEventListener('abort', () => (lostAt = Date.now()));
      await until('it is lost', () => lease.signal.aborted);
      expect(lease.isHeld).toBe(false);
      expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST' });
      expect(seen('lease.renewal_failed')).toBeGreaterThan(0);
      const expiry = Date.parse(lease.expiresAt); // of the last renewal that was answered; store and test have one clock
      expect(lostAt).toBeGreaterThanOrEqual(expiry - MARGIN_MS - TIMES.requestTimeout);
      expect(lostAt).toBeLessThan(expiry); // from then on others may have it
      const waiting = leases.acquire('door', { wait: '30s' });
      expect((await failure(leases.tryAcquire('window'))).retryable).toBe(true);
      await end();
      const next = await waiting;
      expect(next.epoch).toBeGreaterThan(lease.epoch);
      expect(await lease.release()).toMatchObject({ outcome: 'already_ended' });
      await until('the next is renewed', () => next.tryRenew());
      await next.release();
    },
  );
});
