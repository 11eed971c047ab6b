// guardSqlite (G2): the writes of a lease in the caller's own SQLite database are admitted by a gate table in that database,
// inside the caller's transaction. With the lease file itself attached, the lease row is the gate.
import { checkKeys } from '../domain/check-keys.js';
import type { HeldLease } from '../manager/face.js';
import { tellRejected } from '../manager/origin.js';
import { findAttached, guardAttached } from './attached-lease.js';
import { writesOf } from './fence.js';
import { checkSqlite, enterSqlite, translateSqlite, type SqliteDatabase } from './sqlite-fence.js';

export interface GuardSqliteOptions {
  /** Of the gate; `holdfast_gate` unless given. */
  table?: string;
}

const KNOWN: ReadonlySet<string> = new Set<keyof GuardSqliteOptions>(['table']);

/** Throws STALE_EPOCH when a newer holder has written or claimed; then the transaction must not be committed. */
export function guardSqlite(db: SqliteDatabase, lease: HeldLease, options: GuardSqliteOptions = {}): void {
  const database = checkSqlite(db, 'guardSqlite');
  checkKeys(options, KNOWN, 'of guardSqlite');
  try {
    const attached = findAttached(database, lease);
    if (attached === undefined) enterSqlite(database, writesOf(lease), options.table);
    else guardAttached(database, attached, lease);
  } catch (error) {
    throw tellRejected(lease, 'guardSqlite', translateSqlite(error));
  }
}
