// Streams on PostgreSQL, on a private server with the settings it comes with, log on, against bare statements over a pool of
// the same size in the same run. "lease + commit" is what an application calls: `stream.lease()` and `commit()`.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { connect, systemClock } from '../dist/index.js';
import { openPostgres } from '../dist/stores/postgres/index.js';
import { alternate, collect, median, row } from './measure.mjs';
import { startPostgres } from './servers.mjs';

const clock = systemClock();
const OPERATION = { account: 'a-17', cents: 1200, note: 'a transfer of some length, as they are' };
const [MILLION, READ] = [Number(process.env.BENCH_ROWS ?? 1_000_000), 100_000];
const [POOL_SIZE, AT_ONCE, EACH] = [10, 32, 1_600];
const STORE = 'postgres sequence';

export async function benchSequencePostgres(say) {
  const server = await startPostgres();
  const pool = new pg.Pool({ connectionString: server.url, max: POOL_SIZE });
  const { rows, add } = collect(say);
  try {
    const store = await openPostgres(server.url, { clock, poolSize: POOL_SIZE });
    say('postgres: lease + commit against bare inserts');
    add([await leaseAndCommit(server.url, pool)]);
    say(`postgres: filling a stream with ${MILLION} numbers`);
    await fill(store, pool, 'large', MILLION);
    await fill(store, pool, 'short', 1_000);
    say(`postgres: reading ${READ} operations in order`);
    add([await reading(store, pool)]);
    say('postgres: the watermark of a long stream');
    add([await watermark(store)]);
    say('postgres: numbers that expire together');
    add([await expiring(store, server.url)]);
    await store.close();
    return rows;
  } finally {
    await pool.end();
    await server.remove();
  }
}

