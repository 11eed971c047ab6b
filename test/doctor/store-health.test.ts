// What is behind the store, broken for real: connections used up, transactions left open, tables locked, memory filled,
// snapshots that fail, a WAL that grows; and streams with gaps, a manual queue, old leases.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Driver from 'better-sqlite3';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterEach, describe, expect, test } from 'vitest';
import { connect } from '../../src/connect.js';
import { examine, found, untilFound } from '../support/examine.js';
import { processSite } from '../support/process-site.js';
import { startPostgres } from '../support/servers/postgres-server.js';
import { startRedis } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const site = processSite();
const undo: (() => Promise<unknown> | undefined)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
});

async function client(url: string): Promise<pg.Client> {
  const opened = new pg.Client(url);
  opened.on('error', () => undefined); // the server goes before it does
  await opened.connect();
  undo.push(() => opened.end().catch(() => undefined));
  return opened;
}

describe.skipIf(isSkipped('postgres'))('C9: PostgreSQL', () => {
  test('connections that run out, a transaction left open, a locked table', async () => {
    const server = await startPostgres({ stepClock: true, settings: { max_connections: '25' } });
    undo.push(() => server.remove());
    const holder = await connect(server.url, { owner: 'agent-a', services: 'off' });
    await holder.acquire('orders/0', { ttl: '1h' });
    await holder.shutdown();
    expect(found(await examine(server.url), 'store-health')).toEqual([]);

    const idle = await client(server.url);
    await idle.query("SET application_name = 'forgotten'");
    await idle.query('BEGIN');
    await idle.query('SELECT 1');
    server.clock.step(2 * 60_000);
    const [open] = found(await examine(server.url), 'store-health');
    expect(open).toMatchObject({ severity: 'warning', runbook: 'docs/runbooks/store-unavailable.md' });
    expect(open?.what).toMatch(/^a transaction has been open for 2 min/);
    expect(open?.evidence[0]).toMatch(/^pid \d+ \(forgotten, idle in transaction\): 2 min$/);
    expect(open?.next).toMatch(/^psql -c "SELECT pg_terminate_backend\(\d+\)"$/);

    await idle.query('LOCK TABLE holdfast.lease IN ACCESS EXCLUSIVE MODE');
    const blocked = await client(server.url);
    const waiting = blocked.query('SELECT count(*) FROM holdfast.lease').catch(() => undefined);
    const locked = await untilLocked(server.url);
    expect(locked?.evidence[0]).toMatch(/^pid \d+ has waited .* for lease, behind pid \d+$/);
    await idle.query('ROLLBACK');
    await waiting;

    for (let i = 0; i < 17; i += 1) await client(server.url);
    const full = found(await examine(server.url), 'store-health').find(({ what }) => what.includes('connections'));
    expect(full?.what).toMatch(/^\d+ of 22 connections are taken$/);
    expect(full?.runbook).toBe('docs/runbooks/resource-pressure.md');
  });

  async function untilLocked(url: string): Promise<ReturnType<typeof found>[number] | undefined> {
    for (;;) {
      const health = found(await examine(url), 'store-health').find(({ what }) => what.includes('for locks of ours'));
      if (health) return health;
    }
  }

  test('a role that may only look is told what is hidden from it', async () => {
    const server = await startPostgres({ stepClock: true });
    undo.push(() => server.remove());
    await (await connect(server.url, { services: 'off' })).shutdown();
    const admin = await client(server.url);
    await admin.query(`CREATE ROLE viewer LOGIN PASSWORD 'secret'; GRANT USAGE ON SCHEMA holdfast TO viewer;
      GRANT SELECT ON ALL TABLES IN SCHEMA holdfast TO viewer; GRANT SELECT ON ALL SEQUENCES IN SCHEMA holdfast TO viewer`);
    const viewer = server.url.replace('//holdfast:', '//viewer:');
    expect((await examine(viewer)).verdict).toBe('well');
    const own = await client(viewer);
    await own.query('BEGIN');
    server.clock.step(10 * 60_000);
    const [open] = found(await examine(viewer), 'store-health');
    expect(open).toMatchObject({ severity: 'wrong' });
    expect(open?.evidence.at(-1)).toContain('GRANT pg_read_all_stats');
  });
});

