// The peers, each with the settings it comes with: a pair (take one name and let it go at once), and a lock that waits its
// turn as the peer waits. Redis peers have an ioredis client of their own each, PostgreSQL a pool of ten.
import { Verrou } from '@verrou/core';
import { knexStore } from '@verrou/core/drivers/knex';
import { redisStore } from '@verrou/core/drivers/redis';
import { Redis } from 'ioredis';
import knex from 'knex';
import { Mutex } from 'redis-semaphore';
import Redlock from 'redlock';

const TTL_MS = 30_000;

export async function openVerrouPostgres(url, poolSize) {
  const connection = knex({ client: 'pg', connection: url, pool: { min: 0, max: poolSize } });
  const driver = knexStore({ connection, tableName: 'verrou', autoCreateTable: true });
  return verrou(driver, () => connection.destroy());
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
    /** Tries again every 250 ms, for ever. */
    lock: async (name, ttlMs = TTL_MS) => {
      const lock = locks.createLock(name, ttlMs);
      if (!(await lock.acquire())) throw new Error(`${name} was not acquired`);
      return { release: () => lock.release(), extend: () => lock.extend(ttlMs) };
    },
  };
}

export function openRedlock(url) {
  const client = new Redis(url);
  const redlock = new Redlock([client]);
  const patient = new Redlock([client], { retryCount: -1 });
  return {
    name: 'redlock',
    close: () => client.quit(),
    pair: async (i) => {
      const lock = await redlock.lock(`redlock/${i % 1_000}`, TTL_MS);
      await lock.unlock();
    },
    /** Tries again after 100 to 300 ms; without a number of tries it would give up after ten. */
    lock: async (name, ttlMs = TTL_MS) => {
      const lock = await patient.lock(name, ttlMs);
      return { release: () => lock.unlock(), extend: () => redlock.extend(lock, ttlMs) };
    },
  };
}

export function openRedisSemaphore(url) {
  const client = new Redis(url);
  return {
    name: 'redis-semaphore',
    close: () => client.quit(),
    pair: async (i) => {
      const mutex = new Mutex(client, `bench/${i % 1_000}`, { lockTimeout: TTL_MS, acquireAttemptsLimit: 1 });
      if (!(await mutex.tryAcquire())) throw new Error(`bench/${i % 1_000} is taken`);
      await mutex.release();
    },
    /** Tries again every 10 ms; renews itself at 80 % of its time, and calls `onLockLost` when a renewal is refused. */
    lock: async (name, ttlMs = TTL_MS, onLockLost = () => undefined) => {
      const mutex = new Mutex(client, name, { lockTimeout: ttlMs, acquireTimeout: 120_000, onLockLost });
      await mutex.acquire();
      return { release: () => mutex.release() };
    },
  };
}
