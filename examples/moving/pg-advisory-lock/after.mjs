// Moving from pg_advisory_lock, after: a lease has an end, no connection is kept for it, and the transaction that writes holds
// it in place until its commit, or is refused.
//
//   node after.mjs NAME [WORK_MS]      the server: DATABASE_URL
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'holdfast';
import { guardPostgres } from 'holdfast/guards';
import pg from 'pg';

const [name, workMs = '500'] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const leases = await connect(process.env.DATABASE_URL, { owner: name, ttl: '1s' });

const { holders, queue } = await leases.show('report');
if (holders.length > 0) console.log(`${name} waits: ${holders[0].owner} holds report, ${queue.length} ahead`);
const lease = await leases.acquire('report', { wait: 'forever' });
console.log(`${name} holds report`);
await sleep(Number(workMs));
const tx = await pool.connect();
try {
  await tx.query('BEGIN');
  await guardPostgres(tx, lease);
  await tx.query('UPDATE report SET text = $1', [`by ${name}`]);
  await tx.query('COMMIT');
  console.log(`${name} has written`);
} catch (error) {
  await tx.query('ROLLBACK');
  console.log(`${name}: ${error.code}, nothing was written`);
}
tx.release();
await lease.release();
await leases.shutdown();
await pool.end();
