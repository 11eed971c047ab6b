// redlock over one server through ioredis, with its defaults.
import { Redis } from 'ioredis';
import Redlock from 'redlock';

const TTL_MS = 30_000;

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
