// The Mutex of redis-semaphore through ioredis, with its defaults.
import { Redis } from 'ioredis';
import { Mutex } from 'redis-semaphore';

const TTL_MS = 30_000;
const PATIENCE_MS = 120_000;

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
      const mutex = new Mutex(client, name, { lockTimeout: ttlMs, acquireTimeout: PATIENCE_MS, onLockLost });
      await mutex.acquire();
      return { release: () => mutex.release() };
    },
  };
}
