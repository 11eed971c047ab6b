// Writers, a reader and a recoverer of one stream in a process: node sequence-workload-child.mjs FILE|URL NAME SEED MILLISECONDS
import { systemClock } from '../../dist/index.js';
import { openStore } from '../../dist/stores/open-store.js';
import { sequenceWorkload } from '../../dist/testing/index.js';

const [file, name, seed, durationMs] = process.argv.slice(2);
const clock = systemClock();
const url = /^https?:/.test(file) ? file : `sqlite:${file}`;
const store = await openStore(url, { clock, namespace: 'default', migrate: 'auto' });
process.stdout.write('working\n');
await sequenceWorkload(store, {
  clock,
  name,
  seed: Number(seed),
  durationMs: Number(durationMs),
  record: (line) => process.stdout.write(`record ${line}\n`),
});
await store.close();
