// Fills the store of one contender with locks that stand: node fill-child.mjs CONTENDER PLACE HOW-MANY. Ours are granted by the
// store itself, in batches; what others would have written is written for them, straight into their tables and keys.
import Driver from 'better-sqlite3';
import { Etcd3 } from 'etcd3';
import pg from 'pg';
import { createClient } from 'redis';
import { openPostgres } from '../../dist/stores/postgres/index.js';
import { openRedis } from '../../dist/stores/redis/index.js';
import { openSqlite } from '../../dist/stores/sqlite/index.js';
import { clock, Port } from '../port.mjs';
import { contender } from './contenders.mjs';
import { FILL_AT_ONCE } from './growth.mjs';

const [id, text, howMany] = process.argv.slice(2);
const [place, count] = [JSON.parse(text), Number(howMany)];
const DAY_MS = 24 * 3_600_000;
const until = clock.wall() + DAY_MS;

const FILLERS = {
  'holdfast-sqlite': async () => ourFill(await openSqlite(`sqlite:${place.file}`, { clock })),
  'holdfast-postgres': async () => ourFill(await openPostgres(place.url, { clock })),
  'holdfast-redis': async () => ourFill(await openRedis(place.url, { clock })),
  'verrou-sqlite': () => fileFill('INSERT INTO verrou (key, owner, expiration) SELECT name, owner, until FROM fill'),
  'bare-sqlite': () => fileFill("INSERT INTO bare SELECT name, owner, until, 'active' FROM fill"),
  'verrou-postgres': () =>
    tableFill(
      "INSERT INTO verrou (key, owner, expiration) SELECT 'fill/' || i, 'o', $2::bigint FROM generate_series(1, $1::int) i",
    ),
  'bare-postgres': () =>
    tableFill(
      "INSERT INTO bare SELECT 'fill/' || i, 'o', to_timestamp($2::double precision / 1000) FROM generate_series(1, $1::int) i",
    ),
  etcd3: etcdFill,
  redlock: keyFill,
};

if (!['etcd3', 'redlock'].includes(id) && !id.startsWith('holdfast')) {
  const opened = await contender(id).open(place); // makes its table
  await opened.pair(0);
  await opened.close();
}
await FILLERS[id]();
process.exit(0);

async function ourFill(store) {
  const port = await Port.over(store);
  await port.fill(count, DAY_MS);
  await port.close();
}

function fileFill(insert) {
  const db = new Driver(place.file);
  db.exec('CREATE TEMP TABLE fill (name TEXT, owner TEXT, until INTEGER)');
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO fill SELECT 'fill/' || i, 'o', ? FROM n`,
  ).run(count, until);
  db.prepare(insert).run();
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
}

async function tableFill(insert) {
  const client = new pg.Client(place.url);
  await client.connect();
  await client.query(insert, [count, until]);
  await client.end();
}

/** One key each, as every Redis peer keeps its locks. */
async function keyFill() {
  const client = createClient({ url: place.url });
  await client.connect();
  const script =
    "for i = ARGV[1], ARGV[2] do redis.call('SET', 'fill/' .. i, 'an-owner-of-some-length', 'PX', ARGV[3]) end";
  for (let at = 1; at <= count; at += 10_000) {
    const to = Math.min(count, at + 9_999);
    await client.eval(script, { arguments: [String(at), String(to), String(DAY_MS)] });
  }
  client.destroy();
}

/** Keys of one lease, many to a transaction: its server allows it. */
async function etcdFill() {
  const client = new Etcd3({ hosts: place.url });
  const { ID } = await client.leaseClient.leaseGrant({ TTL: DAY_MS / 1_000 });
  for (let at = 0; at < count; at += FILL_AT_ONCE) {
    const puts = Array.from({ length: Math.min(FILL_AT_ONCE, count - at) }, (_, i) => ({
      request_put: { key: Buffer.from(`fill/${at + i}`), value: Buffer.from('o'), lease: ID },
    }));
    await client.kv.txn({ compare: [], success: puts, failure: [] });
  }
  client.close();
}
