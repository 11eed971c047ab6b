// Streams on SQLite at the level of the port, log on, against bare statements in the same run with the same `synchronous`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Driver from 'better-sqlite3';
import { openSqlite } from '../dist/stores/sqlite/index.js';
import { MANY_ROWS } from './scale.mjs';
import * as rowsOf from './sequence-rows.mjs';
import { clock, leaseOf, OPERATION, READ } from './sequence-rows.mjs';

const KIND = 'SQLite';
const STREAM = 's';
const PAIRS = 100;

export async function benchSequenceSqlite(say) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const open = async (name) => {
    const path = join(folder, name);
    const store = await openSqlite(`sqlite:${path}`, { clock });
    return { path, store, sequences: store.sequences, stream: STREAM };
  };
  try {
    say('SQLite: lease + commit against bare inserts');
    const rows = [await leaseAndCommit(await open('small.db'), bareTable(join(folder, 'bare.db')))];
    say(`SQLite: filling a stream with ${MANY_ROWS.toLocaleString('en')} numbers`);
    const [long, short] = [await open('large.db'), await open('short.db')];
    fill(long, MANY_ROWS);
    fill(short, 1_000);
    say(`SQLite: reading ${READ} operations in order`);
    const barePage = bareOperations(join(folder, 'bare-read.db'));
    rows.push(await rowsOf.readRow(KIND, { ...long, barePage, baselineName: 'ordered select, parsed', target: 0.6 }));
    say('SQLite: the watermark of a long stream');
    rows.push(await rowsOf.watermarkRow(KIND, long, short));
    say('SQLite: numbers that expire together');
    const expiring = await open('expiring.db');
    rows.push(await rowsOf.expiringRow(KIND, `sqlite:${expiring.path}`, expiring.sequences));
    for (const { store } of [long, short, expiring]) await store.close();
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function leaseAndCommit({ store, sequences }, bareOne) {
  const ours = async () => {
    for (let i = 0; i < PAIRS; i += 1) {
      const request = leaseOf(STREAM);
      const [{ epoch }] = (await sequences.lease([request])).results;
      const { stream, operationId } = request;
      await sequences.commit([{ stream, operationId, epoch, operations: [OPERATION] }]);
    }
  };
  const bare = () => {
    for (let i = 0; i < PAIRS; i += 1) bareOne();
  };
  const baselineName = 'two inserts, synchronous=FULL';
  const one = await rowsOf.leaseAndCommitRow(KIND, {
    ...{ ours, bare, pairs: PAIRS, concurrency: 1, baselineName, target: 0.5 },
  });
  await store.close();
  return one;
}

/** Two inserts in two transactions, as who needs no leases would write them. */
function bareTable(path) {
  const db = new Driver(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec(`CREATE TABLE reserved (n INTEGER PRIMARY KEY, id TEXT UNIQUE, at INTEGER);
    CREATE TABLE operation (n INTEGER PRIMARY KEY, id TEXT UNIQUE, body TEXT)`);
  const reserve = db.prepare('INSERT INTO reserved (id, at) VALUES (?, ?)');
  const store = db.prepare('INSERT INTO operation VALUES (?, ?, ?)');
  return () => {
    const id = clock.randomText();
    const { lastInsertRowid } = reserve.run(id, clock.wall());
    store.run(lastInsertRowid, id, JSON.stringify(OPERATION));
  };
}

function bareOperations(path) {
  const db = new Driver(path);
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE operation (n INTEGER PRIMARY KEY, id TEXT, kind TEXT, state INTEGER, body TEXT)');
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO operation SELECT i, 'op-' || i, 'k', 2, ? FROM n`,
  ).run(READ, JSON.stringify([OPERATION]));
  const page = db.prepare('SELECT * FROM operation WHERE n >= ? ORDER BY n LIMIT ?');
  return (from, limit) => page.all(from, limit).map(({ body }) => body);
}

/** Written straight into the tables: leasing a million one by one would take minutes and measure nothing. */
function fill({ path }, count) {
  const db = new Driver(path);
  db.prepare("INSERT OR IGNORE INTO space SELECT 1, 'default', 0, 1, 0, 0, '{}', 1, 0, 0, 0").run();
  const ns = db.prepare("SELECT id FROM space WHERE name = 'default'").pluck().get();
  db.prepare('INSERT INTO stream VALUES (1, ?, ?, ?, 0, 1, 0, 0, 0, 0)').run(ns, STREAM, count + 1);
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO span (stream, first, count, state, operation_id, kind, owner, epoch, leased_at, expires_at, ttl_ms, content,
       settled_at, is_manual, operations)
     SELECT 1, i, 1, 2, 'op-' || i, 'k', 'o', 1, 0, 0, 0, 1, 0, 0, ? FROM n`,
  ).run(count, JSON.stringify([OPERATION]));
  db.close();
}
