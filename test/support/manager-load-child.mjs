// A process that works hard on a shared lease file: node manager-load-child.mjs URL OWNER OPTIONS
//   rounds KEY {resource, count}   queues for one name again and again, first come first served
//   storm KEY {names, lanes, ms}   asks for a few names from many lanes, and cancels at any moment; has the exit hook
//   crowd KEY {leases, waiters}    holds many leases and waits for what it holds itself; shutdown KEY ends it
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'holdfast';
import { obey, say } from './child-orders.mjs';

const [url, owner, options = '{}'] = process.argv.slice(2);
const leases = await connect(url, { owner, ...JSON.parse(options) });
const upTo = (count) => Math.floor(Math.random() * count);
/** Mostly soon, sometimes late enough for anything to happen first. */
const soonOrLater = () => 1 + Math.floor(Math.random() ** 3 * 400);
const waiting = [];
say('open');

/** One request of a storm: granted, cancelled or out of time, it leaves nothing behind. False when there is no more. */
async function request(name, counts) {
  const controller = new AbortController();
  const cancel = setTimeout(() => controller.abort(), soonOrLater());
  try {
    const lease = await leases.acquire(name, { ttl: '60s', wait: soonOrLater(), signal: controller.signal });
    if (Math.random() < 0.5) await delay(upTo(4));
    const { outcome } = await lease.release();
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    return true;
  } catch (error) {
    if (error.code === undefined) throw error;
    counts[error.code] = (counts[error.code] ?? 0) + 1;
    return error.code !== 'SHUTTING_DOWN';
  } finally {
    clearTimeout(cancel);
  }
}

obey({
  async rounds(key, { resource, count }) {
    for (let round = 0; round < count; round += 1) {
      const lease = await leases.acquire(resource, { ttl: '60s', wait: 'forever' });
      await delay(1);
      lease.throwIfLost();
      const { outcome } = await lease.release();
      say('round', key, lease.epoch, outcome);
    }
    say('done', key);
  },
  async storm(key, { names, lanes, ms }) {
    const until = performance.now() + ms;
    const counts = {};
    const lane = async () => {
      while (performance.now() < until && (await request(`name/${upTo(names)}`, counts)));
    };
    leases.releaseOnExit();
    say('storming', key);
    await Promise.all(Array.from({ length: lanes }, lane));
    say('stormed', key, JSON.stringify(counts));
  },
  async crowd(key, { leases: count, waiters }) {
    const names = Array.from({ length: count }, (_, i) => `crowd/${i}`);
    const held = await Promise.all(names.map((name) => leases.acquire(name, { ttl: '60s' })));
    let queued = 0;
    const allQueued = new Promise((resolve) => {
      leases.on('lease.queued', () => (queued += 1) === waiters && resolve());
    });
    for (const name of names.slice(0, waiters)) {
      const codeOf = (error) => error.code ?? String(error);
      waiting.push(leases.acquire(name, { ttl: '60s', wait: 'forever' }).then(() => 'granted', codeOf));
    }
    await allQueued;
    say('crowded', key, held.length, queued);
  },
  async shutdown(key) {
    const [first, second] = [leases.shutdown(), leases.shutdown()];
    await second;
    await first;
    const codes = new Set(await Promise.all(waiting));
    say('down', key, first === second, [...codes].join('+'), leases.held().length);
  },
});
