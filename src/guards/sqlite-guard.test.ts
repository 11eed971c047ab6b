// guardSqlite in the caller's own database, with a gate table and with the lease file attached.
import Database from 'better-sqlite3';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '../../test/support/temporary-folder.js';
import { connect } from '../connect.js';
import type { Holdfast } from '../holdfast.js';
import type { HeldLease } from '../manager/face.js';
import { guardSqlite } from './sqlite-guard.js';

let folder: TemporaryFolder;
let db: Database.Database;
let leases: Holdfast;
beforeEach(async () => {
  folder = temporaryFolder();
  db = new Database(join(folder.path, 'app.db'), { timeout: 5 });
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE data (value TEXT)');
  leases = await connect(`sqlite:${join(folder.path, 'leases.db')}`, { services: 'off' });
});
afterEach(async () => {
  await leases.shutdown();
  db.close();
  folder.remove();
});

const write = (lease: HeldLease, value: string, to = db): void =>
  to.transaction(() => {
    guardSqlite(to, lease);
    to.prepare('INSERT INTO data VALUES (?)').run(value);
  })();
/** Another thread has the write lock of a file for a moment, and this one is told as soon as it has it. */
async function lockElsewhere(file: string, sql: string): Promise<Worker> {
  const driver = createRequire(import.meta.url).resolve('better-sqlite3');
  const program = `
    const { parentPort, workerData: { driver, path, sql } } = require('node:worker_threads');
    const db = new (require(driver))(path);
    db.exec('BEGIN IMMEDIATE; ' + sql);
    parentPort.postMessage('locked');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    db.exec('COMMIT');
    db.close();`;
  const worker = new Worker(program, { eval: true, workerData: { driver, path: join(folder.path, file), sql } });
  await once(worker, 'message');
  return worker;
}
const values = (): unknown[] => db.prepare('SELECT value FROM data').pluck().all();
async function takenOver(parts: Parameters<Holdfast['acquire']>[0] = 'orders/0'): Promise<[HeldLease, HeldLease]> {
  const older = await leases.acquire(parts, { renew: 'manual', ttl: 100 });
  return [older, await leases.acquire(parts, { wait: '10s' })];
}

/** So many that what came before them is found by the indexes of the store. */
async function manyMore(): Promise<void> {
  for (let i = 0; i < 1_500; i += 100) {
    const more = await Promise.all(Array.from({ length: 100 }, (_, n) => leases.acquire(`more/${i + n}`)));
    await Promise.all(more.map((lease) => lease.release()));
  }
}

