// A process that is connected as a user's would be and does as it is told: node manager-child.mjs URL OWNER OPTIONS
// Each order names the lease it is about by a key; answers carry the moment on the clock that all processes share.
//   acquire KEY {resources, inside?, …options}   queued NAME COUNT AT, held KEY EPOCH AT, later, perhaps, lost KEY CODE AT
//   release KEY   check KEY {as}   block KEY {ms}   stop KEY   watch KEY   keep KEY {…}   work KEY {…, ms}
//   exit-hook KEY {drain?}   second KEY {namespace}: another connection of this process, with a lease and a hook of its own
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'holdfast';
import { now, obey, say } from './child-orders.mjs';

const [url, owner, options = '{}'] = process.argv.slice(2);
const leases = await connect(url, { owner, ...JSON.parse(options) });
const held = new Map();

let queued = 0;
leases.on('lease.queued', (event) => say('queued', event.resource, (queued += 1), now()));
leases.on('lease.renewed', (event) => say('renewed', event.resource, now()));
say('open');

function take(key, lease) {
  held.set(key, lease);
  lease.signal.addEventListener('abort', () => say('lost', key, lease.signal.reason.code, now()));
  say('held', key, lease.epoch, now());
}

/** What the handle says this very moment: `true -`, or `false CODE`. */
function standing(lease) {
  if (!lease) return 'none -';
  const { isHeld } = lease;
  try {
    lease.throwIfLost();
    return `${isHeld} -`;
  } catch (error) {
    return `${isHeld} ${error.code}`;
  }
}

obey({
  async acquire(key, { resources, inside, ...rest }) {
    const lease = inside ? await held.get(inside).acquire(resources, rest) : await leases.acquire(resources, rest);
    take(key, lease);
  },
  async release(key) {
    const { outcome } = await held.get(key).release();
    say('released', key, outcome, now());
  },
  async check(key, { as = key }) {
    say('checked', as, standing(held.get(key)));
  },
  /** Nothing else runs meanwhile: no timer, no answer of the store. */
  async block(key, { ms }) {
    const until = now() + ms;
    while (now() < until);
    say('unblocked', key, standing(held.get(key)), held.get(key).signal.aborted, now());
  },
  /** The line after the stop is the first that runs when the process is continued. */
  async stop(key) {
    say('stopping', key);
    process.kill(process.pid, 'SIGSTOP');
    say('continued', key, standing(held.get(key)), now());
  },
  /** Looks all the time, and says what it saw first after a while in which it could not look. */
  async watch(key) {
    let last = now();
    const pulse = setInterval(() => {
      const gap = now() - last;
      last = now();
      if (gap < 400) return;
      say('resumed', key, standing(held.get(key)));
      clearInterval(pulse);
    }, 1);
    say('watching', key);
  },
  async keep(key, { resources, ...rest }) {
    let turn = 0;
    await leases.keep(resources, rest, (lease) => {
      turn += 1;
      take(`${key}-${turn}`, lease);
      return new Promise((resolve) => {
        lease.signal.addEventListener('abort', resolve);
      });
    });
  },
  async work(key, { resources, ms, ...rest }) {
    await leases.withLease(resources, rest, async (lease) => {
      say('working', key, lease.epoch);
      await delay(ms);
      say('worked', key, standing(lease));
    });
    say('done', key);
  },
  async 'exit-hook'(key, rest) {
    leases.releaseOnExit(rest);
    say('hooked', key);
  },
  async second(key, { namespace }) {
    const second = await connect(url, { owner, namespace });
    await second.acquire(key, { ttl: '10m' });
    second.releaseOnExit();
    say('hooked', key);
  },
});
