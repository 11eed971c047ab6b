// A leader that steps down: `keep` waits for the name, runs the work while it is held, and waits again after every loss.
// SIGTERM makes the leader step down: it lets the name go, and the next one leads at once. When the leader is killed
// instead, the next one leads when the lease has run out.
//
//   node leader.mjs OWNER [TTL] [BEAT_MS]      the store: HOLDFAST_STORE
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'holdfast';

const [owner, ttl = '30s', beatMs = '1000'] = process.argv.slice(2);
const leases = await connect(process.env.HOLDFAST_STORE, { owner, ttl });

const leaving = new AbortController();
process.once('SIGTERM', () => leaving.abort());

console.log(`${owner} is a candidate`);
await leases.keep('reports/leader', { signal: leaving.signal }, async (lease) => {
  console.log(`${owner} leads, epoch ${lease.epoch}`);
  const over = AbortSignal.any([lease.signal, leaving.signal]);
  while (!over.aborted) {
    console.log(`${owner} at work, epoch ${lease.epoch}`);
    await sleep(Number(beatMs), undefined, { signal: over }).catch(() => undefined);
  }
  console.log(lease.signal.aborted ? `${owner} lost: ${lease.signal.reason.message}` : `${owner} steps down`);
});
await leases.shutdown();
