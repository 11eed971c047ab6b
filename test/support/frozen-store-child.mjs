// A holder that knows when its renewals left and how late its own event loop runs: node frozen-store-child.mjs URL OWNER
// The store it is given passes every call on and notes the moment each renewal was sent.
//   hold KEY {resource, ttl}   held KEY EPOCH AT; lost KEY CODE AT SENT (SENT: when the last renewal that was answered left)
//   lag KEY   lag KEY WORST COUNT: the worst lag in milliseconds since the last time it was asked, and out of how many looks
import { connect, systemClock } from 'holdfast';
import { openSqlite } from 'holdfast/stores/sqlite';
import { now, obey, say } from './child-orders.mjs';

const PULSE_MS = 5;
const [url, owner] = process.argv.slice(2);
const store = await openSqlite(url, { clock: systemClock() });
let answeredSend = 0;
const noted = new Proxy(store, {
  get(target, name) {
    const value = Reflect.get(target, name, target);
    if (typeof value !== 'function') return value;
    if (name !== 'renew') return value.bind(target);
    return async (requests) => {
      const sent = now();
      const answer = await target.renew(requests);
      answeredSend = Math.max(answeredSend, sent);
      return answer;
    };
  },
});
const leases = await connect(noted, { owner });
leases.on('lease.renewed', (event) => say('renewed', event.resource, now()));

let lags = [];
let last = now();
setInterval(() => {
  lags.push(now() - last - PULSE_MS);
  last = now();
}, PULSE_MS);
say('open');

obey({
  async hold(key, { resource, ...rest }) {
    answeredSend = now();
    const lease = await leases.acquire(resource, rest);
    const { signal } = lease;
    signal.addEventListener('abort', () => say('lost', key, signal.reason.code, now(), answeredSend));
    say('held', key, lease.epoch, now());
  },
  async lag(key) {
    say('lag', key, Math.max(...lags), lags.length);
    lags = [];
  },
});
