// One client of the concurrent part in a process of its own: node redis-workload-child.mjs URL NAME SEED MILLISECONDS
import { systemClock } from '../../dist/index.js';
import { openRedis } from '../../dist/stores/redis/index.js';
import { concurrentWorkload } from '../../dist/testing/index.js';

const [url, name, seed, durationMs] = process.argv.slice(2);
const clock = systemClock();
const store = await openRedis(url, { clock });
const counts = await concurrentWorkload(store, {
  clock,
  name,
  seed: Number(seed),
  durationMs: Number(durationMs),
  record: (line) => process.stdout.write(`record ${line}\n`),
});
await store.close();
process.stdout.write(`counts ${JSON.stringify(counts)}\n`);
