// The counters that the crowd counts with, one kind a store: counter N has a value, and every increment leaves a record under
// its own id in the same step. An increment is a read and, later, a write of what was read plus one: whoever writes over
// another's work loses it, and then there are more records than the value says.
//
//   claim(lease, n)             the value, read behind the guard: whoever held it before cannot write any more
//   write(lease, n, op, value)  value and record in one step behind the guard
//   read(n), put(n, op, value, epoch)   the same without any guard
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { json } from 'node:stream/consumers';
import Database from 'better-sqlite3';
import { LeaseError } from 'holdfast';
import { fenceHeaders, guardedScript, guardPostgres, guardSqlite } from 'holdfast/guards';

/** Longer than a step takes, shorter than a lease lives. */
const PATIENCE_MS = 1_500;

/** Even counters ask the lease row of the attached lease file, odd ones a gate table beside the counters. */
function sqlite({ file, leases, synchronous }) {
  const opened = [true, false].map((attached) => {
    const db = new Database(file, { timeout: 500 });
    db.pragma(`synchronous = ${synchronous}`);
    if (attached) db.prepare('ATTACH ? AS leases').run(leases);
    return db;
  });
  const of = (n) => opened[n % 2];
  const step = (db, todo) => db.transaction(todo).immediate();
  const read = (db, n) => db.prepare('SELECT value FROM counter WHERE n = ?').pluck().get(n) ?? 0;
  const put = (db, n, op, value, epoch) => {
    db.prepare('INSERT OR REPLACE INTO counter VALUES (?, ?)').run(n, value);
    db.prepare('INSERT INTO record VALUES (?, ?, ?, ?)').run(op, n, epoch, value);
  };
  return {
    claim: async (lease, n) =>
      step(of(n), () => {
        guardSqlite(of(n), lease);
        return read(of(n), n);
      }),
    write: async (lease, n, op, value) =>
      step(of(n), () => {
        guardSqlite(of(n), lease);
        put(of(n), n, op, value, lease.epoch);
      }),
    read: async (n) => read(of(n), n),
    put: async (n, op, value, epoch) => step(of(n), () => put(of(n), n, op, value, epoch)),
    close: async () => opened.forEach((db) => db.close()),
  };
}

async function postgres({ url }) {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    query_timeout: PATIENCE_MS,
    connectionTimeoutMillis: PATIENCE_MS,
    idleTimeoutMillis: 0,
  });
  const quiet = () => undefined; // the next step takes another connection
  pool.on('error', quiet);
  const step = async (todo) => {
    const tx = await pool.connect();
    tx.on('error', quiet);
    let broken = true;
    try {
      await tx.query('BEGIN');
      const answer = await todo(tx);
      await tx.query('COMMIT');
      broken = false;
      return answer;
    } catch (error) {
      if (error instanceof LeaseError) {
        await tx.query('ROLLBACK').then(
          () => (broken = false),
          () => undefined,
        );
      }
      throw error;
    } finally {
      tx.release(broken);
      if (!broken) tx.removeListener('error', quiet);
    }
  };
  const read = async (tx, n) =>
    Number((await tx.query('SELECT value FROM counter WHERE n = $1', [n])).rows[0]?.value ?? 0);
  const put = async (tx, n, op, value, epoch) => {
    await tx.query('INSERT INTO counter VALUES ($1, $2) ON CONFLICT (n) DO UPDATE SET value = $2', [n, value]);
    await tx.query('INSERT INTO record VALUES ($1, $2, $3, $4)', [op, n, epoch, value]);
  };
  return {
    claim: (lease, n) =>
      step(async (tx) => {
        await guardPostgres(tx, lease);
        return read(tx, n);
      }),
    write: (lease, n, op, value) =>
      step(async (tx) => {
        await guardPostgres(tx, lease);
        await put(tx, n, op, value, lease.epoch);
      }),
    read: (n) => step((tx) => read(tx, n)),
    put: (n, op, value, epoch) => step((tx) => put(tx, n, op, value, epoch)),
    close: () => pool.end(),
  };
}

const GET = "return redis.call('HGET', KEYS[1], ARGV[1])";
const PUT = `redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[1] .. ' ' .. ARGV[4] .. ' ' .. ARGV[3])`;
const KEYS = ['{default}:counter', '{default}:record'];

async function redis({ url }) {
  const { createClient } = await import('redis');
  const client = createClient({ url, socket: { connectTimeout: PATIENCE_MS, reconnectStrategy: 100 } });
  client.on('error', () => undefined); // it comes back by itself
  await client.connect();
  const [get, put] = [guardedScript(GET), guardedScript(PUT)];
  const inTime = async (answer) => {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), PATIENCE_MS);
    const tooLate = new Promise((_, reject) => {
      late.signal.addEventListener('abort', () => reject(new Error('no answer in time')));
    });
    try {
      return await Promise.race([answer, tooLate]);
    } finally {
      clearTimeout(timer);
    }
  };
  const words = (n, op, value, epoch) => [n, op, value, epoch].map(String);
  return {
    claim: async (lease, n) => Number((await inTime(get.run(client, lease, KEYS, [String(n)]))) ?? 0),
    write: (lease, n, op, value) => inTime(put.run(client, lease, KEYS, words(n, op, value, lease.epoch))),
    read: async (n) => Number((await inTime(client.hGet(KEYS[0], String(n)))) ?? 0),
    put: (n, op, value, epoch) => inTime(client.eval(PUT, { keys: KEYS, arguments: words(n, op, value, epoch) })),
    close: async () => client.destroy(),
  };
}

/** A service behind the fence: counter-service.ts. */
function http({ url }) {
  const agent = new Agent({ keepAlive: false }); // a kept connection may be closed just when it is used again
  const ask = async (path, headers, body) => {
    const asking = request(`${url}${path}`, {
      agent,
      method: 'POST',
      headers,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    asking.end(JSON.stringify(body));
    const [response] = await once(asking, 'response');
    const answer = await json(response);
    if (response.statusCode === 412) throw new LeaseError(answer.code, answer.detail ?? answer.code);
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${JSON.stringify(answer)}`);
    return answer.value;
  };
  return {
    claim: (lease, n) => ask('/fenced/claim', fenceHeaders(lease), { n }),
    write: (lease, n, op, value) => ask('/fenced/write', fenceHeaders(lease), { n, op, value, epoch: lease.epoch }),
    read: (n) => ask('/open/claim', {}, { n }),
    put: (n, op, value, epoch) => ask('/open/write', {}, { n, op, value, epoch }),
    close: async () => agent.destroy(),
  };
}

const KINDS = { sqlite, postgres, redis, http };

export async function openCounters({ kind, ...place }) {
  return KINDS[kind](place);
}
