// Opening the file: is it ours, is it on this machine's disk, is its schema the one this code knows (O4). Everything
// here may meet another process doing the same, so each step is safe to repeat.
import { createHash } from 'node:crypto';
import Driver, { type Database } from 'better-sqlite3';
import { LeaseError } from '../../domain/errors.js';
import { refuseOtherNames } from './file-name.js';
import { refuseNetworkFileSystem } from './file-system.js';
import { APPLICATION_ID, MIGRATIONS, type Migration } from './schema.js';
import type { SqliteUrl } from './sqlite-url.js';

/** How long a single statement may wait for a lock on the loop (S20). Longer waits happen in the write lane. */
const BUSY_TIMEOUT_MS = 3;

export function openDatabase(url: SqliteUrl, readOnly = false): Database {
  refuseNetworkFileSystem(url.path, url.allowNetwork);
  if (!readOnly) refuseOtherNames(url.path);
  const db = new Driver(url.path, { timeout: BUSY_TIMEOUT_MS, fileMustExist: readOnly });
  try {
    refuseForeignFile(db, url.path);
    db.pragma(readOnly ? 'query_only = ON' : 'journal_mode = WAL');
    db.pragma(`synchronous = ${url.synchronous}`);
    db.pragma(`cache_size = -${url.cacheKib}`);
    db.pragma('wal_autocheckpoint = 0');
    db.pragma('temp_store = memory');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

export function refuseForeignFile(db: Database, path: string): void {
  // One snapshot for both: another process may be making the file its first schema this very moment.
  const [id, tables] = db.transaction(() => [
    db.pragma('application_id', { simple: true }),
    db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get(),
  ])();
  if (id === APPLICATION_ID || (id === 0 && tables === 0)) return;
  throw new LeaseError('STORE_INCOMPATIBLE', `${path} is a database of some other program: name another file`, {
    details: { path, applicationId: id },
  });
}

export function checksum(migration: Migration): string {
  return createHash('sha256').update(migration.sql).digest('hex');
}

/** Names of migrations the file lacks. Throws when the file knows one this code does not, or knows it otherwise. */
export function pendingMigrations(db: Database, path: string): Migration[] {
  const applied = appliedMigrations(db);
  const known = new Map(MIGRATIONS.map((migration) => [migration.name, migration]));
  for (const [name, sum] of applied) {
    const migration = known.get(name);
    if (!migration) {
      throw new LeaseError(
        'STORE_INCOMPATIBLE',
        `${path} has the newer schema ${name}: it was opened by a newer Holdfast; upgrade this one`,
        { details: { path, migration: name } },
      );
    }
    if (checksum(migration) !== sum) {
      throw new LeaseError('STORE_INCOMPATIBLE', `${path}: migration ${name} was applied with other content`, {
        details: { path, migration: name },
      });
    }
  }
  return MIGRATIONS.filter((migration) => !applied.has(migration.name));
}

function appliedMigrations(db: Database): Map<string, string> {
  const exists = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration'").get();
  if (!exists) return new Map();
  return new Map(db.prepare<[], [string, string]>('SELECT name, checksum FROM migration').raw().all());
}

/** Applies what is missing, in one transaction: whoever gets the lock first does it, the next finds nothing to do. */
export function applyMigrations(db: Database, path: string, wall: number): string[] {
  if (pendingMigrations(db, path).length === 0) return [];
  db.exec('BEGIN IMMEDIATE');
  try {
    const pending = pendingMigrations(db, path);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.exec(
      'CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY, checksum TEXT NOT NULL, applied_at TEXT NOT NULL)',
    );
    for (const migration of pending) {
      db.exec(migration.sql);
      const appliedAt = new Date(wall).toISOString();
      db.prepare('INSERT INTO migration VALUES (?, ?, ?)').run(migration.name, checksum(migration), appliedAt);
    }
    db.exec('COMMIT');
    return pending.map((migration) => migration.name);
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}
