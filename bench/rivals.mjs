// Everything that can lock a name on a server and wait for it, ours first: what the hand-over between processes compares.
import pg from 'pg';
import { connect } from '../dist/index.js';
import { openRedis } from '../dist/stores/redis/index.js';
import { openRedisSemaphore } from './peers/redis-semaphore.mjs';
import { openRedlock } from './peers/redlock.mjs';
import { openVerrouPostgres, openVerrouRedis } from './peers/verrou.mjs';
import { clock, Port } from './port.mjs';
import { overIoredis, overRedis, overSockets, smallLock } from './small-lock.mjs';

/** Two connections are enough for one process that holds one lock. */
const POOL_SIZE = 2;

export const OURS = 'holdfast';
/** Not a lease: without a time to live, bound to a connection. Shown, not compared. */
export const ADVISORY = 'pg_advisory_lock';

export async function openRivals(kind, url) {
  if (kind === 'layers') return openLayers(url);
  if (kind === 'redis') return [await ours(url), openRedlock(url), openRedisSemaphore(url), openVerrouRedis(url)];
  return [await ours(url), await openVerrouPostgres(url, POOL_SIZE), await advisory(url)];
}

/** Ours with less and less of it, and one peer, so that the processes are as busy with others' code as in the comparison. */
async function openLayers(url) {
  return [
    await ours(url),
    await storeOnly(url),
    await smallLock('three scripts over redis', await overRedis(url)),
    await smallLock('three scripts over ioredis', await overIoredis(url)),
    await smallLock('three scripts over plain sockets', await overSockets(url)),
    openRedisSemaphore(url),
  ];
}

async function storeOnly(url) {
  const store = await openRedis(url, { clock });
  const port = await Port.over(store);
  return { name: 'the store without its manager', lock: (name) => port.lock(name), close: () => store.close() };
}

async function ours(url) {
  const leases = await connect(url, { services: 'off', ttl: '30s' });
  return {
    name: OURS,
    lock: (name) => leases.acquire(name, { wait: 'forever' }),
    close: () => leases.shutdown(),
  };
}

async function advisory(url) {
  const client = new pg.Client(url);
  await client.connect();
  return {
    name: ADVISORY,
    lock: async (name) => {
      await client.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
      return { release: () => client.query('SELECT pg_advisory_unlock(hashtext($1))', [name]) };
    },
    close: () => client.end(),
  };
}
