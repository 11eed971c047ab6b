// The partition writer of the examples: stopped past its lease, it cannot write between the records of the next writer, and
// goes on behind it.
import Database from 'better-sqlite3';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { epochIn, Stage, type Actor } from '../support/stage.js';

const TTL = '1500ms';
let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.clear());

interface RecordRow {
  readonly n: number;
  readonly epoch: number;
  readonly owner: string;
}
function records(): RecordRow[] {
  const db = new Database(join(stage.folder, 'partitions.db'), { readonly: true });
  const rows = db.prepare<[], RecordRow>("SELECT n, epoch, owner FROM record WHERE partition = 'p0' ORDER BY n").all();
  db.close();
  return rows;
}
/** Stopped inside a write it would hold the lock of a file, and nobody could go on. */
async function stopBetweenWrites({ process: writer }: Actor): Promise<void> {
  await stage.until('a stop between two writes', () => {
    writer.kill('SIGSTOP');
    const isFree = ['partitions.db', 'leases.db'].every((file) => canWrite(join(stage.folder, file)));
    if (!isFree) writer.kill('SIGCONT');
    return isFree;
  });
}
function canWrite(path: string): boolean {
  const db = new Database(path, { timeout: 100 });
  try {
    db.exec('BEGIN IMMEDIATE; ROLLBACK');
    return true;
  } catch {
    return false;
  } finally {
    db.close();
  }
}
const writtenBy = (owner: string): number => records().filter((row) => row.owner === owner).length;

test('S11, G2: a writer that was stopped is told STALE_EPOCH, opens again and goes on in order', async () => {
  const a = stage.start('partition-writer', 'a', stage.folder, 'p0', 100_000, TTL, 5);
  const first = await stage.line(/^a opened p0 at 1, epoch/);
  await stage.until('records of a', () => writtenBy('a') > 5);
  await stopBetweenWrites(a);
  const b = stage.start('partition-writer', 'b', stage.folder, 'p0', 100_000, TTL, 5);
  const second = await stage.line(/^b opened p0 at \d+, epoch/);
  await stage.until('records of b', () => writtenBy('b') > 5);
  const before = writtenBy('a');
  a.process.kill('SIGCONT');
  const stale = await stage.line(/^a is stale: epoch (\d+) < (\d+)/);
  expect(stale.slice(1, 3).map(Number)).toEqual([epochIn(first), epochIn(second)]);
  expect(writtenBy('a')).toBe(before);
  await b.kill();
  const third = await stage.line(/^a opened p0 again at \d+, epoch/);
  expect(epochIn(third)).toBeGreaterThan(epochIn(second));
  await stage.until('more records of a', () => writtenBy('a') > before + 5);
  await a.kill();

  const all = records();
  expect(all.map(({ n }) => n)).toEqual(all.map((_, i) => i + 1)); // in order, none missing
  const epochs = all.map(({ epoch }) => epoch);
  expect(epochs).toEqual(epochs.toSorted((one, two) => one - two));
  expect(new Set(epochs)).toEqual(new Set([first, second, third].map(epochIn)));
});

test('S11, G2: a writer that was stopped before its first write opens again, behind the one that came between', async () => {
  const first = stage.start('partition-writer', 'first', stage.folder, 'p0', 1);
  await first.ended; // the tables are there
  const db = new Database(join(stage.folder, 'partitions.db'));
  db.exec('BEGIN IMMEDIATE');
  const a = stage.start('partition-writer', 'a', stage.folder, 'p0', 3, TTL, 5);
  const leases = await stage.connect();
  await stage.until('a lease of a', () => leases.isLocked('orders/p0'));
  a.process.kill('SIGSTOP'); // it waits for the lock of the partitions
  db.exec('COMMIT');
  db.close();
  const b = stage.start('partition-writer', 'b', stage.folder, 'p0', 100_000, TTL, 5);
  const second = await stage.line(/^b opened p0 at 2, epoch/);
  await stage.until('records of b', () => writtenBy('b') > 5);
  a.process.kill('SIGCONT');
  await stage.until('a in the queue', async () => (await leases.show('orders/p0')).queueLength > 0);
  await b.kill();
  const third = await stage.line(/^a opened p0 at \d+, epoch/);
  expect(epochIn(third)).toBeGreaterThan(epochIn(second));
  expect(await a.ended).toBe(0);
  expect(writtenBy('a')).toBe(3);
  const all = records();
  expect(all.map(({ n }) => n)).toEqual(all.map((_, i) => i + 1));
});

test('it runs by itself, with nothing but a folder', async () => {
  const a = stage.start('partition-writer', 'a', stage.folder);
  await stage.line(/^a wrote 5 records, the last is 5$/);
  expect(await a.ended).toBe(0);
  expect(records()).toHaveLength(5);
});