describe('G2: by a gate table in the caller’s own database', () => {
  test('S11: a write of the holder before is refused, and leaves nothing', async () => {
    const [older, newer] = await takenOver();
    write(older, 'before anybody newer wrote'); // late, but over nobody's work
    write(newer, 'newer');
    expect(() => write(older, 'late')).toThrow(
      `Stale write rejected: epoch ${older.epoch} < current epoch ${newer.epoch}`,
    );
    write(newer, 'again');
    expect(values()).toEqual(['before anybody newer wrote', 'newer', 'again']);
  });

  test('a transaction that is rolled back notes nothing, and takes a fresh table away with it', async () => {
    const [older, newer] = await takenOver();
    const undone = db.transaction(() => {
      guardSqlite(db, newer);
      throw new Error('undone');
    });
    expect(undone).toThrow('undone');
    write(older, 'still open');
    write(newer, 'closed');
    expect(() => write(older, 'late')).toThrow(/Stale write/);
  });

  test('a holder of a subtree and one below it keep each other out', async () => {
    const [older, newer] = await takenOver({ name: 'a', scope: 'subtree' });
    await newer.release();
    const below = await leases.acquire('a/b/c');
    write(below, 'below');
    expect(() => write(older, 'late')).toThrow(/Stale write/);
    await below.release();
    const above = await leases.acquire({ name: 'a', scope: 'subtree' });
    write(above, 'above');
    expect(() => write(below, 'late')).toThrow(/Stale write/);
  });

  test('an old snapshot is refused as retryable: what it would read is not what is there', async () => {
    const [older, newer] = await takenOver();
    write(older, 'first');
    const other = new Database(join(folder.path, 'app.db'), { timeout: 5 });
    other.exec('BEGIN');
    other.prepare('SELECT * FROM data').all();
    write(newer, 'second');
    expect(() => guardSqlite(other, older)).toThrow(
      expect.objectContaining({ code: 'STORE_UNAVAILABLE', retryable: true }),
    );
    other.exec('ROLLBACK');
    other.exec('BEGIN IMMEDIATE');
    expect(() => write(newer, 'locked')).toThrow(/locked by another writer/);
    other.exec('ROLLBACK');
    other.close();
  });

  test('a deferred transaction waits for a writer elsewhere, when the table is made and afterwards', async () => {
    const lease = await leases.acquire('orders/0');
    const patient = new Database(join(folder.path, 'app.db'), { timeout: 2_000 });
    for (const value of ['with a new table', 'with a known table']) {
      const worker = await lockElsewhere('app.db', "INSERT INTO data VALUES ('other')");
      write(lease, value, patient);
      await once(worker, 'exit');
    }
    expect(values()).toEqual(['other', 'with a new table', 'other', 'with a known table']);
    patient.close();
  });

  test('A11: a full disk is retryable, here as elsewhere', async () => {
    const lease = await leases.acquire('orders/0');
    const pages = db.pragma('page_count', { simple: true }) as number;
    db.pragma(`max_page_count = ${pages}`); // SQLite then says what it says of a disk without room
    expect(() => write(lease, 'no room')).toThrow(
      expect.objectContaining({
        code: 'STORE_UNAVAILABLE',
        retryable: true,
        message: expect.stringMatching(/is full: free some space/) as unknown,
      }),
    );
    db.pragma(`max_page_count = ${pages + 100}`);
    write(lease, 'with room');
    expect(values()).toEqual(['with room']);
  });

  test('outside a transaction, without a database, with a limit or a bad table it is refused', async () => {
    const lease = await leases.acquire('orders/0');
    expect(() => guardSqlite(db, lease)).toThrow(/call it in db.transaction/);
    expect(() => guardSqlite({} as never, lease)).toThrow(/takes a better-sqlite3 database/);
    const inside = (act: () => void): (() => void) => db.transaction(act);
    expect(inside(() => guardSqlite(db, {} as never))).toThrow(/takes the lease/);
    expect(inside(() => guardSqlite(db, lease, { table: 'a; DROP' }))).toThrow(/plain name/);
    const counted = await leases.acquire({ name: 'pool', mode: 'shared', limit: 2 });
    expect(inside(() => guardSqlite(db, counted))).toThrow(/no gate can enforce/);
  });

  test('works with a database that answers bigints', async () => {
    const [older, newer] = await takenOver();
    db.defaultSafeIntegers(true);
    write(newer, 'newer');
    expect(() => write(older, 'late')).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ current: newer.epoch }) as unknown }),
    );
  });
});

