// Clients of one stream in a process: node sequence-workload-child.mjs URL NAME SEED MILLISECONDS WRITERS READERS RECOVERERS
import pg from 'pg';
import { systemClock } from '../../dist/index.js';
import { openStore } from '../../dist/stores/open-store.js';
import { sequenceWorkload } from '../../dist/testing/index.js';

const [url, name, ...numbers] = process.argv.slice(2);
const [seed, durationMs, writers, readers, recoverers] = numbers.map(Number);
const clock = systemClock();
const isPostgres = url.startsWith('postgres');
const poolSize = isPostgres ? 2 : undefined; // many processes share one server
const pool = isPostgres ? new pg.Pool({ connectionString: url, max: 1 }) : undefined;

async function rollBack(act) {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await act(client);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

const store = await openStore(url, { clock, namespace: 'default', migrate: 'auto', poolSize });
process.stdout.write('working\n');
await sequenceWorkload(store, {
  clock,
  name,
  seed,
  durationMs,
  clients: { writers, readers, recoverers },
  rollBack: pool ? rollBack : undefined,
  record: (line) => process.stdout.write(`record ${line}\n`),
});
await store.close();
await pool?.end();
