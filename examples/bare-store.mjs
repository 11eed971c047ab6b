// The store without a manager: complete requests to the port, and by hand what the manager does otherwise: refreshing
// the ticket, renewing, keeping count of how long the lease may be trusted. For whoever writes a manager of another
// kind; everybody else is better off with `connect`.
//
//   node bare-store.mjs OWNER [TTL_MS] [WORK_MS]      the store: HOLDFAST_STORE, a sqlite: url
import { setTimeout as sleep } from 'node:timers/promises';
import { makeId, normaliseParts, systemClock } from 'holdfast';
import { openSqlite } from 'holdfast/stores/sqlite';

const TICKET_REFRESH_MS = 3_000;
const [owner, ttl = '30000', workMs = '2000'] = process.argv.slice(2);
const ttlMs = Number(ttl);
const clock = systemClock();
const store = await openSqlite(process.env.HOLDFAST_STORE, { clock });

/** One item in a list, one result out of it. */
function only({ results: [result] }) {
  if (result.outcome === 'failed') throw result.error;
  return result;
}

/** The same request joins the queue, refreshes the ticket and claims (Q1). */
async function acquire(name) {
  const { now: bornAt } = await store.time();
  const request = {
    id: makeId(bornAt, clock.randomText()),
    bornAt,
    owner,
    parts: normaliseParts(name),
    ttlMs,
    priority: 0,
    join: true,
    holding: [],
    reclaim: false,
    maxRenewals: -1,
    minHoldMs: 0,
    lockDelayMs: 0,
    remote: false,
    callerWall: clock.wall(),
  };
  for (let isQueued = false; ; isQueued = true) {
    const sentAt = clock.monotonic();
    const answer = only(await store.acquire([request]));
    if (answer.outcome === 'granted') return { lease: answer.lease, trustedUntil: sentAt + answer.remainingMs * 0.9 };
    if (answer.outcome !== 'queued') throw new Error(`not to be had: ${answer.outcome}`);
    if (!isQueued) console.log(`${owner} waits, place ${answer.place}`);
    await sleep(Math.min(answer.refusal.retryAfterMs + 1, TICKET_REFRESH_MS));
  }
}

async function renew({ id, epoch }) {
  const sentAt = clock.monotonic();
  const request = { id, epoch, requestId: clock.randomText(), callerWall: clock.wall() };
  const answer = only(await store.renew([request]));
  if (answer.outcome !== 'renewed') throw new Error(`lost: ${answer.outcome}`);
  return sentAt + answer.remainingMs * 0.9;
}

const { lease, ...granted } = await acquire('orders/0');
let { trustedUntil } = granted;
console.log(`${owner} holds orders/0, epoch ${lease.epoch}`);
const endsAt = clock.monotonic() + Number(workMs);
while (clock.monotonic() < endsAt) {
  await sleep(ttlMs * 0.3); // a piece of the work
  if (clock.monotonic() >= trustedUntil) throw new Error('too late: the lease may be somebody else’s by now');
  trustedUntil = await renew(lease);
  console.log(`${owner} renewed, epoch ${lease.epoch}`);
}
const ended = only(
  await store.end([{ id: lease.id, epoch: lease.epoch, requestId: clock.randomText(), why: 'released' }]),
);
console.log(`${owner} is done: ${ended.outcome}`);
await store.close();
