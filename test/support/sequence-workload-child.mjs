// Writers, a reader and a recoverer of one stream in a process: node sequence-workload-child.mjs FILE NAME SEED MILLISECONDS
import { systemClock } from '../../dist/index.js';
import { openSqlite } from '../../dist/stores/sqlite/index.js';
import { sequenceWorkload } from '../../dist/testing/index.js';

const [file, name, seed, durationMs] = process.argv.slice(2);
const clock = systemClock();
const store = await openSqlite(`sqlite:${file}`, { clock });
process.stdout.write('working\n');
await sequenceWorkload(store, {
  clock,
  name,
  seed: Number(seed),
  durationMs: Number(durationMs),
  record: (line) => process.stdout.write(`record ${line}\n`),
});
await store.close();
