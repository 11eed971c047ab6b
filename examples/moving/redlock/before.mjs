// Moving from redlock, before. A holder that is paused past its time and goes on writes over the work of the next one.
//
//   node before.mjs NAME [WORK_MS]      the server: REDIS_URL
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import Redlock from 'redlock';

const [name, workMs = '500'] = process.argv.slice(2);
const redis = new Redis(process.env.REDIS_URL);
const redlock = new Redlock([redis], { retryCount: -1 });

const lock = await redlock.lock('lock:report', 1_000);
console.log(`${name} holds report`);
await sleep(Number(workMs));
await redis.set('report', `by ${name}`);
console.log(`${name} has written`);
await lock.unlock().catch((error) => console.log(`${name}: ${error.message}`));
await redis.quit();
