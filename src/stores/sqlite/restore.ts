// restore (C7): a backup in the place of a store's file. The copy is made beside its final name and checked before
// anything is touched; the old file is locked for good while it is replaced, so nobody goes on working in it, and is
// kept (kept-file.ts). Whoever opens the file next begins a new incarnation, with every epoch counter lifted (S2).
import { closeSync, existsSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { resolve as resolvePath } from 'node:path';
import Driver, { type Database } from 'better-sqlite3';
import type { Clock } from '../../domain/clock.js';
import { invalid, LeaseError } from '../../domain/errors.js';
import { markAsBackup } from './backup.js';
import { hasAnchor } from './file-clock.js';
import { realFile, refuseOtherNames } from './file-name.js';
import { refuseMissingFolder } from './file-system.js';
import { keepFile } from './kept-file.js';
import { pendingMigrations, refuseForeignFile } from './open-file.js';
import { openSqlite } from './open-sqlite.js';
import { parseSqliteUrl } from './sqlite-url.js';
import { isBusy, isDamage, translateCopyError, translateError } from './translate-error.js';

export type Restored =
  | { readonly outcome: 'restored'; readonly path: string; readonly incarnation: string; readonly replaced?: string }
  /** Somebody else has the file open: nothing was changed. */
  | { readonly outcome: 'inUse'; readonly path: string };

const BUSY_TIMEOUT_MS = 200;
/** Over the whole header of the replaced file, its change counter included: nobody trusts what it has cached. */
const RETIRED = Buffer.alloc(100, 'replaced by a restore ');
/** What SQLite keeps beside a file, under its name. */
const BESIDE = ['-wal', '-shm', '-journal'];

export async function restoreSqlite(url: string, backup: string, clock: Clock): Promise<Restored> {
  const path = realFile(parseSqliteUrl(url).path);
  const source = resolvePath(backup);
  if (!existsSync(source)) throw invalid(`there is no file ${source}: name a backup made with \`holdfast backup\``);
  if (realFile(source) === path) throw invalid(`${source} is the store itself: name a backup of it`);
  refuseMissingFolder(path);
  refuseOtherNames(path);
  const partial = `${path}.partial-${clock.randomText()}`;
  let replaced: Replaced;
  try {
    takeCopy(source, partial, path);
    replaced = replace(path, partial, `${path}.replaced-${stamp(clock.wall())}`);
  } catch (error) {
    throw translateError(error, path);
  } finally {
    for (const end of ['', ...BESIDE]) rmSync(partial + end, { force: true });
  }
  if (replaced === 'inUse') return { outcome: 'inUse', path };
  const store = await openSqlite(url, { clock });
  const { incarnation } = await store.time();
  await store.close();
  return {
    outcome: 'restored',
    path,
    incarnation,
    ...(replaced.kept === undefined ? {} : { replaced: replaced.kept }),
  };
}

/** A copy that is whole, ours, of a known schema, and marked; it is to become `path`. The source is only read. */
function takeCopy(source: string, partial: string, path: string): void {
  const original = new Driver(source, { readonly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    refuseForeignFile(original, source);
    if (!hasAnchor(original)) throw notABackup(source);
    original.prepare('VACUUM INTO ?').run(partial);
  } catch (error) {
    throw translateCopyError(error, source, path);
  } finally {
    original.close();
  }
  const copy = new Driver(partial);
  try {
    pendingMigrations(copy, source);
    if (copy.pragma('quick_check(1)', { simple: true }) !== 'ok') throw damaged(source);
  } finally {
    copy.close();
  }
  markAsBackup(partial);
  const ready = new Driver(partial);
  ready.pragma('journal_mode = WAL'); // so that whoever opens it holds it from its first question on
  ready.close();
}

type Replaced = 'inUse' | { readonly kept?: string };

/** Alone with the old file. Whoever opened it a moment ago finds it locked and then unreadable, and opens the new one:
 *  two files under one name would share one WAL. A file that is missing is made first, empty: so somebody who is making it
 *  too is met at its lock, and what a killed process left beside its name is removed under that lock, or it would be played
 *  into the backup. */
function replace(path: string, partial: string, kept: string): Replaced {
  const old = new Driver(path, { timeout: BUSY_TIMEOUT_MS });
  let raw: number | undefined;
  try {
    if (!isLockedForGood(old, path)) return 'inUse';
    raw = openSync(path, 'r+');
    for (const end of BESIDE) rmSync(path + end, { force: true });
    const isEmpty = old.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0;
    if (!isEmpty) keepFile(old, raw, kept);
    renameSync(partial, path);
    writeSync(raw, RETIRED, 0);
    return isEmpty ? {} : { kept };
  } finally {
    old.close();
    if (raw !== undefined) closeSync(raw); // last: closing it gives up whatever lock this process has on the file
  }
}

/** Leaving WAL mode needs the file to oneself; in this locking mode the lock then stays until it is closed. */
function isLockedForGood(old: Database, path: string): boolean {
  try {
    refuseForeignFile(old, path);
    old.pragma('locking_mode = EXCLUSIVE');
    if (old.pragma('journal_mode = DELETE', { simple: true }) !== 'delete') return false;
    old.exec('BEGIN EXCLUSIVE; COMMIT');
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw isDamage(error) ? beyondKeeping(path, error) : error;
  }
}

function stamp(wall: number): string {
  return new Date(wall).toISOString().replaceAll(/[-:]/g, '').replace('.', '');
}

/** SQLite cannot read enough of it to lock it for everybody else. */
function beyondKeeping(path: string, cause: unknown): LeaseError {
  const what = `${path} is damaged too much to be replaced: move it away, stop who has it open, and restore again`;
  return new LeaseError('STORE_INCOMPATIBLE', what, { details: { path }, cause });
}
function notABackup(source: string): LeaseError {
  return invalid(`${source} is no lease file: name a backup made with \`holdfast backup\``);
}
function damaged(source: string): LeaseError {
  return new LeaseError('STORE_INCOMPATIBLE', `${source} is damaged: name another backup`, { details: { source } });
}
