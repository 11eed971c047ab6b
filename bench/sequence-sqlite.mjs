// Streams on SQLite at the level of the port, log on, against bare statements in the same run with the same `synchronous`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Driver from 'better-sqlite3';
import { connect, systemClock } from '../dist/index.js';
import { openSqlite } from '../dist/stores/sqlite/index.js';
import { alternate, row } from './measure.mjs';

const clock = systemClock();
const OPERATION = { account: 'a-17', cents: 1200, note: 'a transfer of some length, as they are' };
const [MILLION, READ] = [1_000_000, 100_000];

export async function benchSequenceSqlite(say) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  try {
    const open = (name) => openStream(join(folder, name));
    const small = await open('small.db');
    say('lease + commit against bare inserts');
    const rows = [await leaseAndCommit(small, bareTable(join(folder, 'bare.db')))];
    say('filling a stream with 1,000,000 numbers');
    const large = await open('large.db');
    fill(large, MILLION);
    say(`reading ${READ} operations in order`);
    rows.push(await reading(large, join(folder, 'bare-read.db')));
    say('the watermark of a long stream');
    rows.push(await watermark(large, await open('short.db')));
    say('numbers that expire together');
    rows.push(await expiring(join(folder, 'expiring.db')));
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openStream(path) {
  const store = await openSqlite(`sqlite:${path}`, { clock });
  return { path, store, sequences: store.sequences, made: 0 };
}

const leaseOf = (bench, ttlMs = 600_000) => {
  bench.made += 1;
  const operationId = `${bench.path}-${bench.made}-${clock.randomText()}`;
  return { stream: 's', operationId, kind: 'k', ttlMs, count: 1, owner: 'bench' };
};

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

async function leaseAndCommit(bench, bare) {
  const each = 100;
  const ours = async () => {
    for (let i = 0; i < each; i += 1) {
      const request = leaseOf(bench);
      const [{ epoch }] = (await bench.sequences.lease([request])).results;
      const { stream, operationId } = request;
      await bench.sequences.commit([{ stream, operationId, epoch, operations: [OPERATION] }]);
    }
  };
  const baseline = () => {
    for (let i = 0; i < each; i += 1) bare();
  };
  const [oursMs, bareMs] = await alternate(15, [ours, baseline]);
  const perSecond = (ms) => (each * 1_000) / ms;
  return row({
    name: 'lease + commit',
    store: 'sequence',
    concurrency: 1,
    ours: perSecond(oursMs),
    baseline: perSecond(bareMs),
    baselineName: 'two inserts, synchronous=FULL',
    unit: 'per s',
    ratio: bareMs / oursMs,
    target: 0.5,
  });
}

/** Written straight into the tables: leasing a million one by one would take minutes and measure nothing. */
function fill(bench, count) {
  const db = new Driver(bench.path);
  db.prepare("INSERT OR IGNORE INTO space SELECT 1, 'default', 0, 1, 0, 0, '{}', 1, 0, 0, 0").run();
  const ns = db.prepare("SELECT id FROM space WHERE name = 'default'").pluck().get();
  db.prepare('INSERT INTO stream VALUES (1, ?, ?, ?, 0, 1, 0, 0, 0, 0)').run(ns, 's', count + 1);
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO span (stream, first, count, state, operation_id, kind, owner, epoch, leased_at, expires_at, ttl_ms, content,
       settled_at, is_manual, operations)
     SELECT 1, i, 1, 2, 'op-' || i, 'k', 'o', 1, 0, 0, 0, 1, 0, 0, ? FROM n`,
  ).run(count, JSON.stringify([OPERATION]));
  db.close();
}

async function reading(bench, barePath) {
  const db = new Driver(barePath);
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE operation (n INTEGER PRIMARY KEY, id TEXT, kind TEXT, state INTEGER, body TEXT)');
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO operation SELECT i, 'op-' || i, 'k', 2, ? FROM n`,
  ).run(READ, JSON.stringify([OPERATION]));
  const page = db.prepare('SELECT * FROM operation WHERE n >= ? ORDER BY n LIMIT 1000');
  const bare = () => {
    let seen = 0;
    for (let from = 1; from <= READ; from += 1_000)
      for (const one of page.all(from)) seen += JSON.parse(one.body).length;
    if (seen !== READ) throw new Error(`only ${seen}`);
  };
  const ours = async () => {
    let from = 1;
    while (from <= READ) {
      const { items } = await bench.sequences.read({ stream: 's', from, limit: 1_000, seal: true, watch: false });
      from += items.length;
    }
  };
  const [oursMs, bareMs] = await alternate(7, [ours, bare]);
  return row({
    name: `read ${READ} operations`,
    store: 'sequence',
    concurrency: 1,
    ours: oursMs,
    baseline: bareMs,
    baselineName: 'ordered select, parsed',
    unit: 'ms',
    ratio: bareMs / oursMs,
    target: 0.6,
  });
}

async function watermark(large, short) {
  fill(short, 1_000);
  for (const [bench, open] of [
    [large, 1_000],
    [short, 10],
  ])
    for (let i = 0; i < open; i += 1) await bench.sequences.lease([leaseOf(bench)]);
  const look = async ({ sequences }) => {
    for (let i = 0; i < 500; i += 1)
      await sequences.read({ stream: 's', from: 2 ** 52, limit: 1, seal: false, watch: false });
  };
  const [largeMs, shortMs] = await alternate(21, [() => look(large), () => look(short)]);
  return row({
    name: 'watermark, 1,000,000 settled and 1,000 open',
    store: 'sequence',
    concurrency: 1,
    ours: largeMs / 500,
    baseline: shortMs / 500,
    baselineName: '1,000 and 10',
    unit: 'ms',
    ratio: largeMs / shortMs,
    target: 1.3,
    atMost: true,
  });
}

async function expiring(path) {
  const leases = await connect(`sqlite:${path}`, { services: 'off' });
  await leases.config.set('cascade_threshold', 10_000); // the throttle of recovery mode is not what is measured
  const store = await openSqlite(`sqlite:${path}`, { clock });
  let made = 0;
  const settle = async (count) => {
    const stream = `s${(made += 1)}`;
    for (let i = 0; i < count; i += 1)
      await store.sequences.lease([{ ...leaseOf({ path, made: i }, 100), stream, operationId: `op-${i}` }]);
    await delay(150);
    const began = performance.now();
    const { settled } = await leases.sequence(stream).recovery.run();
    if (settled !== count) throw new Error(`only ${settled} of ${count}`);
    return (performance.now() - began) / count;
  };
  const [many, few] = [[], []];
  for (let round = 0; round < 5; round += 1) {
    many.push(await settle(1_000));
    few.push(await settle(10));
  }
  const [ours, baseline] = [many, few].map((values) => values.toSorted((a, b) => a - b)[2]);
  await leases.shutdown();
  await store.close();
  return row({
    name: '1,000 that expire together, per number',
    store: 'sequence',
    concurrency: 1,
    ours,
    baseline,
    baselineName: '10 together',
    unit: 'ms',
    ratio: ours / baseline,
    target: 1.5,
    atMost: true,
  });
}
