// The owner of partitions: every write goes through `ensure`, which answers the lease already held without asking the
// store, and acquires it otherwise. A partition whose owner dies is taken over with a higher epoch. Each record carries
// the epoch, so that a reader can pass over what a former owner wrote too late.
//
//   node partition-owner.mjs OWNER FOLDER TTL PARTITION…      the store: HOLDFAST_STORE; ends with SIGTERM
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, LeaseError } from 'holdfast';

const [owner, folder = '.', ttl = '30s', ...partitions] = process.argv.slice(2);
const leases = await connect(process.env.HOLDFAST_STORE, { owner, ttl });
leases.releaseOnExit();
const said = new Map();

function sayOnce(partition, text) {
  if (said.get(partition) !== text) console.log(text);
  said.set(partition, text);
}

async function write(partition, n) {
  const lease = await leases.ensure(`orders/${partition}`);
  sayOnce(partition, `${owner} owns orders/${partition}, epoch ${lease.epoch}`);
  lease.throwIfLost(); // last look before the write; a guard where the write happens is stronger
  appendFileSync(join(folder, `${partition}.ndjson`), `${JSON.stringify({ epoch: lease.epoch, by: owner, n })}\n`);
}

for (let n = 1; ; n += 1) {
  for (const partition of partitions) {
    try {
      await write(partition, n);
    } catch (error) {
      if (!(error instanceof LeaseError)) throw error;
      if (error.code === 'SHUTTING_DOWN') continue;
      sayOnce(partition, `${owner} does not own orders/${partition}: ${error.code}`);
    }
  }
  await sleep(20);
}
