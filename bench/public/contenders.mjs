// Who takes part: each contender with its store, the settings it has and where they come from, and for each measure it cannot
// take part in the reason, which stands under its dash. `open(place, onCall)` answers `pair` (take a name and let it go), `lock`
// (wait for a name as the library waits) and `close`; a place is { folder, file, url } of the contender's own store, and without a
// wire to count on `onCall` is called for each call of it. What a contender needs is loaded when it is opened, so that a process
// that holds has nothing of the others in it.
import { join } from 'node:path';

export const OURS = 'holdfast';
const POOL_SIZE = 10;

const BY_HAND = 'two statements by hand: nobody waits, nothing is renewed, nobody is told';
const ONE_PROCESS = 'works within one process';
const ALIVE = 'no time to live: a holder that is stopped keeps it';
const IN_PROCESS_STORE = 'lives in the process that holds: its store cannot freeze without it';
const bare = {
  isBare: true,
  dashes: dashesOf(BY_HAND, 'contended', 'release', 'kill', 'stop', 'frozen', 'renewals', 'heap'),
};
const local = dashesOf(ONE_PROCESS, 'release', 'kill', 'stop');

/** In the order of the tables: by store, ours first, bare statements last. */
export const CONTENDERS = [
  {
    ...{ id: 'holdfast-memory', who: OURS, store: 'memory' },
    settings: 'the memory store, log on',
    dashes: {
      ...local,
      ...dashesOf(IN_PROCESS_STORE, 'frozen'),
      ...dashesOf('no store outside the process to ask', 'renewals'),
      ...dashesOf('rows and leases are one heap: see the other stores', 'growth', 'heap'),
    },
    open: async () => {
      const { MemoryStore } = await import('../../dist/stores/memory/index.js');
      const { systemClock } = await import('../../dist/index.js');
      return ours(new MemoryStore({ clock: systemClock() }));
    },
  },
  {
    ...{ id: 'async-mutex', who: 'async-mutex', store: 'memory' },
    settings: '`new Mutex()` for each name; has no options',
    dashes: {
      ...local,
      ...dashesOf('no time to live: nothing is renewed and nothing is lost', 'frozen', 'renewals'),
      ...dashesOf('keeps no table: one object for each mutex', 'growth'),
    },
    open: async () => (await import('../peers/async-mutex.mjs')).openAsyncMutex(),
  },
  {
    ...{ id: 'verrou-memory', who: '@verrou/core', store: 'memory' },
    settings: '`memoryStore`, its defaults: a waiter asks again every 250 ms',
    dashes: {
      ...local,
      ...dashesOf(IN_PROCESS_STORE, 'frozen'),
      ...dashesOf('no store outside the process to ask', 'renewals'),
      ...dashesOf('rows and locks are one heap: see the other stores', 'growth', 'heap'),
    },
    open: async () => (await import('../peers/verrou.mjs')).openVerrouMemory(),
  },
  {
    ...{ id: 'holdfast-sqlite', who: OURS, store: 'sqlite', file: 'leases.db' },
    settings: 'a file of its own, WAL, `synchronous=normal`, log on',
    dashes: {},
    open: async ({ file }, onCall) => ours(await sqliteStore(file, onCall)),
  },
  {
    ...{ id: 'verrou-sqlite', who: '@verrou/core', store: 'sqlite', file: 'verrou.db' },
    settings:
      '`knexStore` over better-sqlite3, WAL, `synchronous=normal`; a waiter asks again every 250 ms; extended by hand at 0.6 of its time',
    dashes: {},
    open: async ({ file }, onCall) => (await import('../peers/verrou.mjs')).openVerrouSqlite(file, onCall),
  },
  {
    ...{ id: 'proper-lockfile', who: 'proper-lockfile', store: 'sqlite' },
    settings:
      '`realpath: false`, `stale` as the ttl, renewed by itself at half of it; a waiter asks again every 10 ms (it comes without retries)',
    dashes: {
      ...dashesOf('its store is the file system, which cannot be frozen here', 'frozen'),
      ...dashesOf(
        'a lock is a folder: making and removing a million of them takes longer than the whole run',
        'growth',
      ),
    },
    renewsEvery: 0.5,
    open: async ({ folder }, onCall) =>
      (await import('../peers/proper-lockfile.mjs')).openProperLockfile(join(folder, 'locked'), onCall),
  },
  {
    ...{ id: 'bare-sqlite', who: 'bare statements', store: 'sqlite', file: 'bare.db', ...bare },
    settings:
      'a prepared upsert and a prepared update, each its own transaction; the settings and checkpoints of our store',
    open: async ({ file }) => (await import('../bare-sqlite.mjs')).openBareSqlite(file),
  },
  {
    ...{ id: 'holdfast-postgres', who: OURS, store: 'postgres' },
    settings: 'a pool of ten, log on; the server with the settings it comes with, so every commit is flushed',
    dashes: {},
    open: ({ url }) => ours(url, { poolSize: POOL_SIZE }),
  },
  {
    ...{ id: 'verrou-postgres', who: '@verrou/core', store: 'postgres' },
    settings:
      '`knexStore` over pg, a pool of ten; a waiter asks again every 250 ms; extended by hand at 0.6 of its time',
    dashes: {},
    open: async ({ url }) => (await import('../peers/verrou.mjs')).openVerrouPostgres(url, POOL_SIZE),
  },
  {
    ...{ id: 'etcd3', who: 'etcd3', store: 'postgres', server: 'etcd' },
    settings:
      'one etcd with the settings it comes with, so every write is flushed; `lock()` where nobody waits, `election()` where somebody does; renewed by itself every third of its time',
    dashes: {},
    renewsEvery: 1 / 3,
    open: async ({ url }) => (await import('../peers/etcd.mjs')).openEtcd(url),
  },
  {
    ...{ id: 'pg-advisory-lock', who: 'pg_advisory_lock', store: 'postgres', isBare: true },
    settings: 'one connection for each process; a lock of a connection, no lease',
    dashes: {
      ...dashesOf(
        're-entrant within its connection: callers of one process do not exclude each other',
        'uncontended',
        'contended',
      ),
      ...dashesOf(ALIVE, 'stop'),
      ...dashesOf('no time to live: nothing is renewed', 'renewals'),
      ...dashesOf('keeps no table', 'growth', 'heap'),
    },
    open: ({ url }) => advisory(url),
  },
  {
    ...{ id: 'bare-postgres', who: 'bare statements', store: 'postgres', ...bare },
    settings: 'a prepared upsert and a prepared update, each its own transaction, a pool of ten',
    open: async ({ url }) => (await import('../bare-postgres.mjs')).openBarePostgres(url, POOL_SIZE),
  },
  {
    ...{ id: 'holdfast-redis', who: OURS, store: 'redis' },
    settings: '`redis` 6, log on; the server with the settings it comes with, so nothing is flushed before the answer',
    dashes: {},
    open: ({ url }) => ours(url),
  },
  {
    ...{ id: 'redlock', who: 'redlock', store: 'redis' },
    settings:
      'one server, `ioredis`, its defaults (drift 0.01, a waiter asks again after 100 to 300 ms) but for `retryCount: -1` where it waits; extended by hand at 0.6 of its time',
    dashes: {},
    open: async ({ url }) => (await import('../peers/redlock.mjs')).openRedlock(url),
  },
  {
    ...{ id: 'redlock-universal', who: 'redlock-universal', store: 'redis' },
    settings: 'not installed',
    dashes: dashesOf(
      'every published version (0.6.5 to 0.8.5) asks for Node 22 or newer in its `engines`, and this project supports Node 20.19',
      ...['uncontended', 'contended', 'release', 'kill', 'stop', 'frozen', 'renewals', 'growth', 'heap'],
    ),
  },
  {
    ...{ id: 'redis-semaphore', who: 'redis-semaphore', store: 'redis' },
    settings: '`Mutex`, `ioredis`, its defaults: a waiter asks again every 10 ms, renewed by itself at 0.8 of its time',
    dashes: {},
    renewsEvery: 0.8,
    open: async ({ url }) => (await import('../peers/redis-semaphore.mjs')).openRedisSemaphore(url),
  },
  {
    ...{ id: 'verrou-redis', who: '@verrou/core', store: 'redis' },
    settings: '`redisStore`, `ioredis`; a waiter asks again every 250 ms; extended by hand at 0.6 of its time',
    dashes: {},
    open: async ({ url }) => (await import('../peers/verrou.mjs')).openVerrouRedis(url),
  },
  {
    ...{ id: 'bare-redis', who: 'bare commands', store: 'redis', ...bare },
    settings: '`SET NX PX` and a script that deletes what is still ours, by its hash; `redis` 6',
    open: async ({ url }) => (await import('../bare-redis.mjs')).openBareRedis(url),
  },
];

