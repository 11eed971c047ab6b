// One client of the concurrent part in a process of its own: node workload-child.mjs FILE NAME SEED MILLISECONDS
import { systemClock } from '../../dist/index.js';
import { openSqlite } from '../../dist/stores/sqlite/index.js';
import { concurrentWorkload } from '../../dist/testing/index.js';

const [file, name, seed, durationMs] = process.argv.slice(2);
const clock = systemClock();
const store = await openSqlite(`sqlite:${file}`, { clock });
const counts = await concurrentWorkload(store, {
  clock,
  name,
  seed: Number(seed),
  durationMs: Number(durationMs),
  record: (line) => process.stdout.write(`record ${line}\n`),
});
await store.close();
process.stdout.write(`counts ${JSON.stringify(counts)}\n`);
