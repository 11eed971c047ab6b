// One client of the concurrent part in a process of its own: node workload-child.mjs URL NAME SEED MILLISECONDS
import { systemClock } from '../../dist/index.js';
import { openStore } from '../../dist/stores/open-store.js';
import { concurrentWorkload } from '../../dist/testing/index.js';

const [url, name, seed, durationMs] = process.argv.slice(2);
const clock = systemClock();
const poolSize = url.startsWith('postgres') ? 2 : undefined; // eight processes share one server
const store = await openStore(url, { clock, namespace: 'default', migrate: 'auto', poolSize });
const counts = await concurrentWorkload(store, {
  clock,
  name,
  seed: Number(seed),
  durationMs: Number(durationMs),
  record: (line) => process.stdout.write(`record ${line}\n`),
});
await store.close();
process.stdout.write(`counts ${JSON.stringify(counts)}\n`);
