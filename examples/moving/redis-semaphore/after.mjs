// Moving from redis-semaphore, after: a shared lease with a limit. The page is printed only by one who is still in.
//
//   node after.mjs NAME [WORK_MS]      the server: REDIS_URL
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { connect } from 'holdfast';
import { guardedScript } from 'holdfast/guards';

const [name, workMs = '500'] = process.argv.slice(2);
const redis = new Redis(process.env.REDIS_URL);
const leases = await connect(process.env.REDIS_URL, { owner: name, ttl: '1s' });
const print = guardedScript("return redis.call('RPUSH', KEYS[1], ARGV[1])");

const place = await leases.acquire('printers', { mode: 'shared', limit: 2, wait: '1m' });
console.log(`${name} is in`);
place.signal.addEventListener('abort', () => console.log(`${name}: ${place.signal.reason.code}`));
await sleep(Number(workMs));
try {
  await print.run(redis, place, ['pages'], [`by ${name}`]);
  console.log(`${name} has printed`);
} catch (error) {
  console.log(`${name}: ${error.code}, nothing was printed`);
}
await place.release();
await leases.shutdown();
await redis.quit();
