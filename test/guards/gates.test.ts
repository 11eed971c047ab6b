// The gates in PostgreSQL and Redis against the rule of G4, step by step, and what only a real server can show: a check that is
// one step with the effect, whatever runs beside it.
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { Redis as Redis6 } from 'ioredis6';
import pg from 'pg';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gateTableSql, redisGate, sqlGate, type RedisClient } from '../../src/guards/index.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { startRedis, type RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';
import { answers, expected, program } from './gate-programs.js';

describe.skipIf(isSkipped('postgres'))('sqlGate in PostgreSQL', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ connectionString: server.url });
    await pool.query(gateTableSql('postgres'));
    await pool.query(gateTableSql('postgres', 'public.other_gate'));
    await pool.query('CREATE TABLE data (name text PRIMARY KEY, value text)');
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  async function inTransaction<T>(work: (client: pg.PoolClient) => Promise<T>, begin = 'BEGIN'): Promise<T> {
    const client = await pool.connect();
    try {
      await client.query(begin);
      const result = await work(client);
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  }
  async function until(isSo: () => Promise<boolean>): Promise<void> {
    const end = performance.now() + 20_000;
    while (!(await isSo())) if (performance.now() > end) throw new Error('it never came to that');
  }
  const isWaiting = async (): Promise<boolean> => {
    const waits = await pool.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
    return waits.rows.length > 0;
  };

  test('G4, S17: follows the rule, near 2^53 too', async () => {
    await fc.assert(
      fc.asyncProperty(program, async (steps) => {
        const told = await inTransaction(async (client) => {
          const found = await answers(steps, (writes) => sqlGate(client, 'public.other_gate').admit(writes));
          await client.query('DELETE FROM other_gate');
          return found;
        });
        expect(told).toEqual(expected(steps));
      }),
      { numRuns: 40 },
    );
  });

  test('G4: outside a transaction, or on a pool, it is refused', async () => {
    const client = await pool.connect();
    await expect(sqlGate(client).admit({ resource: 'a', epoch: 1 })).rejects.toThrow(/BEGIN on this client first/);
    client.release();
    expect(() => sqlGate(pool as never)).toThrow(/was given a pool/);
    expect(() => sqlGate({} as never)).toThrow(/takes a PostgreSQL client/);
    await expect(inTransaction((tx) => sqlGate(tx, 'nowhere').admit({ resource: 'a', epoch: 1 }))).rejects.toThrow(
      /the table of the gate is missing: create it with gateTableSql\(\): CREATE TABLE/,
    );
  });

  test.each([
    ['the same name', { resource: 'x/1', epoch: 50 }],
    ['a subtree above', { resource: 'x', epoch: 51, scope: 'subtree' as const }],
  ])('G4, S11: a newer claim of %s waits until an older write has committed', async (_, claim) => {
    await inTransaction((tx) => sqlGate(tx).admit({ resource: 'x/1', epoch: 50 })); // its rows are there
    const older = await pool.connect();
    await older.query('BEGIN');
    await sqlGate(older)
      .admit({ resource: 'x/1', epoch: 50 })
      .catch(async () => {
        await older.query('ROLLBACK');
        throw new Error('the older one should have been admitted');
      });
    let isIn = false;
    const newer = inTransaction((tx) => sqlGate(tx).admit({ ...claim, epoch: claim.epoch + 10 })).then(() => {
      isIn = true;
    });
    await until(isWaiting);
    expect(isIn).toBe(false);
    await older.query('COMMIT');
    older.release();
    await newer;
    await expect(inTransaction((tx) => sqlGate(tx).admit({ resource: 'x/1', epoch: 50 }))).rejects.toMatchObject({
      code: 'STALE_EPOCH',
      details: { current: claim.epoch + 10, attempted: 50 },
    });
    await pool.query('DELETE FROM holdfast_gate');
  });

  test('G4, S16: an older writer that waits for a newer claim is refused, not let in with what it saw before', async () => {
    await inTransaction((tx) => sqlGate(tx).admit({ resource: 'y/1', epoch: 50 }));
    const newer = await pool.connect();
    await newer.query('BEGIN');
    await sqlGate(newer).admit({ resource: 'y', epoch: 60, scope: 'subtree' });
    const older = inTransaction((tx) => sqlGate(tx).admit({ resource: 'y/1', epoch: 50 }));
    const refused = expect(older).rejects.toMatchObject({ code: 'STALE_EPOCH', details: { current: 60 } });
    await until(isWaiting);
    await newer.query('COMMIT');
    newer.release();
    await refused;
  });

  test.each(['REPEATABLE READ', 'SERIALIZABLE'])(
    'G4: an old snapshot under %s is retryable, never admitted',
    async (level) => {
      const name = level.toLowerCase().replace(' ', '-');
      await inTransaction((tx) => sqlGate(tx).admit({ resource: `${name}/1`, epoch: 50 }));
      const old = await pool.connect();
      await old.query(`BEGIN ISOLATION LEVEL ${level}`);
      await old.query('SELECT 1 FROM data');
      await inTransaction((tx) => sqlGate(tx).admit({ resource: name, epoch: 60, scope: 'subtree' }));
      await expect(sqlGate(old).admit({ resource: `${name}/1`, epoch: 50 })).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        retryable: true,
      });
      await old.query('ROLLBACK');
      // And one that never knew the name above: it was made after the snapshot.
      await old.query(`BEGIN ISOLATION LEVEL ${level}`);
      await old.query('SELECT 1 FROM data');
      await inTransaction((tx) => sqlGate(tx).admit({ resource: `${name}-new`, epoch: 60, scope: 'subtree' }));
      await expect(sqlGate(old).admit({ resource: `${name}-new/1`, epoch: 50 })).rejects.toMatchObject({
        retryable: true,
      });
      await old.query('ROLLBACK');
      await old.query(`BEGIN ISOLATION LEVEL ${level}`);
      const subtree = { resource: name, epoch: 70, scope: 'subtree' } as const;
      await expect(sqlGate(old).admit(subtree)).rejects.toThrow(/READ COMMITTED only/);
      await old.query('ROLLBACK');
      old.release();
    },
  );

  test('G4: several names are locked in one order, whichever of them is above another, so no two writers wait for each other', async () => {
    const names = (epoch: number, ...all: string[]) => all.map((resource) => ({ resource, epoch }));
    await inTransaction((tx) => sqlGate(tx).admit(names(1, 'k', 'k/b', 'l', 'l/y'))); // its rows are there
    const first = await pool.connect(); // half-way through the names k/b and l
    await first.query('BEGIN');
    await first.query(`SELECT 1 FROM holdfast_gate WHERE name = 'k' FOR SHARE`);
    const second = inTransaction((tx) => sqlGate(tx).admit(names(3, 'k', 'l/y'))).then(
      () => 'admitted',
      (error: unknown) => String(error),
    );
    await until(isWaiting);
    await first.query(`SELECT 1 FROM holdfast_gate WHERE name IN ('k/b', 'l') ORDER BY name FOR UPDATE`);
    await first.query('COMMIT');
    first.release();
    expect(await second).toBe('admitted');
  });

  test('G4: writers of one holder do not wait for each other', async () => {
    await inTransaction((tx) => sqlGate(tx).admit({ resource: 'z/1', epoch: 50 }));
    const first = await pool.connect();
    await first.query('BEGIN');
    await sqlGate(first).admit({ resource: 'z/1', epoch: 50 });
    await inTransaction((tx) => sqlGate(tx).admit({ resource: 'z/1', epoch: 50 })); // while the first is open
    await first.query('COMMIT');
    first.release();
  });

  test('G4: 40 first writes of a new epoch at once all land, without a deadlock', async () => {
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        inTransaction(async (tx) => {
          await sqlGate(tx).admit({ resource: 'many/1', epoch: 50 });
          await tx.query('INSERT INTO data VALUES ($1, $2)', [`many-${i}`, 'x']);
        }),
      ),
    );
    const { rows } = await pool.query("SELECT 1 FROM data WHERE name LIKE 'many-%'");
    expect(rows).toHaveLength(40);
  });
});

