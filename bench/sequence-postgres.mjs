// Streams on PostgreSQL, on a private server with the settings it comes with, log on, against bare statements over a pool of
// the same size in the same run. "lease + commit" is what an application calls: `stream.lease()` and `commit()`.
import pg from 'pg';
import { connect } from '../dist/index.js';
import { openPostgres } from '../dist/stores/postgres/index.js';
import { inParallel } from './port.mjs';
import { MANY_ROWS } from './scale.mjs';
import * as rowsOf from './sequence-rows.mjs';
import { clock, OPERATION, READ } from './sequence-rows.mjs';
import { startPostgres } from './servers.mjs';

const KIND = 'PostgreSQL';
const [POOL_SIZE, AT_ONCE, PAIRS] = [10, 32, 1_600];

export async function benchSequencePostgres(say) {
  const server = await startPostgres();
  const pool = new pg.Pool({ connectionString: server.url, max: POOL_SIZE });
  try {
    const store = await openPostgres(server.url, { clock, poolSize: POOL_SIZE });
    const { sequences } = store;
    say('PostgreSQL: lease + commit against bare inserts');
    const rows = [await leaseAndCommit(server.url, pool)];
    say(`PostgreSQL: filling a stream with ${MANY_ROWS.toLocaleString('en')} numbers`);
    await fill(store, pool, 'large', MANY_ROWS);
    await fill(store, pool, 'short', 1_000);
    say(`PostgreSQL: reading ${READ} operations in order`);
    const barePage = await bareOperations(pool);
    const baselineName = 'ordered select, parsed';
    rows.push(await rowsOf.readRow(KIND, { sequences, stream: 'large', barePage, baselineName, target: 0.6 }));
    say('PostgreSQL: the watermark of a long stream');
    rows.push(await rowsOf.watermarkRow(KIND, { sequences, stream: 'large' }, { sequences, stream: 'short' }));
    say('PostgreSQL: numbers that expire together');
    rows.push(await rowsOf.expiringRow(KIND, server.url, sequences));
    await store.close();
    return rows;
  } finally {
    await pool.end();
    await server.remove();
  }
}

async function leaseAndCommit(url, pool) {
  await pool.query(`CREATE TABLE reserved (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text UNIQUE, at timestamptz);
    CREATE TABLE operation (n bigint PRIMARY KEY, id text UNIQUE, body text)`);
  const reserve = { name: 'reserve', text: 'INSERT INTO reserved (id, at) VALUES ($1, clock_timestamp()) RETURNING n' };
  const keep = { name: 'keep', text: 'INSERT INTO operation VALUES ($1, $2, $3)' };
  const bare = () =>
    inParallel(PAIRS, AT_ONCE, async () => {
      const id = clock.randomText();
      const { rows } = await pool.query({ ...reserve, values: [id] });
      await pool.query({ ...keep, values: [rows[0].n, id, JSON.stringify(OPERATION)] });
    });
  const leases = await connect(url, { services: 'off', poolSize: POOL_SIZE });
  const stream = leases.sequence('written');
  const ours = () =>
    inParallel(PAIRS, AT_ONCE, async () => {
      const held = await stream.lease({ operationId: clock.randomText(), kind: 'k' });
      await held.commit(OPERATION);
    });
  const baselineName = 'two inserts in two transactions';
  const one = await rowsOf.leaseAndCommitRow(KIND, {
    ...{ ours, bare, pairs: PAIRS, concurrency: AT_ONCE, baselineName, target: 1.5 },
  });
  await leases.shutdown();
  return one;
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

async function bareOperations(pool) {
  await pool.query('CREATE TABLE ordered (n bigint PRIMARY KEY, id text, kind text, state smallint, body text)');
  await pool.query(`INSERT INTO ordered SELECT i, 'op-' || i, 'k', 2, $2 FROM generate_series(1, $1::int) i`, [
    READ,
    JSON.stringify([OPERATION]),
  ]);
  await pool.query('VACUUM ANALYZE ordered');
  const page = { name: 'page', text: 'SELECT * FROM ordered WHERE n >= $1 ORDER BY n LIMIT $2' };
  return async (from, limit) => (await pool.query({ ...page, values: [from, limit] })).rows.map(({ body }) => body);
}
