// A lock table by hand in SQLite: two prepared statements, an upsert and an update, each its own transaction, with the settings
// and the checkpoints of our own store. No history, no queue, no ids, no epochs.
import Driver from 'better-sqlite3';
import { Checkpointer } from '../dist/stores/sqlite/checkpointer.js';

const OWNER = 'bench-1-abcdef';

export function openBareSqlite(path) {
  const db = new Driver(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = normal');
  db.pragma('cache_size = -16384');
  db.pragma('wal_autocheckpoint = 0');
  db.pragma('temp_store = memory');
  db.exec('CREATE TABLE IF NOT EXISTS bare (name TEXT PRIMARY KEY, owner TEXT, expires_at INTEGER, status TEXT)');
  const take = db.prepare(
    `INSERT INTO bare VALUES (?, ?, ?, 'active') ON CONFLICT (name) DO UPDATE SET owner = excluded.owner,
     expires_at = excluded.expires_at, status = excluded.status`,
  );
  const free = db.prepare("UPDATE bare SET status = 'released' WHERE name = ? AND owner = ?");
  const checkpointer = new Checkpointer(path);
  return {
    name: 'bare upsert + update',
    pair(i) {
      const name = `bench/${i % 1_000}`;
      take.run(name, OWNER, Date.now() + 30_000);
      checkpointer.committed();
      free.run(name, OWNER);
      checkpointer.committed();
    },
    async close() {
      await checkpointer.stop();
      db.close();
    },
  };
}
