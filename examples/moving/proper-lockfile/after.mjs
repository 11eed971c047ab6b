// Moving from proper-lockfile, after: still no server, one SQLite file for all leases. The gate beside the file knows the
// highest epoch that has written there, and replaces the file as a whole or not at all.
//
//   node after.mjs NAME FILE [WORK_MS]      the store: HOLDFAST_STORE
import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'holdfast';
import { fileGate } from 'holdfast/guards';

const [name, file, workMs = '500'] = process.argv.slice(2);
const leases = await connect(process.env.HOLDFAST_STORE, { owner: name, ttl: '2s' });
const gate = fileGate(dirname(file));

const lease = await leases.files(dirname(file)).acquire(basename(file), { wait: 'forever' });
console.log(`${name} holds the file`);
await sleep(Number(workMs));
try {
  await gate.write(lease, basename(file), `by ${name}`);
  console.log(`${name} has written`);
} catch (error) {
  console.log(`${name}: ${error.code}, the file is as it was`);
}
await lease.release();
gate.close();
await leases.shutdown();