describe('G2: with the lease file attached', () => {
  beforeEach(() => void db.prepare('ATTACH ? AS leases').run(join(folder.path, 'leases.db')));

  test('S11: a lease that is over is refused, before anybody newer has written', async () => {
    const [older, newer] = await takenOver();
    expect(() => write(older, 'late')).toThrow(
      `Stale write rejected: epoch ${older.epoch} < current epoch ${newer.epoch}`,
    );
    write(newer, 'newer');
    await newer.release();
    expect(() => write(newer, 'too late')).toThrow(/LEASE_LOST|is released; roll back/);
    expect(values()).toEqual(['newer']);
  });

  test.each<[string, Parameters<Holdfast['acquire']>[0], boolean]>([
    ['further name of a set', ['a', 'orders/0'], false],
    ['further name of a set, indexed since', ['a', 'orders/0'], true],
    ['subtree above', { name: 'orders', scope: 'subtree' }, false],
    ['subtree above, in a set and indexed since', ['a', { name: 'orders', scope: 'subtree' }], true],
  ])('S11: taken over as a %s, the epoch is stale', async (_, parts, isIndexed) => {
    const older = await leases.acquire('orders/0', { renew: 'manual', ttl: 100 });
    const newer = await leases.acquire(parts, { wait: '10s' });
    if (isIndexed) await manyMore();
    expect(() => write(older, 'late')).toThrow(
      expect.objectContaining({
        code: 'STALE_EPOCH',
        details: { resource: 'orders/0', current: newer.epoch, attempted: older.epoch, leaseId: older.id },
      }),
    );
    expect(values()).toEqual([]);
  });

  test('a newer holder of a name above, but not of what is below it, leaves the lease only gone', async () => {
    const older = await leases.acquire('orders/0');
    await older.release();
    await leases.acquire(['a', 'orders', { name: 'other', scope: 'subtree' }]);
    expect(() => write(older, 'late')).toThrow(expect.objectContaining({ code: 'LEASE_LOST' }));
  });

  test('a deferred transaction waits for a writer of the lease file', async () => {
    const lease = await leases.acquire('orders/0');
    const patient = new Database(join(folder.path, 'app.db'), { timeout: 2_000 });
    patient.prepare('ATTACH ? AS leases').run(join(folder.path, 'leases.db'));
    const worker = await lockElsewhere('leases.db', '');
    write(lease, 'after it', patient);
    await once(worker, 'exit');
    expect(values()).toEqual(['after it']);
    patient.close();
  });

  test('one that has expired and that nobody took is over, too', async () => {
    const lease = await leases.acquire('orders/0', { renew: 'manual', ttl: 100 });
    write(lease, 'live');
    await once(lease.signal, 'abort');
    const waited = await leases.acquire('other', { renew: 'manual', ttl: 100 });
    await once(waited.signal, 'abort');
    expect(() => write(lease, 'late')).toThrow(/is expired since/);
  });

  test('an old snapshot of the lease file is refused as retryable', async () => {
    const lease = await leases.acquire('orders/0');
    db.exec('BEGIN');
    db.prepare('SELECT count(*) FROM leases.journal').get();
    await leases.acquire('other');
    expect(() => guardSqlite(db, lease)).toThrow(
      expect.objectContaining({ code: 'STORE_UNAVAILABLE', retryable: true }),
    );
    db.exec('ROLLBACK');
    write(lease, 'with a new one');
  });

  test('a lease is found however many came after it', async () => {
    const [older, newer] = await takenOver();
    await manyMore();
    write(newer, 'newer');
    expect(() => write(older, 'late')).toThrow(
      `Stale write rejected: epoch ${older.epoch} < current epoch ${newer.epoch}`,
    );
  });

  test('nobody ends the lease while the transaction is open', async () => {
    const lease = await leases.acquire('orders/0', { renew: 'manual', ttl: 200 });
    db.exec('BEGIN IMMEDIATE');
    guardSqlite(db, lease);
    const next = leases.acquire('orders/0', { wait: '20s' });
    await once(lease.signal, 'abort');
    db.prepare('INSERT INTO data VALUES (?)').run('mine');
    db.exec('COMMIT');
    await (await next).release();
    expect(values()).toEqual(['mine']);
  });

  test('a lease with a limit is guarded as well: its own row is asked', async () => {
    const counted = await leases.acquire({ name: 'pool', mode: 'shared', limit: 2 });
    write(counted, 'counted');
    await leases.revoke({ leaseId: counted.id, reason: 'test' });
    expect(() => write(counted, 'late')).toThrow(/is revoked/);
  });

  test('of several lease files the one of the lease’s own store is asked, and without it the gate table', async () => {
    const second = await connect(`sqlite:${join(folder.path, 'second.db')}`, { services: 'off' });
    const [first, other] = [await leases.acquire('orders/0'), await second.acquire('orders/0')];
    write(other, 'by the gate');
    expect(db.prepare('SELECT count(*) FROM holdfast_gate').pluck().get()).toBe(1);
    symlinkSync(folder.path, join(folder.path, 'by-link'));
    db.prepare('ATTACH ? AS second').run(join(folder.path, 'by-link', 'second.db'));
    write(first, 'first');
    write(other, 'other');
    await second.revoke({ leaseId: other.id, reason: 'test' });
    expect(() => write(other, 'late')).toThrow(/is revoked/);
    expect(values()).toEqual(['by the gate', 'first', 'other']);
    await second.shutdown();
  });

  test('A11: a file at the place of the lease file that is none of ours is refused, and not written', async () => {
    const lease = await leases.acquire('orders/0');
    const mark = db.pragma('leases.application_id', { simple: true }) as number;
    db.pragma('leases.application_id = 0');
    expect(() => write(lease, 'late')).toThrow(expect.objectContaining({ code: 'STORE_INCOMPATIBLE' }));
    db.pragma(`leases.application_id = ${mark}`);
    expect(values()).toEqual([]);
    write(lease, 'with the mark');
  });

  test('a lease of another store uses the gate table', async () => {
    const elsewhere = await connect('memory:', { services: 'off' });
    write(await elsewhere.acquire('orders/0'), 'from memory');
    expect(db.prepare('SELECT count(*) FROM holdfast_gate').pluck().get()).toBe(1);
    await elsewhere.shutdown();
  });
});
