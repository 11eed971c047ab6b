// Moving from redis-semaphore, before: two places at the printers. Whoever is paused past its time is told after it has gone
// on printing, as a third.
//
//   node before.mjs NAME [WORK_MS]      the server: REDIS_URL
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Semaphore } from 'redis-semaphore';

const [name, workMs = '500'] = process.argv.slice(2);
const redis = new Redis(process.env.REDIS_URL);
const places = new Semaphore(redis, 'printers', 2, {
  lockTimeout: 1_000,
  acquireTimeout: 60_000,
  onLockLost: (error) => console.log(`${name}: ${error.message}`),
});

await places.acquire();
console.log(`${name} is in`);
await sleep(Number(workMs));
await redis.rpush('pages', `by ${name}`);
console.log(`${name} has printed`);
await places.release();
await redis.quit();
