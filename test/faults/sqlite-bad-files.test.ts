// Files that cannot be used: each gives a LeaseError with its code and a sentence that says what to do.
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import Driver from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/stores/sqlite/index.js';
import { applyMigrations, refuseForeignFile } from '../../src/stores/sqlite/open-file.js';
import { MIGRATIONS } from '../../src/stores/sqlite/schema.js';
import { networkFileSystem } from '../../src/stores/sqlite/file-system.js';
import { systemClock } from '../../src/system-clock.js';
import { grant } from '../support/ask.js';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.js';

const clock = systemClock();
let folder: TemporaryFolder;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'leases.db');
});
afterEach(() => {
  folder.remove();
});

describe('what is in the file', () => {
  test('S18: a file that is not a database is left alone', async () => {
    writeFileSync(file, 'this is a shopping list\n'.repeat(100));
    await expect(openSqlite(`sqlite:${file}`, { clock })).rejects.toMatchObject({
      code: 'STORE_INCOMPATIBLE',
      message: expect.stringContaining('not a database') as string,
    });
  });

  test('O4: a file that another process is making ours this very moment is not taken for foreign', () => {
    const [one, two] = [new Driver(file), new Driver(file)];
    two.pragma('journal_mode = WAL');
    const pragma = one.pragma.bind(one);
    one.pragma = (...args) => {
      const answer: unknown = pragma(...args);
      applyMigrations(two, file, 0); // the other one gets in between the two reads
      return answer;
    };
    expect(() => refuseForeignFile(one, file)).not.toThrow();
    one.close();
    two.close();
  });

  test('a database of another program is left alone', async () => {
    const other = new Driver(file);
    other.exec('CREATE TABLE recipes (name)');
    other.close();
    await expect(openSqlite(`sqlite:${file}`, { clock })).rejects.toMatchObject({
      code: 'STORE_INCOMPATIBLE',
      message: expect.stringContaining('other program') as string,
    });
  });

  test('O4: a newer schema, and a migration with other content, are refused', async () => {
    await (await openSqlite(`sqlite:${file}`, { clock })).close();
    const raw = new Driver(file);
    raw.exec("INSERT INTO migration VALUES ('999-from-the-future', 'x', '')");
    await expect(openSqlite(`sqlite:${file}`, { clock })).rejects.toMatchObject({
      code: 'STORE_INCOMPATIBLE',
      message: expect.stringContaining('newer') as string,
    });
    raw.exec("DELETE FROM migration WHERE name LIKE '999%'; UPDATE migration SET checksum = 'x'");
    raw.close();
    await expect(openSqlite(`sqlite:${file}`, { clock })).rejects.toMatchObject({ code: 'STORE_INCOMPATIBLE' });
  });

  test("O4: migrate: 'check' refuses a file that lacks a migration, and changes nothing", async () => {
    await expect(openSqlite(`sqlite:${file}`, { clock, migrate: 'check' })).rejects.toMatchObject({
      code: 'STORE_INCOMPATIBLE',
      message: expect.stringContaining('001-journal') as string,
    });
    const store = await openSqlite(`sqlite:${file}`, { clock });
    expect((await store.migrate()).applied).toEqual(MIGRATIONS.map(({ name }) => name));
    await store.close();
  });
});

