// backup: a copy of the file taken while others write, marked so that whoever opens it begins a new incarnation (S2).
// It is made beside its final name and renamed when it is whole: a backup that was cut short is never mistaken for one.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import Driver from 'better-sqlite3';
import { invalid } from '../../domain/errors.js';
import { readAnchor, writeAnchor, type Anchor } from './file-clock.js';
import type { SqliteFile } from './sqlite-file.js';
import { translateError } from './translate-error.js';

export async function backupFile(file: SqliteFile, path: string): Promise<void> {
  const target = resolve(path);
  if (existsSync(target)) throw invalid(`${target} exists already: name a new file for the backup`);
  const partial = `${target}.partial-${file.clock.randomText()}`;
  try {
    await file.db.backup(partial);
    markAsBackup(partial);
    renameSync(partial, target);
  } catch (error) {
    throw translateError(error, target);
  } finally {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(partial + end, { force: true });
  }
}

function markAsBackup(path: string): void {
  const copy = new Driver(path);
  try {
    copy.pragma('journal_mode = DELETE');
    writeAnchor(copy, { ...(readAnchor(copy) as Anchor), backup: true });
  } finally {
    copy.close();
  }
}