/** `count` calls of `act`, so many under way at once. */
async function atOnce(count, act) {
  let next = 0;
  const worker = async () => {
    while (next < count) await act((next += 1));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function leaseAndCommit(url, pool) {
  await pool.query(`CREATE TABLE reserved (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text UNIQUE, at timestamptz);
    CREATE TABLE operation (n bigint PRIMARY KEY, id text UNIQUE, body text)`);
  const reserve = { name: 'reserve', text: 'INSERT INTO reserved (id, at) VALUES ($1, clock_timestamp()) RETURNING n' };
  const keep = { name: 'keep', text: 'INSERT INTO operation VALUES ($1, $2, $3)' };
  const bare = () =>
    atOnce(EACH, async () => {
      const id = clock.randomText();
      const { rows } = await pool.query({ ...reserve, values: [id] });
      await pool.query({ ...keep, values: [rows[0].n, id, JSON.stringify(OPERATION)] });
    });
  const leases = await connect(url, { services: 'off', poolSize: POOL_SIZE });
  const stream = leases.sequence('written');
  const ours = () =>
    atOnce(EACH, async () => {
      const held = await stream.lease({ operationId: clock.randomText(), kind: 'k' });
      await held.commit(OPERATION);
    });
  await ours();
  await bare();
  const [oursMs, bareMs] = await alternate(7, [ours, bare]);
  await leases.shutdown();
  const perSecond = (ms) => (EACH * 1_000) / ms;
  return row({
    name: 'lease + commit',
    store: STORE,
    concurrency: AT_ONCE,
    ours: perSecond(oursMs),
    baseline: perSecond(bareMs),
    baselineName: 'two inserts in two transactions',
    unit: 'per s',
    ratio: bareMs / oursMs,
    target: 1.5,
  });
}

/** Written straight into the tables: leasing a million would take minutes and measure nothing. */
async function fill(store, pool, stream, count) {
  await store.sequences.cursor({ stream, reader: 'r', act: 'open' }); // makes the stream
  await store.sequences.cursor({ stream, reader: 'r', act: 'forget' });
  const { rows } = await pool.query('SELECT id FROM holdfast.stream WHERE name = $1', [stream]);
  await pool.query(
    `INSERT INTO holdfast.span (stream, first, count, state, operation_id, kind, owner, epoch, leased_at, expires_at, ttl_ms,
       content, settled_at, operations)
     SELECT $1::int, i, 1, 2, 'op-' || i, 'k', 'o', 1, 0, 0, 0, 1, 0, $3 FROM generate_series(1, $2::int) i`,
    [rows[0].id, count, JSON.stringify([OPERATION])],
  );
  await pool.query('UPDATE holdfast.stream_next SET next = $2::bigint + 1 WHERE stream = $1', [rows[0].id, count]);
  await pool.query('VACUUM ANALYZE holdfast.span');
}

async function reading(store, pool) {
  await pool.query('CREATE TABLE ordered (n bigint PRIMARY KEY, id text, kind text, state smallint, body text)');
  await pool.query(`INSERT INTO ordered SELECT i, 'op-' || i, 'k', 2, $2 FROM generate_series(1, $1::int) i`, [
    READ,
    JSON.stringify([OPERATION]),
  ]);
  await pool.query('VACUUM ANALYZE ordered');
  const page = { name: 'page', text: 'SELECT * FROM ordered WHERE n >= $1 ORDER BY n LIMIT 1000' };
  const bare = async () => {
    let seen = 0;
    for (let from = 1; from <= READ; from += 1_000)
      for (const one of (await pool.query({ ...page, values: [from] })).rows) seen += JSON.parse(one.body).length;
    if (seen !== READ) throw new Error(`only ${seen}`);
  };
  const order = { stream: 'large', limit: 1_000, seal: true, watch: false };
  const ours = async () => {
    for (let from = 1; from <= READ;) from += (await store.sequences.read({ ...order, from })).items.length;
  };
  const [oursMs, bareMs] = await alternate(7, [ours, bare]);
  return row({
    name: `read ${READ} operations`,
    store: STORE,
    concurrency: 1,
    ours: oursMs,
    baseline: bareMs,
    baselineName: 'ordered select, parsed',
    unit: 'ms',
    ratio: bareMs / oursMs,
    target: 0.6,
  });
}

async function watermark(store) {
  const lease = (stream, i) => ({
    stream,
    operationId: `open-${i}`,
    kind: 'k',
    ttlMs: 3_600_000,
    count: 1,
    owner: 'o',
  });
  const open = async (stream, count) => {
    for (let i = 0; i < count; i += 100)
      await store.sequences.lease(Array.from({ length: Math.min(100, count) }, (_, n) => lease(stream, i + n)));
  };
  await open('large', 1_000);
  await open('short', 10);
  const look = async (stream) => {
    for (let i = 0; i < 200; i += 1)
      await store.sequences.read({ stream, from: 2 ** 52, limit: 1, seal: false, watch: false });
  };
  const [largeMs, shortMs] = await alternate(15, [() => look('large'), () => look('short')]);
  return row({
    name: `watermark, ${MILLION} settled and 1,000 open`,
    store: STORE,
    concurrency: 1,
    ours: largeMs / 200,
    baseline: shortMs / 200,
    baselineName: '1,000 and 10',
    unit: 'ms',
    ratio: largeMs / shortMs,
    target: 1.3,
    atMost: true,
  });
}

async function expiring(store, url) {
  const leases = await connect(url, { services: 'off' });
  await leases.config.set('cascade_threshold', 10_000); // the throttle of recovery mode is not what is measured
  let made = 0;
  const settle = async (count) => {
    const stream = `expiring-${(made += 1)}`;
    const lease = (i) => ({ stream, operationId: `op-${i}`, kind: 'k', ttlMs: 100, count: 1, owner: 'o' });
    for (let i = 0; i < count; i += 10) await store.sequences.lease(Array.from({ length: 10 }, (_, n) => lease(i + n)));
    await delay(150);
    const began = performance.now();
    const { settled } = await leases.sequence(stream).recovery.run();
    if (settled !== count) throw new Error(`only ${settled} of ${count}`);
    return (performance.now() - began) / count;
  };
  await settle(10);
  const [many, few] = [[], []];
  for (let round = 0; round < 5; round += 1) {
    many.push(await settle(1_000));
    for (let again = 0; again < 3; again += 1) few.push(await settle(10));
  }
  const [ours, baseline] = [median(many), median(few)];
  await leases.shutdown();
  return row({
    name: '1,000 that expire together, per number',
    store: STORE,
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
