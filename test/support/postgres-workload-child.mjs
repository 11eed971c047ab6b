// One client of the concurrent part in a process of its own: node postgres-workload-child.mjs URL NAME SEED MILLISECONDS
import { systemClock } from '../../dist/index.js';
import { openPostgres } from '../../dist/stores/postgres/index.js';
import { concurrentWorkload } from '../../dist/testing/index.js';

const [url, name, seed, durationMs] = process.argv.slice(2);
const clock = systemClock();
const store = await openPostgres(url, { clock, poolSize: 2 });
const counts = await concurrentWorkload(store, {
  clock,
  name,
  seed: Number(seed),
  durationMs: Number(durationMs),
  record: (line) => process.stdout.write(`record ${line}\n`),
});
await store.close();
process.stdout.write(`counts ${JSON.stringify(counts)}\n`);
