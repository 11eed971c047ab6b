// What the pages of the stores tell an administrator to type: the grants of PostgreSQL and the ACL of Redis, exactly as they
// stand there, are given to a user that has nothing else, and that user does everything a program does.
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { connect, type ConnectOptions } from '../../src/connect.js';
import { openPostgres } from '../../src/stores/postgres/index.js';
import { systemClock } from '../../src/system-clock.js';
import { startPostgres } from '../support/servers/postgres-server.js';
import { startRedis } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

/** The block after a mark such as `<!-- grants -->`. */
function shownIn(page: string, mark: string): string {
  const text = readFileSync(new URL(`../../docs/stores/${page}`, import.meta.url), 'utf8');
  const [, after = ''] = text.split(`<!-- ${mark} -->`);
  return /^\s*```\w*\n(.*?)```/s.exec(after)?.[1] ?? '';
}

/** Taking, waiting, being woken, renewing, looking, governing, keeping house. */
async function everything(url: string, options: ConnectOptions): Promise<void> {
  const [a, b] = [await connect(url, { owner: 'a', ...options }), await connect(url, { owner: 'b', ...options })];
  const first = await a.acquire(['orders/0', 'orders/1'], { ttl: '1m' });
  const waiting = b.acquire('orders/0', { wait: '30s' });
  while ((await a.show('orders/0')).queue.length === 0);
  await first.renew();
  await first.release();
  const second = await waiting;
  expect(second.epoch).toBeGreaterThan(first.epoch);
  expect((await a.list()).items.map(({ owner }) => owner)).toEqual(['b']);
  expect((await a.history({ resource: 'orders/0' })).items.length).toBeGreaterThan(2);
  expect(await a.revoke({ resource: 'orders/0', reason: 'test' })).toHaveLength(1);
  await a.config.set('max_lock_age_seconds', 77);
  await a.sweep();
  expect((await b.waitGraph()).tickets).toEqual([]);
  await a.shutdown();
  await b.shutdown();
}

describe.skipIf(isSkipped('postgres'))('docs/stores/postgres.md', () => {
  test('the grants it lists are enough for a role that may make nothing', async () => {
    const server = await startPostgres();
    try {
      const owner = await connect(server.url, { services: 'off' });
      await owner.shutdown();
      const sql = new pg.Client(server.url);
      await sql.connect();
      await sql.query(`CREATE ROLE app LOGIN PASSWORD 'secret'; ${shownIn('postgres.md', 'grants')}`);
      await sql.end();
      const url = server.url.replace('//holdfast:', '//app:');
      await everything(url, { migrate: 'check' });
      await everything(url, { migrate: 'check', namespace: 'another' });
    } finally {
      await server.remove();
    }
  });

  test('the grants it lists for looking are enough to look, and no more', async () => {
    const server = await startPostgres();
    try {
      const owner = await connect(server.url, { owner: 'a', services: 'off' });
      await owner.acquire('orders/0');
      const sql = new pg.Client(server.url);
      await sql.connect();
      await sql.query(`CREATE ROLE viewer LOGIN PASSWORD 'secret'; ${shownIn('postgres.md', 'grants for looking')}`);
      await sql.end();
      const url = server.url.replace('//holdfast:', '//viewer:');
      const store = await openPostgres(url, { clock: systemClock(), readOnly: true });
      expect((await store.list({ limit: 10 })).items.map((lease) => lease.owner)).toEqual(['a']);
      expect((await store.show('orders/0', 5)).history).toHaveLength(1);
      expect(await store.events({ limit: 10 })).toMatchObject({ outcome: 'rows' });
      await store.close();
      const eager = await openPostgres(url, { clock: systemClock(), migrate: 'check' });
      await expect(eager.sweep({ limit: 1 })).rejects.toMatchObject({ code: 'FORBIDDEN' });
      await eager.close();
      await owner.shutdown();
    } finally {
      await server.remove();
    }
  });
});

/** Leasing, committing, giving up, reading, trimming and looking. */
async function aStream(url: string): Promise<void> {
  const leases = await connect(url, { services: 'off' });
  const stream = leases.sequence('orders', { durability: 'accept-loss' });
  await (await stream.lease({ operationId: 'a', kind: 'k' })).commit({ total: 1 });
  await (await stream.lease({ operationId: 'b', kind: 'k' })).release('no stock');
  expect((await stream.read(1, 10)).map(({ state }) => state)).toEqual(['committed', 'gap']);
  await stream.trim(2);
  expect((await leases.streams()).items).toMatchObject([{ name: 'orders', watermark: 2 }]);
  await leases.shutdown();
}

describe.skipIf(isSkipped('redis'))('docs/stores/redis.md', () => {
  test('the ACL it lists is enough, and opens nothing else', async () => {
    const server = await startRedis();
    const admin = new Redis(server.url);
    try {
      const [command = '', ...args] = shownIn('redis.md', 'acl').trim().split(' ');
      await admin.call(command, ...args);
      const url = server.url.replace('//', '//app:secret@');
      await everything(url, {});
      await aStream(url);
      const user = new Redis(url);
      await expect(user.get('other')).rejects.toThrow(/NOPERM/);
      user.disconnect();
      await expect(connect(url, { namespace: 'another' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    } finally {
      admin.disconnect();
      await server.remove();
    }
  });
});
