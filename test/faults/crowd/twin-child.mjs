// One half of the twin story: node twin-child.mjs {url, counters, owner, ttl, n, guarded}. It takes the lease of a counter, reads
// it and says `read VALUE`; told `go` it writes that value raised by one, without asking whether it still holds anything, and
// says `wrote` or `refused CODE`; told `stop` it ends.
import { connect } from 'holdfast';
import { obey, say } from '../../support/child-orders.mjs';
import { openCounters } from './counters.mjs';

const { url, counters, owner, ttl, n, guarded } = JSON.parse(process.argv[2]);
const leases = await connect(url, { owner, ttl });
const data = await openCounters(counters);
const lease = await leases.acquire(`stock/${n}`, { wait: 30_000 });
const value = guarded ? await data.claim(lease, n) : await data.read(n);

obey({
  go: async () => {
    try {
      if (guarded) await data.write(lease, n, owner, value + 1);
      else await data.put(n, owner, value + 1, lease.epoch);
      say('wrote', value + 1);
    } catch (error) {
      if (error.name !== 'LeaseError') throw error;
      say('refused', error.code);
    }
  },
  stop: async () => {
    await data.close();
    await leases.shutdown();
    process.exit(0);
  },
});
say('read', value);
