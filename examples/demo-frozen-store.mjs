// A frozen store: one process is stopped inside a write transaction of the lease file, so nobody can write any more, and
// no renewal is answered. The holder needs no answer to know when to stop: its signal aborts before the lease is over.
import Driver from 'better-sqlite3';
import { connect } from 'holdfast';
import { cue, perform, report, start } from './demo-processes.mjs';

const TTL_MS = 3_000;

async function hold(name) {
  const leases = await connect(process.env.HOLDFAST_STORE, { owner: name, ttl: TTL_MS });
  const lease = await leases.acquire('orders/0');
  report(`${name} holds orders/0 for ${TTL_MS} ms, and renews`);
  await cue();
  let unanswered = 0;
  leases.on('lease.renewal_failed', () => (unanswered += 1));
  leases.on('lease.renewed', () => report(`${name} renewed, which was not to be`));
  await new Promise((resolve) => {
    lease.signal.addEventListener('abort', resolve, { once: true });
  });
  const leftMs = Date.parse(lease.expiresAt) - Date.now();
  report(`${name}: the signal aborted ${leftMs} ms before the lease is over`, { leftMs });
  report(
    `${name}: ${lease.signal.reason.code}, isHeld ${lease.isHeld}, after ${unanswered} renewals without an answer`,
  );
}

async function freeze(name) {
  const db = new Driver(process.env.HOLDFAST_STORE.replace('sqlite:', ''));
  db.exec('BEGIN IMMEDIATE');
  report(`${name} is stopped inside a write transaction`);
  setImmediate(() => {
    process.kill(process.pid, 'SIGSTOP');
    db.exec('ROLLBACK');
    db.close();
    report(`${name} goes on`);
  });
  await cue();
}

async function takeOver(name) {
  const leases = await connect(process.env.HOLDFAST_STORE, { owner: name });
  const lease = await leases.acquire('orders/0');
  report(`${name} holds orders/0, epoch ${lease.epoch}`);
  await leases.shutdown();
}

async function direct() {
  const holder = start('hold', 'alice');
  await holder.next();
  const frozen = start('freeze', 'carol');
  await frozen.next();
  holder.cue();
  const { leftMs } = await holder.next();
  if (leftMs <= 0) throw new Error('too late');
  await holder.next();

  frozen.process.kill('SIGCONT');
  await frozen.next();
  await start('takeOver', 'bob').next();
}

await perform(direct, { hold, freeze, takeOver });
