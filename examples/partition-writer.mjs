// The writer of a partition: numbers records in order, under a lease, into a table of its own database. Each write goes through
// a guard in its own transaction, so a writer that was paused past its lease cannot write between the records of the next
// one: it is told STALE_EPOCH, opens the partition again behind the new writer, and goes on after the last record there is.
//
//   node partition-writer.mjs OWNER [FOLDER] [PARTITION] [RECORDS] [TTL] [PAUSE_MS]      the store: HOLDFAST_STORE
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { connect, LeaseError } from 'holdfast';
import { guardSqlite } from 'holdfast/guards';

const [owner = 'writer', folder = '.', partition = 'p0', records = '5', ttl = '30s', pauseMs = '20'] =
  process.argv.slice(2);
const leases = await connect(process.env.HOLDFAST_STORE, { owner, ttl });
leases.releaseOnExit();

const db = new Database(join(folder, 'partitions.db'), { timeout: 5_000 });
db.pragma('journal_mode = WAL');
db.exec(
  'CREATE TABLE IF NOT EXISTS record (partition TEXT, n INTEGER, epoch INTEGER, owner TEXT, PRIMARY KEY (partition, n))',
);
const last = db.prepare('SELECT coalesce(max(n), 0) FROM record WHERE partition = ?').pluck();
const insert = db.prepare('INSERT INTO record VALUES (?, ?, ?, ?)');

const look = db.transaction((lease) => {
  guardSqlite(db, lease);
  return last.get(partition) + 1;
});
const isOver = ({ code }) => code === 'STALE_EPOCH' || code === 'LEASE_LOST';

/** Whoever opens a partition closes it to everybody before, and only then looks where to go on. Who was overtaken in between
 *  begins again. */
async function open() {
  for (;;) {
    const lease = await leases.acquire(`orders/${partition}`, { wait: 'forever' });
    try {
      return { lease, next: look.immediate(lease) };
    } catch (error) {
      await lease.release();
      if (!(error instanceof LeaseError) || !(isOver(error) || error.retryable)) throw error;
    }
    await sleep(Number(pauseMs));
  }
}

const write = db.transaction((lease, n) => {
  guardSqlite(db, lease);
  insert.run(partition, n, lease.epoch, owner);
});

let { lease, next } = await open();
console.log(`${owner} opened ${partition} at ${next}, epoch ${lease.epoch}`);
for (let written = 0; written < Number(records);) {
  try {
    write.immediate(lease, next);
    written += 1;
    next += 1;
  } catch (error) {
    if (!(error instanceof LeaseError) || error.code !== 'STALE_EPOCH') throw error;
    const { attempted, current } = error.details;
    console.log(`${owner} is stale: epoch ${attempted} < ${current}`);
    await lease.release();
    ({ lease, next } = await open());
    console.log(`${owner} opened ${partition} again at ${next}, epoch ${lease.epoch}`);
  }
  await sleep(Number(pauseMs));
}
console.log(`${owner} wrote ${records} records, the last is ${next - 1}`);
await leases.shutdown();
db.close();
