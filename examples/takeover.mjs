// The takeover: two processes want one name. The holder is killed, and the other takes over with a higher epoch when the
// lease has run out. Run by `make demo`.
import { once } from 'node:events';
import { connect } from 'holdfast';
import { perform, report, start } from './demo-processes.mjs';

const TTL_MS = 2_000;

async function contend(name) {
  const leases = await connect(process.env.HOLDFAST_STORE, { owner: name, ttl: TTL_MS });
  leases.on('lease.queued', (event) => report(event.sentence));
  const lease = await leases.acquire('orders/0', { wait: 'forever' });
  report(`${name} holds orders/0, epoch ${lease.epoch}`, { epoch: lease.epoch });
  if (name === 'alice') {
    leases.on('lease.renewed', () => report(`alice renews: the epoch stays ${lease.epoch}`));
    return once(process, 'disconnect'); // at work until it is killed
  }
  const { outcome } = await lease.release();
  report(`${name} gives it back: ${outcome}`);
  await leases.shutdown();
}

async function direct() {
  console.log(`alice and bob are two processes; a lease lives ${TTL_MS} ms unless it is renewed`);
  const alice = start('contend', 'alice');
  const first = await alice.next();
  const bob = start('contend', 'bob');
  await bob.next();
  await alice.next();

  alice.process.kill('SIGKILL');
  await alice.gone;
  const killedAt = performance.now();
  console.log('alice is killed with SIGKILL: it cannot give anything back');
  const second = await bob.next();
  console.log(`that is ${second.epoch - first.epoch} higher, ${Math.round(performance.now() - killedAt)} ms later`);
  await bob.next();
  await bob.gone;

  console.log('\nThe log of the namespace:');
  const leases = await connect(process.env.HOLDFAST_STORE, { services: 'off' });
  const { items } = await leases.history();
  for (const event of items.reverse()) console.log(`  ${event.sentence}`);
  await leases.shutdown();
}

await perform(direct, { contend });
