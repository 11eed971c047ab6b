// The first lease: hold a name while work runs, and see what the next one is told. The same lines stand in the README.
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'holdfast';

const leases = await connect('sqlite:leases.db', { owner: 'worker-1' });

await leases.withLease('orders/0', { ttl: '30s', wait: '10s' }, async (lease) => {
  console.log(`${lease.owner} holds orders/0, epoch ${lease.epoch}`);
  const second = await leases.tryAcquire('orders/0');
  if (!second.ok) console.log(`a second try: ${second.refusal.reason} by ${second.refusal.holders[0].owner}`);
  await sleep(100, undefined, { signal: lease.signal }); // the work: it ends early when the lease is lost
});

await leases.shutdown();
