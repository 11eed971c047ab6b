// A semaphore of three: a shared lease with a limit. Of all the processes that want in, three are in at a time; the
// others wait in a fair queue. The place of one that dies is free when its lease has run out.
//
//   node semaphore.mjs OWNER [TTL] [JOBS] [WORK_MS]      the store: HOLDFAST_STORE
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'holdfast';

const [owner, ttl = '30s', jobs = '3', workMs = '1000'] = process.argv.slice(2);
const leases = await connect(process.env.HOLDFAST_STORE, { owner, ttl });

for (let job = 1; job <= Number(jobs); job += 1) {
  await leases.withLease('printers', { mode: 'shared', limit: 3, wait: 'forever' }, async (lease) => {
    console.log(`${owner} is in, job ${job}`);
    await sleep(Number(workMs), undefined, { signal: lease.signal });
    console.log(`${owner} is out, job ${job}`);
  });
}
console.log(`${owner} has done its ${jobs} jobs`);
await leases.shutdown();