describe.skipIf(isSkipped('redis'))('redisGate', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.remove());

  const kinds: [string, () => Promise<{ client: RedisClient; flush: () => Promise<unknown>; close: () => unknown }>][] =
    [
      [
        'redis',
        async () => {
          const client = createClient({ url: server.url });
          await client.connect();
          return { client, flush: () => client.sendCommand(['SCRIPT', 'FLUSH']), close: () => client.destroy() };
        },
      ],
      [
        'ioredis 5',
        async () => {
          const client = new Redis(server.url);
          return { client, flush: () => client.call('SCRIPT', 'FLUSH'), close: () => client.disconnect() };
        },
      ],
      [
        'ioredis 6',
        async () => {
          const client = new Redis6(server.url, { keyPrefix: 'app:' });
          return { client, flush: () => client.call('SCRIPT', 'FLUSH'), close: () => client.disconnect() };
        },
      ],
    ];

  describe.each(kinds)('over %s', (kind, open) => {
    test('G4, S17: follows the rule, near 2^53 too', async () => {
      const { client, close } = await open();
      let run = 0;
      await fc.assert(
        fc.asyncProperty(program, async (steps) => {
          run += 1;
          const gate = redisGate(client, `gate:${kind}:${run}`);
          expect(await answers(steps, (writes) => gate.admit(writes))).toEqual(expected(steps));
        }),
        { numRuns: 60 },
      );
      close();
    });

    test('G4, S11: check and write are one script; a server that has forgotten it is given it again', async () => {
      const { client, flush, close } = await open();
      const gate = redisGate(client, `one:${kind}`);
      const set = gate.script("redis.call('SET', KEYS[1], ARGV[1]) return {KEYS[1], ARGV[1], #KEYS, #ARGV}");
      const key = `value:${kind}`;
      const answer = await set.run({ resource: 'a', epoch: 42 }, [key], ['new']);
      expect(answer).toEqual([expect.stringMatching(new RegExp(`${key}$`)), 'new', 1, 1]);
      await flush();
      await expect(set.run({ resource: 'a', epoch: 41 }, [key], ['late'])).rejects.toMatchObject({
        code: 'STALE_EPOCH',
        message: 'Stale write rejected: epoch 41 < current epoch 42',
        details: { current: 42, attempted: 41 },
      });
      const look = gate.script("return redis.call('GET', KEYS[1])");
      expect(await look.run({ resource: 'a', epoch: 42 }, [key])).toBe('new');
      close();
    });

    test('an error of the script itself is the caller’s, and a #! line is refused', async () => {
      const { client, close } = await open();
      const gate = redisGate(client, `own:${kind}`);
      const fails = gate.script("return redis.error_reply('MINE it is')").run({ resource: 'a', epoch: 1 });
      await expect(fails).rejects.toThrow(/^MINE it is/);
      expect(() => gate.script('#!lua\nreturn 1')).toThrow(/leave the #! line out/);
      expect(() => gate.script('')).toThrow(/a script is Lua text/);
      close();
    });
  });

  test('what is no client is refused', () => {
    expect(() => redisGate({} as never)).toThrow(/takes a client or cluster of redis or ioredis/);
  });
});
