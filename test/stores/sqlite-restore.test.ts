// restore of a SQLite file on bad days: the file is gone and what a killed process left beside it is still there, others make
// it anew at the same moment, it is damaged. Real files and real processes; the plain days are in test/cli/upkeep.test.ts.
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import Driver from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqlite, restoreSqlite, type SqliteStore } from '../../src/stores/sqlite/index.js';
import { systemClock } from '../../src/system-clock.js';
import { ask, grant } from '../support/ask.js';
import { startChild } from '../support/child.js';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.js';

const PAGE = 4_096;
const clock = systemClock();
let folder: TemporaryFolder;
let file: string;
let backup: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'leases.db');
  backup = join(folder.path, 'monday.db');
});
afterEach(() => {
  folder.remove();
});

const open = (path = file): Promise<SqliteStore> => openSqlite(`sqlite:${path}`, { clock });
const restore = (): ReturnType<typeof restoreSqlite> => restoreSqlite(`sqlite:${file}`, backup, clock);
const integrity = (path = file): unknown => {
  const db = new Driver(path);
  const found = db.pragma('integrity_check(1)', { simple: true });
  db.close();
  return found;
};

/** A store with a backup, and then a process that took a lease and was killed: its WAL is still there. */
async function killedAfterBackup(): Promise<{ incarnation: string; epoch: number }> {
  const child = startChild('sqlite-child.mjs', file, 'killed');
  await child.line('open');
  const store = await open();
  await grant(store, clock, 'before');
  await store.backup(backup);
  child.tell('hold after 600000');
  const [, , epoch] = (await child.line('held')).split(' ');
  const { incarnation } = await store.time();
  await store.close();
  child.process.kill('SIGKILL');
  await child.ended;
  expect(existsSync(`${file}-wal`)).toBe(true);
  return { incarnation, epoch: Number(epoch) };
}

test('C7, S2: where the file is gone, the WAL of a killed process is not played into the backup', async () => {
  const old = await killedAfterBackup();
  renameSync(file, `${file}.away`);
  const restored = await restore();
  expect(restored).toEqual({ outcome: 'restored', path: file, incarnation: expect.any(String) as string });
  expect(restored).not.toMatchObject({ incarnation: old.incarnation });
  const store = await open();
  expect((await store.events({ limit: 100, resource: 'after' })) as object).toMatchObject({ rows: [] });
  expect((await store.events({ limit: 100, resource: 'before' })) as object).toMatchObject({
    rows: [{ type: 'lease.acquired' }],
  });
  expect((await grant(store, clock, 'after')).epoch).toBeGreaterThan(old.epoch);
  await store.close();
  expect(integrity()).toBe('ok');
});

test('C7: among processes that make the missing file themselves, no grant is lost: it is in the store or was kept', async () => {
  await killedAfterBackup();
  for (let round = 0; round < 4; round += 1) {
    rmSync(file);
    const maker = startChild('sqlite-child.mjs', file, 'maker');
    if (round % 2 === 1) await maker.line('open');
    const { outcome } = await restore();
    maker.tell('hold made 600000');
    const [, id = ''] = (await maker.line('held')).split(' ');
    const ids = readdirSync(folder.path)
      .filter((name) => /^leases\.db(\.replaced-\w+)?$/.test(name))
      .flatMap((name) => {
        const db = new Driver(join(folder.path, name));
        const found = db.prepare('SELECT id FROM journal').pluck().all();
        db.close();
        return found;
      });
    expect(ids, outcome).toContain(id);
    maker.tell('close');
    await maker.ended;
    expect(integrity()).toBe('ok');
  }
});

/** Bad sectors: every seventh page, past those of the schema. */
function damage(path: string): void {
  const raw = openSync(path, 'r+');
  for (let at = 40 * PAGE; at < statSync(path).size; at += 7 * PAGE)
    writeSync(raw, Buffer.alloc(PAGE, 'Z'), 0, PAGE, at);
  closeSync(raw);
}

test('C7: a damaged file is replaced, and kept byte by byte', async () => {
  const store = await open();
  const template = await ask(store, clock, 'x', { metadata: { text: 'x'.repeat(2_000) } });
  const requests = Array.from({ length: 200 }, (_, i) => ({
    ...template,
    id: `${template.id.slice(0, 20)}x${i}`,
    parts: [{ name: `x/${i}`, scope: 'node' as const, mode: 'exclusive' as const }],
  }));
  await store.acquire(requests);
  await store.backup(backup);
  await store.close();
  damage(file);
  const bytes = readFileSync(file).subarray(100); // what is behind the header, which says in which mode the file is
  const restored = await restore();
  expect(restored).toMatchObject({ outcome: 'restored', replaced: expect.stringContaining('.replaced-') as string });
  expect(integrity()).toBe('ok');
  const kept = readdirSync(folder.path).filter((name) => name.includes('replaced'));
  expect(kept).toHaveLength(1);
  expect(
    readFileSync(join(folder.path, kept[0] ?? ''))
      .subarray(100)
      .equals(bytes),
  ).toBe(true);
  const again = await open();
  expect((await again.events({ limit: 1, resource: 'x/199' })) as object).toMatchObject({ outcome: 'rows' });
  await again.close();
});

test('C7: one that is damaged too much to be locked is left as it is, with a word on what to do', async () => {
  await killedAfterBackup();
  const raw = openSync(file, 'r+');
  writeSync(raw, Buffer.alloc(statSync(file).size - 100, 'Z'), 0, undefined, 100);
  closeSync(raw);
  rmSync(`${file}-wal`);
  const bytes = readFileSync(file);
  await expect(restore()).rejects.toMatchObject({
    code: 'STORE_INCOMPATIBLE',
    message: expect.stringContaining('move it away') as string,
  });
  expect(readFileSync(file).equals(bytes)).toBe(true);
  expect(readdirSync(folder.path).filter((name) => /partial|replaced/.test(name))).toEqual([]);
  renameSync(file, `${file}.away`);
  expect(await restore()).toMatchObject({ outcome: 'restored' });
});
