// A deadlock between two processes: each holds one account and waits for the other's. It is found in the wait-for graph;
// the one that asked last is told the cycle, keeps what it has, and lets it go; the other gets both.
import { connect } from 'holdfast';
import { cue, perform, report, start } from './demo-processes.mjs';

const ACCOUNTS = { alice: ['accounts/1', 'accounts/2'], bob: ['accounts/2', 'accounts/1'] };

async function transfer(name) {
  const [first, second] = ACCOUNTS[name];
  const leases = await connect(process.env.HOLDFAST_STORE, { owner: name });
  leases.on('lease.queued', (event) => report(event.sentence));
  const lease = await leases.acquire(first);
  report(`${name} holds ${first}`);
  await cue();
  const askedAt = performance.now();
  try {
    // asked through the lease it has: that is how the store knows what is held meanwhile
    const more = await lease.acquire(second);
    report(`${name} holds ${second} too: ${leases.held().length} leases, epoch ${more.epoch}`);
  } catch (error) {
    report(`${name} after ${Math.round(performance.now() - askedAt)} ms: ${error.code}`);
    for (const step of error.details.cycle) report(`  ${step.owner} waits for ${step.resource} held by ${step.heldBy}`);
    report(`${name} still holds ${first}: ${lease.isHeld}; gives it back`);
  }
  await leases.shutdown();
}

async function direct() {
  const alice = start('transfer', 'alice');
  await alice.next();
  const bob = start('transfer', 'bob');
  await bob.next();

  alice.cue();
  await alice.next();
  bob.cue();
  await bob.next();
  for (let line = 0; line < 4; line += 1) await bob.next();
  await alice.next();
}

await perform(direct, { transfer });
