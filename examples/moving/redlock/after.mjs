// Moving from redlock, after: the check of the lease and the write are one script, so a write that comes too late is refused.
//
//   node after.mjs NAME [WORK_MS]      the server: REDIS_URL
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { connect } from 'holdfast';
import { guardedScript } from 'holdfast/guards';

const [name, workMs = '500'] = process.argv.slice(2);
const redis = new Redis(process.env.REDIS_URL);
const leases = await connect(process.env.REDIS_URL, { owner: name, ttl: '1s' });
const write = guardedScript("return redis.call('SET', KEYS[1], ARGV[1])");

const { holders, queue } = await leases.show('report');
if (holders.length > 0) console.log(`${name} waits: ${holders[0].owner} holds report, ${queue.length} ahead`);
const lease = await leases.acquire('report', { wait: 'forever' });
console.log(`${name} holds report`);
await sleep(Number(workMs));
try {
  await write.run(redis, lease, ['report'], [`by ${name}`]);
  console.log(`${name} has written`);
} catch (error) {
  console.log(`${name}: ${error.code}, nothing was written`);
}
await lease.release();
await leases.shutdown();
await redis.quit();