/** Those that take part in a measure. */
export const takingPart = (measure) => CONTENDERS.filter(({ dashes }) => dashes[measure] === undefined);

export function contender(id) {
  const found = CONTENDERS.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no contender ${id}`);
  return found;
}

function dashesOf(reason, ...measures) {
  return Object.fromEntries(measures.map((measure) => [measure, reason]));
}

/** A file has no wire: where the calls are counted, the store itself says each renewal. */
async function sqliteStore(file, onCall) {
  if (onCall === undefined) return `sqlite:${file}`;
  const { systemClock } = await import('../../dist/index.js');
  const { openSqlite } = await import('../../dist/stores/sqlite/index.js');
  const store = await openSqlite(`sqlite:${file}`, { clock: systemClock() });
  const renew = store.renew.bind(store);
  store.renew = (requests) => {
    onCall();
    return renew(requests);
  };
  return store;
}

async function ours(urlOrStore, options = {}) {
  const { connect } = await import('../../dist/index.js');
  const { managed } = await import('../side-by-side.mjs');
  const leases = await connect(urlOrStore, { services: 'off', ...options });
  return {
    leases,
    pair: managed(leases).pair,
    lock: async (name, ttlMs, onLost) => {
      const lease = await leases.acquire(name, { wait: 'forever', ...(ttlMs === undefined ? {} : { ttl: ttlMs }) });
      if (onLost) lease.signal.addEventListener('abort', onLost, { once: true });
      return { release: () => lease.release() };
    },
    close: () => leases.shutdown(),
  };
}

async function advisory(url) {
  const { default: pg } = await import('pg');
  const client = new pg.Client(url);
  let told = () => undefined;
  client.on('error', (error) => told(error));
  await client.connect();
  return {
    lock: async (name, _ttlMs, onLost = () => undefined) => {
      told = onLost;
      await client.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
      return { release: () => client.query('SELECT pg_advisory_unlock(hashtext($1))', [name]) };
    },
    close: () => client.end(),
  };
}
