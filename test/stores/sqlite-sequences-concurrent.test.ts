// Processes that write, read and recover one stream in one SQLite file, one of them killed in the middle of it; then the
// history is checked. And N6: the steps of a stream wait for the disk, those of leases do not.
import { join } from 'node:path';
import Driver from 'better-sqlite3';
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/stores/sqlite/index.js';
import { LoopTurns } from '../../src/stores/sqlite/loop-turns.js';
import { openDatabase, applyMigrations } from '../../src/stores/sqlite/open-file.js';
import { parseSqliteUrl } from '../../src/stores/sqlite/sqlite-url.js';
import { Statements } from '../../src/stores/sqlite/statements.js';
import { WriteLane } from '../../src/stores/sqlite/write-lane.js';
import { systemClock } from '../../src/system-clock.js';
import { chooseSeed } from '../../src/testing/store-conformance/seed.js';
import { expectSequenceHistory, readWholeStream } from '../../src/testing/store-conformance/sequence/concurrent.js';
import { startChild } from '../support/child.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const PROCESSES = 4;
const DURATION_MS = 10_000;
const seed = chooseSeed();
const clock = systemClock();

test(`N1, N2, N3, N4, N6, V1: the history of ${PROCESSES} processes, one killed, holds (SEED=${seed})`, async () => {
  const folder = temporaryFolder();
  try {
    const file = join(folder.path, 'leases.db');
    const children = Array.from({ length: PROCESSES }, (_, i) =>
      startChild('sequence-workload-child.mjs', file, `process-${i}`, String(seed + i), String(DURATION_MS)),
    );
    await children[0]!.line('working');
    await children[0]!.line('record {"what":"stored"');
    children[0]!.process.kill('SIGKILL');
    expect(await Promise.all(children.map((child) => child.ended))).toEqual(['SIGKILL', 0, 0, 0]);
    const lines = children.flatMap((child) =>
      // The last line of the one that was killed may be half a line.
      child.lines.filter((line) => line.startsWith('record ') && line.endsWith('}')).map((line) => line.slice(7)),
    );
    const store = await openSqlite(`sqlite:${file}`, { clock });
    expectSequenceHistory(lines, await readWholeStream(store, clock));
    await store.close();
  } finally {
    folder.remove();
  }
});

test('N6: a durable step is committed with synchronous=FULL, one beside it as the file was opened', async () => {
  const folder = temporaryFolder();
  try {
    const url = parseSqliteUrl(`sqlite:${join(folder.path, 'leases.db')}`);
    const db = openDatabase(url);
    applyMigrations(db, url.path, clock.wall());
    const lane = new WriteLane(new Statements(db), clock, url.path, new LoopTurns(clock), () => undefined);
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
    db.close();
  } finally {
    folder.remove();
  }
});
