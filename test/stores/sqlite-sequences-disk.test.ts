// N6: the steps of a stream wait for the disk, those of leases do not; and a WAL that is waited for is kept short.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Driver from 'better-sqlite3';
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/stores/sqlite/index.js';
import { KeptSnapshot } from '../../src/stores/sqlite/kept-snapshot.js';
import { LoopTurns } from '../../src/stores/protocol/loop-turns.js';
import { openDatabase, applyMigrations } from '../../src/stores/sqlite/open-file.js';
import { parseSqliteUrl } from '../../src/stores/sqlite/sqlite-url.js';
import { Statements } from '../../src/stores/sqlite/statements.js';
import { WriteLane } from '../../src/stores/sqlite/write-lane.js';
import { systemClock } from '../../src/system-clock.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const clock = systemClock();

test('N6: a durable step is committed with synchronous=FULL, one beside it as the file was opened', async () => {
  const folder = temporaryFolder();
  try {
    const url = parseSqliteUrl(`sqlite:${join(folder.path, 'leases.db')}`);
    const db = openDatabase(url);
    applyMigrations(db, url.path, clock.wall());
    const turns = new LoopTurns(clock);
    const snapshot = new KeptSnapshot(db, turns);
    const onRollback = (): void => undefined;
    const lane = new WriteLane({ sql: new Statements(db), clock, path: url.path, turns, snapshot, onRollback });
    const synchronous = (): unknown => db.pragma('synchronous', { simple: true });
    expect(await lane.run(synchronous, 'durable')).toBe(2);
    expect(await lane.run(synchronous)).toBe(1);
    const fail = (): never => {
      throw new Error('in the middle of a durable step');
    };
    expect(() => lane.run(fail, 'durable')).toThrow('in the middle');
    expect(await lane.run(synchronous)).toBe(1);
    const other = new Driver(url.path, { timeout: 1 });
    other.exec('BEGIN IMMEDIATE');
    const waiting = lane.run(synchronous, 'durable');
    other.exec('COMMIT');
    expect(await waiting).toBe(2);
    other.close();
    snapshot.end();
    db.close();
  } finally {
    folder.remove();
  }
});

test('N6, S18: the WAL of a file with streams is begun anew before it is long', async () => {
  const folder = temporaryFolder();
  try {
    const path = join(folder.path, 'leases.db');
    const store = await openSqlite(`sqlite:${path}`, { clock });
    // The third number in the header of a WAL counts how often it was begun.
    const begun = (): number => readFileSync(`${path}-wal`).readUInt32BE(12);
    const first = begun();
    let made = 0;
    while (begun() === first) {
      made += 1;
      const request = { stream: 's', operationId: `op-${made}`, kind: 'k', ttlMs: 60_000, count: 1, owner: 'o' };
      const [leased] = (await store.sequences.lease([request])).results;
      if (leased?.outcome !== 'leased') throw new Error('not leased');
      const { stream, operationId } = request;
      await store.sequences.commit([{ stream, operationId, epoch: leased.epoch, operations: [made] }]);
      // 8 pages each. A file whose commits do not wait for the disk lets its WAL grow for 640 of them.
      expect(made, 'operations in one WAL').toBeLessThan(600);
    }
    await store.close();
  } finally {
    folder.remove();
  }
});
