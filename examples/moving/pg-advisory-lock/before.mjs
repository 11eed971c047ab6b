// Moving from pg_advisory_lock, before. The lock lives as long as a connection: a paused holder keeps everybody out for as long
// as that stands, and when it is cut (a failover, a limit of a proxy) the holder writes on without the lock.
//
//   node before.mjs NAME [WORK_MS]      the server: DATABASE_URL
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const [name, workMs = '500'] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const session = await pool.connect();
session.on('error', (error) => console.log(`${name}: ${error.message}`));

await session.query('SELECT pg_advisory_lock(hashtext($1))', ['report']);
console.log(`${name} holds report`);
await sleep(Number(workMs));
await pool.query('UPDATE report SET text = $1', [`by ${name}`]);
console.log(`${name} has written`);
session.release(true); // ends the connection, and the lock with it
await pool.end();
