// examples/moving: each pair does the same work, before with another library and after with Holdfast, and is put to the same
// test. A holder is stopped (SIGSTOP) past its time, the next one writes, and the first goes on: before, its late write lands;
// after, it is refused. What docs/guide/moving.md shows is what runs here.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connect } from '../../src/connect.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { startRedis, type RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';
import { Stage, type Actor } from '../support/stage.js';

const REFUSED = /^alice: (LEASE_LOST|STALE_EPOCH), nothing was (written|printed)$/;
let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.clear());

/** alice is stopped while she works, bob has his turn and writes, alice goes on and ends. */
async function pauseAlice(
  example: string,
  args: readonly string[] = [],
  meanwhile?: () => Promise<void>,
): Promise<void> {
  const alice = stage.start(`moving/${example}`, 'alice', ...args, 500);
  await stage.line(/^alice holds/);
  alice.process.kill('SIGSTOP');
  const bob = stage.start(`moving/${example}`, 'bob', ...args, 50);
  await meanwhile?.();
  expect(await bob.ended).toBe(0);
  expect(stage.lines()).toContain('bob has written');
  alice.process.kill('SIGCONT');
  expect(await alice.ended).toBe(0);
}

/** Four come while somebody holds, one after the other. */
async function queueUp(example: string, url: string): Promise<void> {
  const leases = await connect(url, { owner: 'test', services: 'off' });
  const held = await leases.acquire('report', { ttl: '1m' });
  const names = ['a', 'b', 'c', 'd'];
  const actors: Actor[] = [];
  for (const name of names) {
    actors.push(stage.start(`moving/${example}`, name, 20));
    await stage.until(`${name} waits`, async () => (await leases.show('report')).queue.length === actors.length);
  }
  await held.release();
  await Promise.all(actors.map(({ ended }) => ended));
  await leases.shutdown();
  const waiting = stage.lines().filter((line) => line.includes(' waits: '));
  expect(waiting).toEqual(names.map((name, i) => `${name} waits: test holds report, ${i} ahead`));
  const served = stage.lines().filter((line) => line.endsWith(' holds report'));
  expect(served).toEqual(names.map((name) => `${name} holds report`));
}

describe.skipIf(isSkipped('redis'))('moving from redlock and redis-semaphore', () => {
  let server: RedisServer;
  let client: Redis;
  beforeAll(async () => {
    server = await startRedis();
    client = new Redis(server.url);
    process.env['REDIS_URL'] = server.url;
  });
  afterAll(async () => {
    client.disconnect();
    await server.remove();
  });

  test('redlock, before: the late write of a paused holder lands', async () => {
    await pauseAlice('redlock/before');
    expect(await client.get('report')).toBe('by alice');
  });

  test('redlock, after: G3: the late write of a paused holder is refused', async () => {
    await pauseAlice('redlock/after');
    await stage.line(REFUSED);
    expect(await client.get('report')).toBe('by bob');
  });

  test('redlock, after: Q1: those who wait are told who holds, and are served in the order in which they came', () =>
    queueUp('redlock/after', server.url));

  /** alice is stopped at one of two places, the others take both; then alice goes on while they are in. */
  async function thirdAtThePrinters(example: string): Promise<string[]> {
    await client.del('pages');
    const alice = stage.start(`moving/redis-semaphore/${example}`, 'alice', 300);
    await stage.line(/^alice is in/);
    alice.process.kill('SIGSTOP');
    for (const name of ['bob', 'carol']) stage.start(`moving/redis-semaphore/${example}`, name, 60_000);
    await stage.line(/^bob is in/);
    await stage.line(/^carol is in/);
    alice.process.kill('SIGCONT');
    expect(await alice.ended).toBe(0);
    return client.lrange('pages', 0, -1);
  }

  test('redis-semaphore, before: a paused one prints as a third', async () => {
    expect(await thirdAtThePrinters('before')).toEqual(['by alice']);
  });

  test('redis-semaphore, after: G3: a paused one does not print', async () => {
    expect(await thirdAtThePrinters('after')).toEqual([]);
    await stage.line(REFUSED);
  });
});

describe('moving from proper-lockfile', () => {
  const report = (): string => join(stage.folder, 'report.txt');

  test('before: the late write of a paused holder lands', async () => {
    await pauseAlice('proper-lockfile/before', [report()]);
    expect(readFileSync(report(), 'utf8')).toBe('by alice');
  });

  test('after: G4: the late write of a paused holder is refused', async () => {
    await pauseAlice('proper-lockfile/after', [report()]);
    await stage.line(/^alice: STALE_EPOCH, the file is as it was$/);
    expect(readFileSync(report(), 'utf8')).toBe('by bob');
  });
});

describe.skipIf(isSkipped('postgres'))('moving from pg_advisory_lock', () => {
  let server: PostgresServer;
  let sql: pg.Pool;
  beforeAll(async () => {
    server = await startPostgres();
    process.env['DATABASE_URL'] = server.url;
    sql = new pg.Pool({ connectionString: server.url });
    await sql.query("CREATE TABLE report (text text); INSERT INTO report VALUES ('')");
  });
  afterAll(async () => {
    await sql.end();
    await server.remove();
  });
  const text = async (): Promise<string | undefined> =>
    (await sql.query<{ text: string }>('SELECT text FROM report')).rows[0]?.text;
  const sessions = async (isHeld: boolean): Promise<number[]> => {
    const query = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted = $1";
    return (await sql.query<{ pid: number }>(query, [isHeld])).rows.map(({ pid }) => pid);
  };

  test('before: a paused holder keeps all out until its connection is cut, and then writes without the lock', async () => {
    await pauseAlice('pg-advisory-lock/before', [], async () => {
      await stage.until('bob behind alice', async () => (await sessions(false)).length === 1);
      const [holder] = await sessions(true);
      await sql.query('SELECT pg_terminate_backend($1)', [holder]);
    });
    expect(await text()).toBe('by alice');
  });

  test('after: G1: the lease runs out by itself, and the late write is refused', async () => {
    await pauseAlice('pg-advisory-lock/after');
    await stage.line(REFUSED);
    expect(await text()).toBe('by bob');
  });

  test('after: Q1: those who wait are told who holds, and are served in the order in which they came', () =>
    queueUp('pg-advisory-lock/after', server.url));
});

const PAIRS = ['redlock', 'redis-semaphore', 'proper-lockfile', 'pg-advisory-lock'];
test.each(PAIRS.flatMap((pair) => [`${pair}/before`, `${pair}/after`]))(
  'docs/guide/moving.md shows what %s is',
  (example) => {
    const root = new URL('../../', import.meta.url);
    const page = readFileSync(new URL('docs/guide/moving.md', root), 'utf8');
    const code = readFileSync(new URL(`examples/moving/${example}.mjs`, root), 'utf8').replace(/^(\/\/.*\n)+/, '');
    expect(page).toContain(`\`\`\`mjs\n${code}\`\`\``);
  },
);
