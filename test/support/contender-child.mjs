// One of several that want the same lease all the time, and says for how long it believed to have it:
// node contender-child.mjs URL OWNER {resource, ttl, wait}   believes EPOCH, then turn EPOCH FROM TO
// FROM and TO are moments at which the handle said it was held, on the clock that all processes share: the clock is read
// first and the handle asked afterwards, so that a process stopped between the two claims too little and never too much.
// Half of the time it looks without letting the loop go round: only a handle that reads the clock tells the truth then.
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'holdfast';
import { now, say } from './child-orders.mjs';

const LONGEST_TURN_MS = 1_000;
const BURST_MS = 2;
/** What those who do not queue pause for before they ask again. */
const PAUSE_MS = 10;
/** Not free, or a store that is locked by a process that was stopped: ask again. */
const EXPECTED = ['ACQUIRE_TIMEOUT', 'STORE_UNAVAILABLE'];
const [url, owner, options] = process.argv.slice(2);
const { resource, ttl, wait } = JSON.parse(options);
const leases = await connect(url, { owner });
say('open');

async function believe(lease) {
  const until = now() + Math.random() * LONGEST_TURN_MS;
  let [from, to] = [undefined, undefined];
  say('believes', lease.epoch);
  for (let at = now(), restAt = at + BURST_MS; lease.isHeld && at < until; at = now()) {
    from ??= at;
    to = at;
    if (at < restAt) continue;
    await delay(BURST_MS);
    restAt = now() + BURST_MS;
  }
  say('turn', lease.epoch, from, to);
}

for (;;) {
  try {
    const lease = await leases.acquire(resource, { ttl, wait });
    await believe(lease);
    await lease.release();
  } catch (error) {
    if (!EXPECTED.includes(error.code)) throw error;
    await delay(PAUSE_MS);
  }
}