describe('where the file is', () => {
  test('a directory that does not exist, or is a file', async () => {
    writeFileSync(join(folder.path, 'file'), '');
    for (const name of ['missing', 'file', 'file/deeper']) {
      await expect(openSqlite(`sqlite:${folder.path}/${name}/leases.db`, { clock })).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        retryable: false,
      });
    }
  });

  test('a read-only directory and a file of another owner, seen by a user without special rights', () => {
    const closed = join(folder.path, 'closed');
    mkdirSync(closed);
    chmodSync(closed, 0o555);
    chmodSync(folder.path, 0o755);
    expect(openAsNobody(join(closed, 'leases.db'))).toMatch(
      /^STORE_UNAVAILABLE false .*check that the directory exists/,
    );
    const own = join(folder.path, 'own');
    mkdirSync(own);
    chmodSync(own, 0o777);
    const theirs = join(own, 'leases.db');
    new Driver(theirs).exec('PRAGMA journal_mode = WAL; CREATE TABLE t (x)').close();
    chmodSync(theirs, 0o600);
    expect(openAsNobody(theirs)).toMatch(/^STORE_UNAVAILABLE false /);
  });

  test('a disk without room: nothing half done, nothing lost, usable again when there is room', async () => {
    const store = await openSqlite(`sqlite:${file}`, { clock });
    const kept = await grant(store, clock, 'kept');
    await store.close();
    expect(openAndFill(file)).toMatch(/^STORE_UNAVAILABLE /);
    const again = await openSqlite(`sqlite:${file}`, { clock });
    expect((await again.get([kept.id])).items[0]?.status).toBe('active');
    await grant(again, clock, 'after');
    await again.close();
  });

  test('a full disk says so, where this user may mount a small one', async (context) => {
    const disk = join(folder.path, 'disk');
    mkdirSync(disk);
    if (!mountSmallDisk(disk)) context.skip('mounting a file system is not allowed here');
    try {
      const path = join(disk, 'leases.db');
      const store = await openSqlite(`sqlite:${path}`, { clock });
      const kept = await grant(store, clock, 'kept');
      await store.close();
      expect(runProbe('exec "$1" "$2" "$3" fill', path)).toMatch(/^STORE_UNAVAILABLE true the disk .* is full/);
      const again = await openSqlite(`sqlite:${path}`, { clock });
      expect((await again.get([kept.id])).items[0]?.status).toBe('active');
      await again.close();
    } finally {
      execFileSync('umount', [disk]);
    }
  });

  test('S13: network file systems are recognised by their number, signed or not', () => {
    expect(networkFileSystem(0x6969)).toBe('NFS');
    expect(networkFileSystem(0xff534d42 | 0)).toBe('CIFS');
    expect(networkFileSystem(0x65735546)).toBe('FUSE');
    expect(networkFileSystem(0xef53)).toBeUndefined();
  });
});

describe('A8, A11: where a backup goes', () => {
  test.each([
    [
      'a directory that is not there',
      'missing/copy.db',
      /^the directory \S+\/missing cannot be used: create it first$/,
    ],
    ['a directory that is a file', 'file/copy.db', /^the directory \S+\/file cannot be used: create it first$/],
    ['one that takes no files', '/proc/copy.db', /^\/proc\/copy\.db cannot be opened: check that .* may write there$/],
  ])('%s: the target is named, and asking again does not help', async (_, name, message) => {
    writeFileSync(join(folder.path, 'file'), '');
    const store = await openSqlite(`sqlite:${file}`, { clock });
    await expect(store.backup(resolve(folder.path, name))).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      retryable: false,
      message: expect.stringMatching(message) as string,
    });
    await store.close();
  });

  test('a full disk, where this user may mount a small one: it is named, and no half file is left', async (context) => {
    const disk = join(folder.path, 'disk');
    mkdirSync(disk);
    if (!mountSmallDisk(disk)) context.skip('mounting a file system is not allowed here');
    const store = await openSqlite(`sqlite:${file}`, { clock });
    try {
      writeFileSync(join(disk, 'ballast'), Buffer.alloc(1_000_000));
      await expect(store.backup(join(disk, 'copy.db'))).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        retryable: true,
        message: expect.stringContaining(`the disk that holds ${disk}/copy.db is full`) as string,
      });
      expect(readdirSync(disk)).toEqual(['ballast']);
    } finally {
      await store.close();
      execFileSync('umount', [disk]);
    }
  });
});

test('bad URLs say what to write instead', async () => {
  const refused = async (url: string, words: string): Promise<void> => {
    await expect(openSqlite(url, { clock })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(words) as string,
    });
  };
  await refused('sqlite:', 'names no file');
  await refused('sqlite::memory:', 'memory:');
  await refused(`sqlite:${file}?chacheSize=1mb`, 'known are');
  await refused(`sqlite:${file}?cacheSize=many`, 'from 64kb');
  await refused(`sqlite:${file}?synchronous=off`, 'normal or full');
  const store = await openSqlite(`sqlite:${file}?cacheSize=64mb&synchronous=full&network=allow`, { clock });
  expect((await store.info()).capabilities.durability).toContain('power cut');
  await store.close();
});

function runProbe(shell: string, path: string): string {
  const probe = fileURLToPath(new URL('../support/open-probe-child.mjs', import.meta.url));
  return execFileSync('bash', ['-c', shell, 'bash', process.execPath, probe, path], { encoding: 'utf8' });
}

/** A root user passes every permission check, so the probe gives its rights up first. */
function openAsNobody(path: string): string {
  return runProbe('exec "$1" "$2" "$3" nobody', path);
}

function mountSmallDisk(path: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', path], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** No file may grow past 600 KiB: to SQLite that is a disk that takes no more. */
function openAndFill(path: string): string {
  return runProbe('trap \'\' XFSZ; ulimit -f 600; exec "$1" "$2" "$3" fill', path);
}
