// SQLite: one file of leases, one of counters, and nothing between them and the workers. Half of the workers wait for the disk.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { connect } from '../../../src/connect.js';
import { openSqlite } from '../../../src/stores/sqlite/index.js';
import { systemClock } from '../../../src/system-clock.js';
import type { Grounds } from './grounds.js';
import { filesIn, waitOnce, type Site } from './site.js';
import type { IncrementRecord } from './verdict.js';

export async function sqliteSite(grounds: Grounds): Promise<Site> {
  const [leaseFile, file] = [join(grounds.place, 'leases.db'), join(grounds.place, 'app.db')];
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE counter (n INTEGER PRIMARY KEY, value INTEGER)');
  db.exec('CREATE TABLE record (op TEXT PRIMARY KEY, n INTEGER, epoch INTEGER, value INTEGER) WITHOUT ROWID');
  const openStore = (): ReturnType<typeof openSqlite> => openSqlite(`sqlite:${leaseFile}`, { clock: systemClock() });
  const keeper = await openStore(); // makes the file; and with it open the -wal and -shm stay where they are
  const synchronous = (slot: number): string => (slot % 2 === 0 ? 'normal' : 'full');
  return {
    name: 'sqlite',
    grounds,
    connectionsPerWorker: 0,
    isMonotonic: true,
    url: (slot) => `sqlite:${leaseFile}?synchronous=${synchronous(slot)}`,
    counters: (slot) => ({ kind: 'sqlite', file, leases: leaseFile, synchronous: synchronous(slot) }),
    drill: { rounds: 150 }, // a worker for checkpoints is started after 256 commits
    async warm() {
      const leases = await connect(`sqlite:${leaseFile}`, { services: 'off' });
      await waitOnce(leases);
      await leases.shutdown();
    },
    links: () => [],
    server: undefined,
    openStore,
    readCounters: async () => ({
      records: db.prepare('SELECT * FROM record').all() as IncrementRecord[],
      values: new Map(db.prepare('SELECT n, value FROM counter').raw().all() as [number, number][]),
    }),
    counts: async () => filesIn(grounds.place, grounds.temporary),
    async remove() {
      await keeper.close();
      db.close();
    },
  };
}
