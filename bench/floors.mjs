// What the writes of a lease cost by themselves: the same rows or keys, in one call each to take and to let go, without a lock, a look,
// a queue or a promise of any kind. No store that keeps what ours keeps can be faster one at a time. The hand-over is one that has its
// `SET NX` at the server before its turn comes; what one costs that is told and then asks is in bench/layers.mjs.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { createClient } from 'redis';
import { makeId } from '../dist/index.js';
import { openPostgres } from '../dist/stores/postgres/index.js';
import { openBarePostgres } from './bare-postgres.mjs';
import { openBareRedis } from './bare-redis.mjs';
import { collect, median, percentile, shown } from './measure.mjs';
import { openVerrouPostgres } from './peers/verrou.mjs';
import { clock } from './port.mjs';
import { scaled } from './scale.mjs';
import { startPostgres, startRedis } from './servers.mjs';
import { sideBySide } from './side-by-side.mjs';

const OWNER = 'bench-1-abcdef';
const TTL_MS = 30_000;
const POOL_SIZE = 10;
const PROCESSES = 8;
const ROUNDS = scaled(60, 3);
const WARM_UP_ROUNDS = scaled(10, 1);
const CHILD = fileURLToPath(new URL('floor-child.mjs', import.meta.url));
const NONE_ASKED = [[1, null]];
export async function benchFloors(say) {
  const { rows, add } = collect(say);
  say('floors: PostgreSQL, the rows of a lease against bare statements and @verrou/core');
  add(await postgresFloor());
  say('floors: Redis, the keys of a lease against bare commands');
  add(await redisFloor());
  say('floors: Redis, a hand-over between 8 processes (under a minute)');
  add(await handOverFloor());
  return rows;
}

/** On tables like ours, indexes included, in functions that only write. */
const FUNCTIONS = `
CREATE TABLE floor_lease (LIKE holdfast.lease INCLUDING ALL);
CREATE TABLE floor_log (LIKE holdfast.log INCLUDING ALL);
CREATE SEQUENCE floor_e;
CREATE SEQUENCE floor_s;
CREATE FUNCTION floor_take(p_id text, p_name text, p_owner text, p_ttl bigint, p_now bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_e bigint := nextval('floor_e');
  v_s bigint := nextval('floor_s');
BEGIN
  INSERT INTO floor_lease (ns, status, stands, content, epoch, grant_epoch, ttl_ms, acquired_at, renewed_at, expires_at, check_at,
      skew_ms, arrival, arrived_at, id, name, owner)
    VALUES (1, 1, true, 123456, v_e, v_e, p_ttl, p_now, p_now, p_now + p_ttl, p_now + p_ttl, 0, v_s, p_now, p_id, p_name, p_owner);
  INSERT INTO floor_log (ns, type, to_status, e, s, at, epoch, n1, n2, n3, name, id, owner)
    VALUES (1, 1, 1, v_e, v_s, p_now, v_e, p_ttl, p_now + p_ttl, 0, p_name, p_id, p_owner);
  RETURN v_e;
END $$;
CREATE FUNCTION floor_free(p_id text, p_epoch bigint, p_request text, p_now bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_name text;
  v_owner text;
BEGIN
  UPDATE floor_lease x SET status = 2, stands = false, ended_at = p_now, last_request = p_request, block_epoch = p_epoch
    WHERE id = p_id AND ns = 1 AND epoch = p_epoch RETURNING name, owner INTO v_name, v_owner;
  INSERT INTO floor_log (ns, type, from_status, to_status, e, s, at, epoch, n1, name, id, owner)
    VALUES (1, 3, 1, 2, p_epoch, nextval('floor_s'), p_now, p_epoch, 5, v_name, p_id, v_owner);
  RETURN v_name;
END $$;`;

async function postgresFloor() {
  const server = await startPostgres();
  const pool = new pg.Pool({ connectionString: server.url, max: POOL_SIZE });
  const bare = await openBarePostgres(server.url, POOL_SIZE);
  const verrou = await openVerrouPostgres(server.url, POOL_SIZE);
  try {
    await (await openPostgres(server.url, { clock, poolSize: 1 })).close(); // which makes the tables
    await pool.query(FUNCTIONS);
    const ours = { pair: (i) => floorPair(pool, i) };
    const common = { name: 'the rows of a lease', store: 'postgres', ours, targets: NONE_ASKED, pairsAt: () => 300 };
    return [
      ...(await sideBySide({ ...common, others: [bare] })),
      ...(await sideBySide({ ...common, others: [verrou] })),
    ];
  } finally {
    await Promise.all([bare.close(), verrou.close(), pool.end()]);
    await server.remove();
  }
}

