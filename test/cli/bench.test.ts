// holdfast bench (C10): the figures it prints, and that nothing is left behind: no file, no row, no schema, no key; also when it
// is interrupted, and when the store goes away under it.
import { readdirSync, statSync } from 'node:fs';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Figures } from '../../src/cli/bench-cases.js';
import { commandSite, hasTerminals, type Ended } from '../support/command-site.js';
import { startPostgres } from '../support/servers/postgres-server.js';
import { startRedis } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const site = commandSite();
const CASES = ['own names 1', 'own names 32', 'own names 256', 'one name 32', 'one name 256', 'hand-over 2'];

function checkFigures({ code, out, err }: Ended): void {
  expect([code, err]).toEqual([0, '']);
  const { cases, isWhole } = JSON.parse(out) as { cases: Figures[]; isWhole: boolean };
  expect(isWhole).toBe(true);
  expect(cases.map(({ name, clients }) => `${name} ${clients}`)).toEqual(CASES);
  for (const one of cases) {
    expect(one.operations, one.name).toBeGreaterThan(0);
    expect(one.p50Ms).toBeGreaterThan(0);
    expect(one.p99Ms).toBeGreaterThanOrEqual(one.p50Ms);
    expect(one.maxMs).toBeGreaterThanOrEqual(one.p99Ms);
  }
}

describe('C10: bench on SQLite', () => {
  test('figures for every case, in a file of its own that is gone afterwards; the store is as it was', async () => {
    await site.run('acquire', 'orders/0');
    const before = [readdirSync(site.folder), statSync(site.file).size, (await site.run('history', '--json')).out];
    checkFigures(await site.run('bench', '--for', '50ms', '--json'));
    expect([readdirSync(site.folder), statSync(site.file).size, (await site.run('history', '--json')).out]).toEqual(
      before,
    );
  });

  test('the store need not be there, and is not made', async () => {
    const { code, out } = await site.run('bench', '--for', '20ms');
    expect(code).toBe(0);
    expect(out).toMatch(/^ON +CLIENTS +A SECOND +P50 MS +P95 MS +P99 MS +MAX MS\nown names +1 +[\d,]+ /);
    expect(out).toMatch(
      /measured in .*leases\.db\.bench-\w+, which is gone; one process, two connections; survives a crash/,
    );
    expect(readdirSync(site.folder)).toEqual(['here']);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('%s: what there is, and nothing left behind', async (signal) => {
    const running = site.start('bench', '--for', '30s', '--json');
    while (!readdirSync(site.folder).some((name) => name.includes('.bench-'))) await new Promise(setImmediate);
    running.process.kill(signal);
    const { code, out, err } = await running.ended;
    expect(code).toBe(signal === 'SIGINT' ? 130 : 143);
    expect(JSON.parse(out)).toMatchObject({ isWhole: false, cases: [] });
    expect(err).toBe('holdfast: interrupted after 0 of 6: nothing was left behind\n');
    expect(readdirSync(site.folder)).toEqual(['here']);
  });

  test.skipIf(!hasTerminals)('on a terminal a line says how far it is (no `script`: no terminal)', async () => {
    const running = site.terminal(120, 'bench', '--for', '20ms');
    await running.says(/1 of 6: own names, 1 clients/);
    await running.says(/6 of 6: hand-over, 2 clients/);
    expect((await running.ended).out).toContain('A SECOND');
  });

  test.each([
    [['bench', '--for', '2m'], /--for/],
    [['--store', 'memory:', 'bench'], /memory: ends with the command/],
    [['--store', 'http://me:secret@127.0.0.1:1', 'bench'], /no place that can be left as it was found/],
  ])('%j is bad usage', async (args, message) => {
    const { code, err } = await site.run(...args);
    expect([code, err]).toEqual([64, expect.stringMatching(message)]);
    expect(err).not.toContain('secret');
  });
});

describe.skipIf(isSkipped('postgres'))('C10: bench on PostgreSQL', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  /** Schemas, tables and functions of everybody but the server itself. */
  async function everything(): Promise<unknown> {
    const sql = new pg.Client(server.url);
    await sql.connect();
    const { rows } = await sql.query(`
      SELECT nspname AS name FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema)'
      UNION ALL SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname !~ '^(pg_|information_schema)'
      UNION ALL SELECT proname FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace WHERE nspname !~ '^(pg_|information_schema)'
      ORDER BY 1`);
    await sql.end();
    return rows;
  }

  test('a schema of its own, dropped; also after ^C', async () => {
    await site.run('--store', server.url, 'acquire', 'orders/0');
    const before = await everything();
    checkFigures(await site.run('--store', server.url, 'bench', '--for', '50ms', '--json'));
    expect(await everything()).toEqual(before);
    const running = site.start('--store', server.url, 'bench', '--for', '30s', '--json');
    while (!JSON.stringify(await everything()).includes('holdfast_bench')) continue;
    running.process.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(await everything()).toEqual(before);
  });

  test('a role that may make nothing is told so (77)', async () => {
    const sql = new pg.Client(server.url);
    await sql.connect();
    await sql.query(`CREATE ROLE poor LOGIN PASSWORD 'secret'; REVOKE CREATE ON DATABASE holdfast FROM PUBLIC`);
    await sql.end();
    const { code, err } = await site.run(
      '--store',
      server.url.replace('//holdfast:', '//poor:'),
      'bench',
      '--for',
      '20ms',
    );
    expect([code, err]).toEqual([77, expect.stringMatching(/^holdfast: .*\n$/)]);
  });
});

describe.skipIf(isSkipped('redis'))('C10: bench on Redis', () => {
  test('a namespace of its own, removed; also after ^C', async () => {
    const server = await startRedis();
    const redis = new Redis(server.url);
    try {
      await site.run('--store', server.url, 'acquire', 'orders/0');
      const before = (await redis.keys('*')).toSorted();
      checkFigures(await site.run('--store', server.url, 'bench', '--for', '50ms', '--json'));
      expect((await redis.keys('*')).toSorted()).toEqual(before);
      const running = site.start('--store', server.url, 'bench', '--for', '30s', '--json');
      while (!(await redis.keys('*')).some((key) => key.includes('{bench-'))) continue;
      running.process.kill('SIGINT');
      expect((await running.ended).code).toBe(130);
      expect((await redis.keys('*')).toSorted()).toEqual(before);
    } finally {
      redis.disconnect();
      await server.remove();
    }
  });
});
