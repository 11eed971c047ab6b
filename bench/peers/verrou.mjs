// @verrou/core over each of its stores, with its defaults: a pair (take one name and let it go at once), and a lock that waits
// its turn as the library waits. Through knex where the store is a database.
import { Verrou } from '@verrou/core';
import { knexStore } from '@verrou/core/drivers/knex';
import { memoryStore } from '@verrou/core/drivers/memory';
import { redisStore } from '@verrou/core/drivers/redis';
import { Redis } from 'ioredis';
import knex from 'knex';

/** Waiters that are given up when a pool is closed would fill the terminal. */
const SILENT = { warn: () => undefined, error: () => undefined, deprecate: () => undefined, debug: () => undefined };
const TTL_MS = 30_000;
const PATIENCE_MS = 120_000;

export async function openVerrouPostgres(url, poolSize) {
  const connection = knex({ client: 'pg', connection: url, pool: { min: 0, max: poolSize }, log: SILENT });
  const driver = knexStore({ connection, tableName: 'verrou', autoCreateTable: true });
  return verrou(driver, () => connection.destroy());
}

/** The same journal mode and `synchronous` as ours. */
export async function openVerrouSqlite(path, onCall) {
  const connection = knex({
    client: 'better-sqlite3',
    connection: { filename: path },
    useNullAsDefault: true,
    log: SILENT,
  });
  await connection.raw('PRAGMA journal_mode = WAL');
  await connection.raw('PRAGMA synchronous = NORMAL');
  const driver = knexStore({ connection, tableName: 'verrou', autoCreateTable: true });
  if (onCall) connection.on('query', onCall);
  return verrou(driver, () => connection.destroy());
}

export function openVerrouMemory() {
  return verrou(memoryStore(), () => undefined);
}

export function openVerrouRedis(url) {
  const connection = new Redis(url);
  return verrou(redisStore({ connection }), () => connection.quit());
}

function verrou(driver, close) {
  const locks = new Verrou({ default: 'one', stores: { one: { driver } } });
  return {
    name: '@verrou/core',
    close,
    pair: async (i) => {
      const lock = locks.createLock(`bench/${i % 1_000}`, TTL_MS);
      if (!(await lock.acquireImmediately())) throw new Error(`bench/${i % 1_000} is taken`);
      await lock.release();
    },
    /** Tries again every 250 ms; without a time-out it would give up after ten seconds. */
    lock: async (name, ttlMs = TTL_MS) => {
      const lock = locks.createLock(name, ttlMs);
      if (!(await lock.acquire({ retry: { timeout: PATIENCE_MS } }))) throw new Error(`${name} was not acquired`);
      return { release: () => lock.release(), extend: () => lock.extend(ttlMs) };
    },
  };
}