async function floorPair(pool, i) {
  const now = Date.now();
  const id = makeId(now, clock.randomText());
  const take = 'SELECT floor_take($1, $2, $3, $4, $5) AS epoch';
  const taken = await pool.query({ name: 'take', text: take, values: [id, `bench/${i % 1_000}`, OWNER, TTL_MS, now] });
  const free = 'SELECT floor_free($1, $2, $3, $4)';
  await pool.query({ name: 'free', text: free, values: [id, taken.rows[0].epoch, `r${i}`, now] });
}

const KEYS = ['meta', 'rows', 'index', 'ends', 'log'].map((name) => `floor:{bench}:${name}`);
const META = '1 1767225600000001 1767225600000 1 1 0 0 0 0 - 1 0 1 0 0123456789abcdef 0123456789abcdef';
const TAKE = `local meta = redis.call('GET', KEYS[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[3], 0, ARGV[3])
redis.call('ZADD', KEYS[4], 1767225600000, ARGV[1])
redis.call('XADD', KEYS[5], '*', 'e', ARGV[2])
redis.call('SET', KEYS[1], meta)
return {1, 2, meta, '1767225600000001'}`;
const FREE = `local meta = redis.call('GET', KEYS[1])
local row = redis.call('HGET', KEYS[2], ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], row)
redis.call('ZREM', KEYS[3], ARGV[2])
redis.call('ZADD', KEYS[4], 4503599627370496, ARGV[1])
redis.call('XADD', KEYS[5], '*', 'e', row)
redis.call('SET', KEYS[1], meta)
return {1, 2, meta, 'released'}`;

async function redisFloor() {
  const server = await startRedis();
  const bare = await openBareRedis(server.url);
  const client = createClient({ url: server.url });
  try {
    await client.connect();
    await client.set(KEYS[0], META);
    const [take, free] = [await client.scriptLoad(TAKE), await client.scriptLoad(FREE)];
    const pair = async (i) => {
      const name = `bench/${i % 1_000}`;
      const id = makeId(Date.now(), clock.randomText());
      const row = `A 1767225600000001 1767225600000 1767225600000 1767225600000 0 0 30000 1 0 \n\n${id}\t${OWNER}\txn:${name}\t123456\t\t\t`;
      await client.evalSha(take, { keys: KEYS, arguments: [id, row, `n${name}\0${id}`] });
      await client.evalSha(free, { keys: KEYS, arguments: [id, `n${name}\0${id}`] });
    };
    const common = { name: 'the keys of a lease', store: 'redis', targets: NONE_ASKED, pairsAt: () => 1_500 };
    return await sideBySide({ ...common, ours: { pair }, others: [bare] });
  } finally {
    await bare.close();
    client.destroy();
    await server.remove();
  }
}

/** As bench/queue.mjs, with a line that everybody knows beforehand. */
async function handOverFloor() {
  const server = await startRedis();
  const client = createClient({ url: server.url });
  try {
    await client.connect();
    const children = Array.from({ length: PROCESSES }, (_, i) =>
      fork(CHILD, [server.url, String(i)], { stdio: 'inherit' }),
    );
    await Promise.all(children.map((child) => once(child, 'message')));
    const waits = [];
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
      const found = await playRound(children, (first) => client.rPush(`floor:${first}`, 'go'));
      if (round >= 0) waits.push(...found);
    }
    for (const child of children) child.send({ end: true });
    await Promise.all(children.map((child) => once(child, 'exit')));
    const late = percentile(
      [...waits].sort((a, b) => a - b),
      0.99,
    );
    const name = 'SET NX behind a pop that waits, hand-over between processes: median; p99';
    return [shown({ name, store: 'redis', concurrency: PROCESSES, figures: [median(waits), late], unit: 'ms' })];
  } finally {
    client.destroy();
    await server.remove();
  }
}

async function playRound(children, begin) {
  const line = children.map((_, i) => i).sort(() => Math.random() - 0.5);
  for (const [place, i] of line.entries()) {
    const ready = once(children[i], 'message');
    children[i].send({ next: line[place + 1] ?? 'nobody' });
    await ready;
    await delay(10 + Math.random() * 40);
  }
  await delay(Math.random() * 300);
  const reports = line.map((i) => once(children[i], 'message'));
  let releasedAt = Number(process.hrtime.bigint()) / 1e6;
  await begin(line[0]);
  const waits = [];
  for (const [turn] of await Promise.all(reports)) {
    waits.push(turn.heldAt - releasedAt);
    releasedAt = turn.releasedAt;
  }
  return waits;
}
