// restore (C7): a backup in the place of a store's file. The copy is made beside its final name and checked before
// anything is touched; the old file is locked for good while it is replaced, so nobody goes on working in it, and is
// kept as a backup of its own. Whoever opens the file next begins a new incarnation, with every epoch counter lifted (S2).
import { closeSync, existsSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { resolve as resolvePath } from 'node:path';
import Driver, { type Database } from 'better-sqlite3';
import type { Clock } from '../../domain/clock.js';
import { invalid, LeaseError } from '../../domain/errors.js';
import { markAsBackup } from './backup.js';
import { readAnchor } from './file-clock.js';
import { refuseMissingFolder } from './file-system.js';
import { pendingMigrations, refuseForeignFile } from './open-file.js';
import { openSqlite } from './open-sqlite.js';
import { parseSqliteUrl } from './sqlite-url.js';
import { codeOf, isBusy, translateCopyError, translateError } from './translate-error.js';

export type Restored =
  | { readonly outcome: 'restored'; readonly path: string; readonly incarnation: string; readonly replaced?: string }
  /** Somebody else has the file open: nothing was changed. */
  | { readonly outcome: 'inUse'; readonly path: string };

const BUSY_TIMEOUT_MS = 200;
/** Over the whole header of the replaced file, its change counter included: nobody trusts what it has cached. */
const RETIRED = Buffer.alloc(100, 'replaced by a restore ');

export async function restoreSqlite(url: string, backup: string, clock: Clock): Promise<Restored> {
  const { path } = parseSqliteUrl(url);
  const source = resolvePath(backup);
  if (!existsSync(source)) throw invalid(`there is no file ${source}: name a backup made with \`holdfast backup\``);
  if (source === path) throw invalid(`${source} is the store itself: name a backup of it`);
  refuseMissingFolder(path);
  const partial = `${path}.partial-${clock.randomText()}`;
  let replaced: string | undefined;
  try {
    takeCopy(source, partial, path);
    if (existsSync(path)) {
      replaced = `${path}.replaced-${stamp(clock.wall())}`;
      if (!replace(path, partial, replaced)) return { outcome: 'inUse', path };
    } else {
      linkSync(partial, path); // fails when somebody has made the file meanwhile
    }
  } catch (error) {
    throw codeOf(error) === 'EEXIST' ? inTheWay(path) : translateError(error, path);
  } finally {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(partial + end, { force: true });
  }
  const store = await openSqlite(url, { clock });
  const { incarnation } = await store.time();
  await store.close();
  return { outcome: 'restored', path, incarnation, ...(replaced === undefined ? {} : { replaced }) };
}

/** A copy that is whole, ours, of a known schema, and marked; it is to become `path`. The source is only read. */
function takeCopy(source: string, partial: string, path: string): void {
  const original = new Driver(source, { readonly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    refuseForeignFile(original, source);
    if (readAnchorOf(original) === undefined) throw notABackup(source);
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

function readAnchorOf(db: Database): unknown {
  const hasMeta = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'meta'").get() !== undefined;
  return hasMeta ? readAnchor(db) : undefined;
}

/** Alone with the old file. Whoever opened it a moment ago finds it locked and then unreadable, and opens the new one:
 *  two files under one name would share one WAL. */
function replace(path: string, partial: string, kept: string): boolean {
  const old = new Driver(path, { timeout: BUSY_TIMEOUT_MS });
  let raw: number | undefined;
  try {
    refuseForeignFile(old, path);
    if (!lockForGood(old)) return false;
    raw = openSync(path, 'r+');
    old.prepare('VACUUM INTO ?').run(kept);
    if (readAnchorOf(old) !== undefined) markAsBackup(kept);
    renameSync(partial, path);
    writeSync(raw, RETIRED, 0);
    return true;
  } finally {
    old.close();
    if (raw !== undefined) closeSync(raw); // last: closing it gives up whatever lock this process has on the file
  }
}

/** Leaving WAL mode needs the file to oneself; in this locking mode the lock then stays until it is closed. */
function lockForGood(old: Database): boolean {
  try {
    old.pragma('locking_mode = EXCLUSIVE');
    if (old.pragma('journal_mode = DELETE', { simple: true }) !== 'delete') return false;
    old.exec('BEGIN EXCLUSIVE; COMMIT');
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

function stamp(wall: number): string {
  return new Date(wall).toISOString().replaceAll(/[-:]/g, '').replace('.', '');
}

function inTheWay(path: string): LeaseError {
  return new LeaseError('STORE_UNAVAILABLE', `somebody made ${path} meanwhile: nothing was replaced, try again`);
}
function notABackup(source: string): LeaseError {
  return invalid(`${source} is no lease file: name a backup made with \`holdfast backup\``);
}
function damaged(source: string): LeaseError {
  return new LeaseError('STORE_INCOMPATIBLE', `${source} is damaged: name another backup`, { details: { source } });
}
