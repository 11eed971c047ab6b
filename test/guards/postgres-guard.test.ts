// guardPostgres on a real server (G1): what is pinned stays, what is over is refused, whatever the isolation, the pooler or the
// order in which things happen.
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/connect.js';
import { guardPostgres } from '../../src/guards/index.js';
import type { Holdfast } from '../../src/holdfast.js';
import type { HeldLease } from '../../src/manager/face.js';
import { startPgbouncer } from '../support/servers/pgbouncer-server.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { isSkipped } from '../support/servers/server-process.js';

/** Long enough that a machine that stands still for half a second does not lose the lease. */
const TTL_MS = 2_400;

describe.skipIf(isSkipped('postgres'))('guardPostgres', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  let leases: Holdfast;
  const open: pg.PoolClient[] = [];
  beforeAll(async () => {
    server = await startPostgres({ stepClock: true, settings: { max_connections: '140' } });
    pool = new pg.Pool({ connectionString: server.url, max: 110 });
    leases = await connect(server.url, { services: 'off' });
    await pool.query('CREATE TABLE data (name text, value text)');
  });
  afterEach(async () => {
    for (const tx of open.splice(0)) {
      await tx.query('ROLLBACK');
      tx.release();
    }
  });
  afterAll(async () => {
    await leases.shutdown();
    await pool.end();
    await server.remove();
  });
  let count = 0;
  const fresh = (): string => `orders/${(count += 1)}`;
  async function begin(how = 'BEGIN'): Promise<pg.PoolClient> {
    const tx = await pool.connect();
    open.push(tx);
    await tx.query(how);
    return tx;
  }
  async function write(lease: HeldLease, value: string, how = 'BEGIN', options = {}): Promise<void> {
    const tx = await pool.connect();
    try {
      await tx.query(how);
      await guardPostgres(tx, lease, options);
      await tx.query('INSERT INTO data VALUES ($1, $2)', [lease.resources[0], value]);
      await tx.query('COMMIT');
    } catch (error) {
      await tx.query('ROLLBACK');
      throw error;
    } finally {
      tx.release();
    }
  }
  async function values(lease: HeldLease): Promise<string[]> {
    const { rows } = await pool.query<{ value: string }>('SELECT value FROM data WHERE name = $1', [
      lease.resources[0],
    ]);
    return rows.map((row) => row.value);
  }
  test('G1, S11: taken over, released, revoked, expired: refused, and nothing is written', async () => {
    const older = await leases.acquire(fresh(), { renew: 'manual', ttl: 200 });
    const newer = await leases.acquire(older.resources[0] ?? '', { wait: '20s' });
    await write(newer, 'newer');
    await expect(write(older, 'late')).rejects.toMatchObject({
      code: 'STALE_EPOCH',
      message: `Stale write rejected: epoch ${older.epoch} < current epoch ${newer.epoch}`,
      details: { current: newer.epoch, attempted: older.epoch },
    });
    expect(await values(older)).toEqual(['newer']);
    await newer.release();
    await expect(write(newer, 'late')).rejects.toMatchObject({ code: 'LEASE_LOST', details: { status: 'released' } });
    const revoked = await leases.acquire(fresh());
    await leases.revoke({ leaseId: revoked.id, reason: 'test' });
    await expect(write(revoked, 'late')).rejects.toMatchObject({ code: 'LEASE_LOST', details: { status: 'revoked' } });
    const expired = await leases.acquire(fresh(), { renew: 'manual', ttl: '10m' });
    server.clock.step(11 * 60_000);
    await expect(write(expired, 'late')).rejects.toThrow(/is expired since \d{4}-/);
    server.clock.step(-11 * 60_000);
  });

  /** Refused again and again, by this very lease, for longer than anything that does not wait could take. */
  async function staysTaken(lease: HeldLease, tries = 25): Promise<void> {
    for (let i = 0; i < tries; i += 1) {
      const answer = await leases.tryAcquire(lease.resources[0] ?? '');
      expect(answer).toMatchObject({ ok: false, refusal: { holders: [{ id: lease.id, epoch: lease.epoch }] } });
    }
  }

  test('G1: pinned, the lease outlives its ttl: nobody gets it and nobody expires it until the commit', async () => {
    const lease = await leases.acquire(fresh(), { renew: 'manual', ttl: 200 });
    const tx = await begin();
    await guardPostgres(tx, lease);
    let isTaken = false;
    const next = leases.acquire(lease.resources[0] ?? '', { wait: '30s', owner: 'next' }).then((newer) => {
      isTaken = true;
      return newer;
    });
    const expiry = new Date(lease.expiresAt).getTime();
    await expect
      .poll(async () => new Date((await leases.now()).storeNow).getTime(), { timeout: 20_000 })
      .toBeGreaterThan(expiry + 100);
    await leases.sweep();
    await staysTaken(lease);
    expect(isTaken).toBe(false);
    await tx.query('INSERT INTO data VALUES ($1, $2)', [lease.resources[0], 'mine']);
    await tx.query('COMMIT');
    const newer = await next;
    expect(newer.epoch).toBeGreaterThan(lease.epoch);
    expect(await values(lease)).toEqual(['mine']);
    await newer.release();
  });

  test('G1: pinned, the lease is not revoked and not replaced', async () => {
    const lease = await leases.acquire(fresh());
    const tx = await begin();
    await guardPostgres(tx, lease);
    expect(await leases.revoke({ leaseId: lease.id, reason: 'test' })).toEqual([]);
    const reclaimed = leases.acquire(lease.resources[0] ?? '', { reclaim: true, wait: 0 });
    await expect(reclaimed).rejects.toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    expect(lease.isHeld).toBe(true);
    await tx.query('COMMIT');
    expect(await leases.revoke({ leaseId: lease.id, reason: 'test' })).toMatchObject([{ id: lease.id }]);
  });

  test('G1: release waits for its own guarded transactions', async () => {
    const lease = await leases.acquire(fresh());
    const tx = await begin();
    await guardPostgres(tx, lease);
    let isReleased = false;
    const released = lease.release().then((answer) => {
      isReleased = true;
      return answer;
    });
    await staysTaken(lease);
    expect(isReleased).toBe(false);
    await tx.query('COMMIT');
    expect(await released).toMatchObject({ outcome: 'released' });
    const again = await leases.tryAcquire(lease.resources[0] ?? '');
    expect(again.ok).toBe(true);
  });

  test('G1: a renewal passes the pin, for three renewal periods and longer', async () => {
    const lease = await leases.acquire(fresh(), { ttl: TTL_MS });
    const tx = await begin();
    await guardPostgres(tx, lease);
    const renewed = (): unknown => lease.signal.reason ?? lease.toJSON().renewals; // why it ended, if it does
    await expect.poll(renewed, { timeout: 20_000 }).toBeGreaterThanOrEqual(4);
    expect(lease.isHeld).toBe(true);
    await tx.query('COMMIT');
    await write(lease, 'still');
    await lease.release();
  });

  test('G1: open for three renewal periods it keeps its lease and leaves 1,000 other leases’ latency alone', async () => {
    const others = await connect(server.url, { services: 'off', owner: 'others' });
    const round = async (name: string): Promise<number> => {
      const tookMs: number[] = [];
      const lane = async (at: number): Promise<void> => {
        for (let i = at; i < 1_000; i += 20) {
          const start = performance.now();
          const lease = await others.acquire(`${name}/${i}`);
          await lease.release();
          tookMs.push(performance.now() - start);
        }
      };
      await Promise.all(Array.from({ length: 20 }, (_, at) => lane(at)));
      return tookMs.sort((a, b) => a - b)[989] ?? Infinity;
    };
    await round('warm');
    const free = [await round('free-before')];
    const lease = await leases.acquire(fresh(), { ttl: '3s' });
    const tx = await begin();
    await guardPostgres(tx, lease);
    const pinned = [await round('pinned-a'), await round('pinned-b')];
    await expect.poll(() => lease.toJSON().renewals, { timeout: 20_000 }).toBeGreaterThanOrEqual(3);
    expect(lease.isHeld).toBe(true);
    await tx.query('COMMIT');
    await lease.release();
    free.push(await round('free-after'));
    const shown = (values: number[]): string => values.map((ms) => ms.toFixed(1)).join(', ');
    process.stdout.write(
      `p99 of acquire + release, 1,000 others: ${shown(free)} ms; beside a guard: ${shown(pinned)} ms\n`,
    );
    expect(Math.min(...pinned)).toBeLessThan(3 * Math.min(...free) + 50); // a wait for the guard would be seconds
    await others.shutdown();
  });

  test('G1: 100 concurrent writers through one holder all land', async () => {
    const lease = await leases.acquire(fresh());
    await Promise.all(Array.from({ length: 100 }, (_, i) => write(lease, String(i))));
    expect(await values(lease)).toHaveLength(100);
    await lease.release();
  });

  test("G1, S7: a table that is locked for longer than a lease lives: lost at its deadline, and what it has pinned is nobody else's", async () => {
    const lease = await leases.acquire(fresh(), { ttl: TTL_MS });
    const name = String(lease.resources[0]);
    const tx = await begin();
    await guardPostgres(tx, lease);
    const locker = await begin();
    const locked = locker.query('LOCK TABLE holdfast.lease IN ACCESS EXCLUSIVE MODE'); // waits for the guard, and everybody waits for it
    const since = performance.now();
    await expect.poll(() => lease.signal.aborted, { timeout: 2 * TTL_MS }).toBe(true);
    expect(performance.now() - since).toBeLessThanOrEqual(TTL_MS);
    expect(lease.isHeld).toBe(false);
    await tx.query('INSERT INTO data VALUES ($1, $2)', [name, 'pinned']);
    await tx.query('COMMIT');
    await locked;
    await locker.query('ROLLBACK');
    const next = await leases.acquire(name, { wait: '20s' });
    expect(next.epoch).toBeGreaterThan(lease.epoch);
    await write(next, 'next');
    await expect(write(lease, 'late')).rejects.toMatchObject({ code: 'STALE_EPOCH' });
    expect(await values(next)).toEqual(['pinned', 'next']);
    await next.release();
  });

  test('G1: a guard that waited for a locked table decides by the clock after the wait', async () => {
    const lease = await leases.acquire(fresh(), { renew: 'manual', ttl: '1m' });
    const locker = await begin();
    await locker.query('LOCK TABLE holdfast.lease IN ACCESS EXCLUSIVE MODE');
    const late = expect(write(lease, 'late')).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await expect
      .poll(async () => (await pool.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).rows.length)
      .toBeGreaterThan(0);
    server.clock.step(120_000);
    await locker.query('COMMIT');
    await late;
    server.clock.step(-120_000);
    expect(await values(lease)).toEqual([]);
  });

  test.each(['REPEATABLE READ', 'SERIALIZABLE'])('G1: under %s too; an old snapshot is retryable', async (level) => {
    const how = `BEGIN ISOLATION LEVEL ${level}`;
    const old = await begin(how);
    await old.query('SELECT count(*) FROM data');
    const lease = await leases.acquire(fresh(), { renew: 'manual', ttl: '1m' });
    await expect(guardPostgres(old, lease)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    await write(lease, 'fresh', how);
    const renewed = await begin(how);
    await renewed.query('SELECT count(*) FROM data');
    await lease.renew();
    await guardPostgres(renewed, lease); // a renewal since then changes nothing
    await renewed.query('COMMIT');
    await lease.release();
    await expect(write(lease, 'late', how)).rejects.toMatchObject({ code: 'LEASE_LOST' });
  });

  test.each(['REPEATABLE READ', 'SERIALIZABLE'])(
    'G1: under %s one that has expired, and that nobody has touched since, is over',
    async (level) => {
      const how = `BEGIN ISOLATION LEVEL ${level}`;
      const lease = await leases.acquire(fresh(), { renew: 'manual', ttl: '10m' });
      server.clock.step(11 * 60_000);
      await expect(write(lease, 'late', how)).rejects.toThrow(/is expired since \d{4}-/);
      await expect(write(lease, 'again', how)).rejects.toMatchObject({ code: 'LEASE_LOST', retryable: false });
      server.clock.step(-11 * 60_000);
      expect(await values(lease)).toEqual([]);
    },
  );

  test.each(['REPEATABLE READ', 'SERIALIZABLE'])(
    'G1: under %s a snapshot in which it has expired is retryable when it was renewed since, by whomever',
    async (level) => {
      const how = `BEGIN ISOLATION LEVEL ${level}`;
      const lease = await leases.acquire(fresh(), { renew: 'manual', ttl: '10m' });
      const old = await begin(how);
      await old.query('SELECT count(*) FROM data');
      const other = await connect(server.url, { services: 'off' });
      await other.renew([{ id: lease.id, epoch: lease.epoch, ttl: '20m' }]); // the handle does not know of it
      server.clock.step(11 * 60_000);
      await expect(guardPostgres(old, lease)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
      await write(lease, 'in a new transaction', how);
      server.clock.step(-11 * 60_000);
      expect(await values(lease)).toEqual(['in a new transaction']);
      await other.shutdown();
    },
  );

  test('G1: a refusal under REPEATABLE READ leaves renewals their way while its transaction is open', async () => {
    const lease = await leases.acquire(fresh(), { renew: 'manual', ttl: '10m' });
    const late = await begin('BEGIN ISOLATION LEVEL REPEATABLE READ');
    server.clock.step(11 * 60_000);
    await expect(guardPostgres(late, lease)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    server.clock.step(-11 * 60_000);
    await lease.renew();
    await late.query('ROLLBACK');
    await lease.release();
  });

  test.each<[string, (above: string) => Parameters<Holdfast['acquire']>[0]]>([
    ['further name of a set', (above) => [`a/${above}`, `${above}/1`]],
    ['subtree above', (above) => ({ name: above, scope: 'subtree' })],
    ['subtree above, in a set', (above) => [`a/${above}`, { name: above, scope: 'subtree' }]],
  ])('G1, S11: taken over as a %s, the epoch is stale', async (_, parts) => {
    const above = fresh();
    const older = await leases.acquire(`${above}/1`, { renew: 'manual', ttl: 200 });
    const newer = await leases.acquire(parts(above), { wait: '20s' });
    await expect(write(older, 'late')).rejects.toMatchObject({
      code: 'STALE_EPOCH',
      details: { resource: `${above}/1`, current: newer.epoch, attempted: older.epoch },
    });
    expect(await values(older)).toEqual([]);
    await newer.release();
    await leases.acquire([`a/${above}`, above, { name: `b/${above}`, scope: 'subtree' }]); // a node holds nothing below it
    await expect(write(older, 'late')).rejects.toMatchObject({ code: 'LEASE_LOST' });
  });

  const ends: [string, (lease: HeldLease) => Promise<unknown>][] = [
    ['released', (lease) => lease.release()],
    ['revoked', (lease) => leases.revoke({ leaseId: lease.id, reason: 'test' })],
    ['delegated', (lease) => lease.delegate('other')],
    ['upgraded', (lease) => lease.upgrade()],
    [
      'expired and taken over',
      async (lease) => {
        server.clock.step(120_000);
        await leases.acquire(lease.resources[0] ?? '', { wait: 0, ttl: '1m', renew: 'manual' });
        server.clock.step(-120_000);
      },
    ],
    [
      'expired and swept',
      async () => {
        server.clock.step(120_000);
        await leases.sweep();
        server.clock.step(-120_000);
      },
    ],
    [
      'replaced by its owner',
      (lease) => leases.acquire(lease.resources[0] ?? '', { reclaim: true, ttl: '1m', renew: 'manual' }),
    ],
  ];
  test.each(ends)('G1: a snapshot from before the lease was %s admits nothing', async (how, end) => {
    const mode = how === 'upgraded' ? 'shared' : 'exclusive';
    const lease = await leases.acquire(fresh(), { renew: 'manual', ttl: '1m', mode });
    const old = await begin('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await old.query('SELECT count(*) FROM data');
    const renewing = how !== 'upgraded' && lease.renew(); // more than one version since then
    await renewing;
    await end(lease);
    await expect(guardPostgres(old, lease)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
  });

  test('G1: lock_timeout and statement_timeout of the caller are retryable, and the transaction is free to end', async () => {
    const lease = await leases.acquire(fresh());
    const locker = await begin();
    await locker.query('LOCK TABLE holdfast.lease IN ACCESS EXCLUSIVE MODE');
    for (const setting of ['lock_timeout', 'statement_timeout']) {
      const tx = await begin();
      await tx.query(`SET LOCAL ${setting} = '50ms'`);
      await expect(guardPostgres(tx, lease)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    }
    await locker.query('ROLLBACK');
    await write(lease, 'after');
    await lease.release();
  });

  test.skipIf(isSkipped('pgbouncer'))(
    'G1, S19: through a transaction-mode pooler, over connections that others use too',
    async () => {
      const bouncer = await startPgbouncer(server, { poolSize: 2 });
      const pooled = new pg.Pool({ connectionString: bouncer.url, max: 20 });
      const lease = await leases.acquire(fresh());
      const one = async (value: string): Promise<void> => {
        const tx = await pooled.connect();
        try {
          await tx.query('BEGIN');
          await guardPostgres(tx, lease);
          await tx.query('INSERT INTO data VALUES ($1, $2)', [lease.resources[0], value]);
          await tx.query('COMMIT');
        } catch (error) {
          await tx.query('ROLLBACK');
          throw error;
        } finally {
          tx.release();
        }
      };
      await Promise.all(Array.from({ length: 40 }, (_, i) => one(String(i))));
      expect(await values(lease)).toHaveLength(40);
      const outside = await pooled.connect();
      await expect(guardPostgres(outside, lease)).rejects.toThrow(/BEGIN on this client first/);
      outside.release();
      await lease.release();
      await expect(one('late')).rejects.toMatchObject({ code: 'LEASE_LOST' });
      await pooled.end();
      await bouncer.remove();
    },
  );

  test('G1: outside a transaction, on a pool, in another database or store it is refused', async () => {
    const lease = await leases.acquire(fresh());
    const client = await pool.connect();
    await expect(guardPostgres(client, lease)).rejects.toThrow(/BEGIN on this client first/);
    client.release();
    await expect(guardPostgres(pool, lease)).rejects.toThrow(/was given a pool/);
    await expect(guardPostgres({} as never, lease)).rejects.toThrow(/takes a client with query/);
    const tx = await begin();
    await expect(guardPostgres(tx, lease, { schema: 'nowhere' })).rejects.toThrow(/no leases in the schema "nowhere"/);
    const elsewhere = await connect('memory:', { services: 'off' });
    await expect(guardPostgres(tx, await elsewhere.acquire('a'))).rejects.toThrow(/in a memory store: use sqlGate/);
    await elsewhere.shutdown();
    await lease.release();
  });

  test('G1: leases of another schema are guarded there', async () => {
    const other = await connect(server.url, { services: 'off', schema: 'other leases' });
    const lease = await other.acquire('a');
    await write(lease, 'other');
    await lease.release();
    await expect(write(lease, 'late')).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await other.shutdown();
  });

  test('G1: delegated and upgraded leases have a new epoch, the old one is stale', async () => {
    const lease = await leases.acquire(fresh(), { mode: 'shared' });
    const old = { ...lease.toJSON() }.epoch;
    await write(lease, 'shared');
    await lease.upgrade();
    expect(lease.epoch).toBeGreaterThan(old);
    await write(lease, 'exclusive');
    const document = await lease.delegate('other');
    await expect(write(lease, 'late')).rejects.toMatchObject({ code: 'STALE_EPOCH' });
    const resumed = await leases.resume(document);
    await write(resumed, 'resumed');
    expect(await values(lease)).toEqual(['shared', 'exclusive', 'resumed']);
    await resumed.release();
  });

  test('G1: a counting lease is guarded by its own row', async () => {
    const part = { name: fresh(), mode: 'shared', limit: 2 } as const;
    const [one] = [await leases.acquire(part), await leases.acquire(part)];
    await write(one, 'one');
    await one.release();
    await expect(write(one, 'late')).rejects.toMatchObject({
      code: expect.stringMatching(/STALE_EPOCH|LEASE_LOST/) as unknown,
    });
  });
});
