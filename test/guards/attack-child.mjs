// A process of the attack: node attack-child.mjs STORE OWNER KIND PLACE. It holds leases on orders/0 and on, and writes what it
// is told under them without looking at them again, through a guard or past it.
//   hold KEY {count, ttl?, wait?}          held KEY COUNT-STILL-HELD
//   write KEY {value, guarded}             wrote KEY {"landed": n, "refused": n, "codes": {CODE: n}}
//   read KEY                               values KEY {VALUE: n}
import { connect } from 'holdfast';
import { obey, say } from '../support/child-orders.mjs';
import { openWriter } from './attack-writers.mjs';

const [url, owner, kind, place] = process.argv.slice(2);
const leases = await connect(url, { owner, services: 'off' });
const writer = await openWriter(kind, place);
let held = [];

obey({
  async hold(key, { count, ttl, wait }) {
    const options = { wait: wait ?? 0, ...(ttl === undefined ? {} : { ttl, renew: 'manual' }) };
    held = await Promise.all(Array.from({ length: count }, (_, i) => leases.acquire(`orders/${i}`, options)));
    say('held', key, held.filter((lease) => lease.isHeld).length);
  },

  async write(key, { value, guarded }) {
    const told = { landed: 0, refused: 0, codes: {} };
    const write = async (lease, i) => {
      try {
        await writer.write(lease, i, value, guarded);
        told.landed += 1;
      } catch (error) {
        if (error?.name !== 'LeaseError') throw error;
        told.refused += 1;
        told.codes[error.code] = (told.codes[error.code] ?? 0) + 1;
      }
    };
    if (writer.isAlone) for (const [i, lease] of held.entries()) await write(lease, i);
    else await Promise.all(held.map(write));
    say('wrote', key, JSON.stringify(told));
  },

  async read(key) {
    const counts = {};
    for (const value of await writer.values(held.length)) counts[value] = (counts[value] ?? 0) + 1;
    say('values', key, JSON.stringify(counts));
  },

  async stop() {
    await writer.close();
    await leases.shutdown();
    process.exit(0);
  },
});
say('open');