describe.skipIf(isSkipped('redis'))('C9: Redis', () => {
  test('memory that fills up, a snapshot that fails, and what a restart would lose', async () => {
    const server = await startRedis({ settings: { maxmemory: '8mb', 'enable-protected-configs': 'yes' } });
    undo.push(() => server.remove());
    await (await connect(server.url, { services: 'off' })).shutdown();
    const [note] = found(await examine(server.url), 'store-health');
    expect(note).toMatchObject({ severity: 'note', next: 'redis-cli CONFIG GET appendonly' });

    const redis = new Redis(server.url);
    undo.push(() => redis.quit());
    for (let i = 0; i < 26; i += 1) await redis.set(`filler-${i}`, 'x'.repeat(256 * 1024)).catch(() => undefined);
    const full = found(await examine(server.url), 'store-health').find(({ what }) => what.includes('memory is used'));
    expect(full?.what).toMatch(/^\d+ % of the memory is used/);
    expect(full?.severity).toBe('wrong');
    expect(full?.evidence[0]).toMatch(/ used of 8 MiB, policy noeviction$/);

    const gone = join(server.folder, 'gone');
    mkdirSync(gone);
    await redis.config('SET', 'dir', gone);
    rmSync(gone, { recursive: true });
    await redis.bgsave();
    for (;;) {
      const health = found(await examine(server.url), 'store-health').find(({ what }) =>
        what.includes('snapshot failed'),
      );
      if (!health) continue;
      expect(health).toMatchObject({ severity: 'wrong', runbook: 'docs/runbooks/wal-and-disk.md' });
      break;
    }
  });
});

describe('C9: SQLite and what is in it', () => {
  test('a WAL that nobody folds in', async () => {
    await (await connect(site.url, { services: 'off' })).shutdown();
    const raw = new Driver(site.file);
    raw.pragma('wal_autocheckpoint = 0');
    raw.exec('CREATE TABLE filler (bytes BLOB)');
    const add = raw.prepare('INSERT INTO filler VALUES (?)');
    for (let i = 0; i < 70; i += 1) add.run(Buffer.alloc(1024 * 1024));
    const [long] = found(await examine(site.url), 'store-health');
    expect(long).toMatchObject({ severity: 'warning', runbook: 'docs/runbooks/wal-and-disk.md' });
    expect(long?.what).toMatch(/^the WAL of .*leases\.db is 7\d MiB long$/);
    raw.close();
  });

  test('old leases, gaps, the manual queue, and numbers nobody recovers', async () => {
    const leases = await connect(site.url, { services: 'off', owner: 'writer' });
    undo.push(() => leases.shutdown());
    await leases.config.set('max_lock_age_seconds', 0.1);
    await leases.acquire('forgotten', { ttl: '1h', renew: 'manual' });
    const stream = leases.sequence('orders');
    await (await stream.lease({ operationId: 'two', kind: 'order' })).release('no stock');
    const bad = await stream.lease({ operationId: 'bad', kind: 'import', ttl: '100ms' });
    await bad.partial('half');
    stream.recovery.rebuild('import', async () => Promise.reject(new Error('no disk')));
    while ((await stream.figures())?.manual !== 1) await stream.recovery.run();
    const manual = await untilFound(site.url, 'manual-queue', 'wrong');
    expect(manual).toMatchObject({
      next: 'holdfast seq manual ls orders',
      runbook: 'docs/runbooks/recovery-failures.md',
    });
    const diagnosis = await examine(site.url);
    expect(found(diagnosis, 'sequence-gaps')).toMatchObject([{ severity: 'note', what: 'orders has 2 gaps' }]);
    expect(found(diagnosis, 'old-leases')).toMatchObject([{ severity: 'note', next: 'holdfast show forgotten' }]);
    expect(diagnosis.looked.streams).toBe(1);
  });

  test('without a history it says that the log cannot tell', async () => {
    const leases = await connect(site.url, { services: 'off' });
    await leases.config.set('keep_history', false);
    await leases.shutdown();
    expect(found(await examine(site.url), 'not-looked-at')).toMatchObject([
      { severity: 'warning', next: 'holdfast config set keep_history true' },
    ]);
  });
});
