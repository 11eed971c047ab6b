// A file that can be reached by several names: whoever opens it by any of them is in the same store, or is refused. Real links
// and real processes.
import { linkSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqlite, restoreSqlite, type SqliteStore } from '../../src/stores/sqlite/index.js';
import { systemClock } from '../../src/system-clock.js';
import { grant } from '../support/ask.js';
import { startChild } from '../support/child.js';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.js';

const clock = systemClock();
let folder: TemporaryFolder;
let file: string;
let link: string;
beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(join(folder.path, 'volume'));
  file = join(folder.path, 'volume', 'leases.db');
  link = join(folder.path, 'leases.db');
});
afterEach(() => {
  folder.remove();
});

const open = (path = file, readOnly = false): Promise<SqliteStore> => openSqlite(`sqlite:${path}`, { clock, readOnly });

test('S1: a file with two names has no two holders of one name: opening it by either is refused', async () => {
  await (await open()).close();
  linkSync(file, link);
  for (const name of [file, link]) {
    const child = startChild('sqlite-child.mjs', name, 'either');
    expect(await child.line('failed')).toMatch(/^failed STORE_INCOMPATIBLE .* has 2 names \(hard links\).*-samefile/);
    await child.ended;
  }
  const looking = await open(link, true);
  expect((await looking.list({ limit: 1 })).items).toEqual([]);
  await looking.close();
  rmSync(link);
  const store = await open();
  await grant(store, clock, 'a');
  await store.close();
});

test('C7: a file with two names is not replaced: the other name would be left with what is no store', async () => {
  const store = await open();
  const backup = join(folder.path, 'monday.db');
  await store.backup(backup);
  await store.close();
  linkSync(file, link);
  await expect(restoreSqlite(`sqlite:${file}`, backup, clock)).rejects.toMatchObject({ code: 'STORE_INCOMPATIBLE' });
  rmSync(file);
  await (await open(link)).close();
});

test.each(['the file', 'the directory'])(
  'C7, Q3: by a link to %s it is the same store, restored as well',
  async (what) => {
    let name = link;
    if (what === 'the file')
      symlinkSync('volume/leases.db', link); // which is not made yet
    else {
      symlinkSync('volume', join(folder.path, 'by-link'));
      name = join(folder.path, 'by-link', 'leases.db');
    }
    const [byLink, direct] = [await open(name), await open()];
    const held = await grant(byLink, clock, 'a');
    expect((await direct.get([held.id])).items[0]).toMatchObject({ status: 'active' });
    expect((await byLink.health()) as object).toMatchObject({ path: file });
    const backup = join(folder.path, 'monday.db');
    await byLink.backup(backup);
    await byLink.close();
    await direct.close();
    expect(await restoreSqlite(`sqlite:${name}`, backup, clock)).toMatchObject({ outcome: 'restored', path: file });
    const again = [await open(name), await open()];
    const lives = await Promise.all(again.map(async (store) => (await store.time()).incarnation));
    expect(lives[0]).toBe(lives[1]);
    for (const store of again) await store.close();
    if (what === 'the file') expect(lstatSync(link).isSymbolicLink()).toBe(true);
    const beside = readdirSync(folder.path).filter((one) => /^leases\.db./.test(one));
    expect(beside).toEqual([]);
    await expect(restoreSqlite(`sqlite:${file}`, name, clock)).rejects.toThrow('is the store itself');
  },
);
