// A cron job that runs once, though cron starts it in several places: whoever comes first holds the name, and `minHold`
// keeps it taken after the work is done, so that whoever comes late finds it done. When the one that runs it dies or
// fails, its lease runs out and another runs the job in the same period.
//
//   node cron-once.mjs OWNER [TTL] [MIN_HOLD] [WORK_MS]      the store: HOLDFAST_STORE
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'holdfast';

const JOB = 'cron/nightly-report';
const [owner, ttl = '30s', minHold = '10m', workMs = '2000'] = process.argv.slice(2);
const leases = await connect(process.env.HOLDFAST_STORE, { owner, ttl });

async function runOnce() {
  for (let isTold = false; ; isTold = true) {
    const answer = await leases.tryAcquire(JOB, { minHold });
    if (answer.ok) return run(answer.lease);
    const { reason, holders, retryAfterMs } = answer.refusal;
    if (reason === 'min_hold') return console.log(`${owner}: done already`);
    if (!isTold) console.log(`${owner}: ${holders[0]?.owner ?? 'somebody'} is running it`);
    await sleep(retryAfterMs + 1); // by then it is renewed, done, or free
  }
}

async function run(lease) {
  console.log(`${owner}: running, epoch ${lease.epoch}`);
  try {
    await sleep(Number(workMs), undefined, { signal: lease.signal }); // the work
  } catch (error) {
    lease.abandon(); // not released: without minHold another may try as soon as the lease has run out
    throw error;
  }
  console.log(`${owner}: done`);
  await lease.release();
}

try {
  await runOnce();
} finally {
  await leases.shutdown();
}
