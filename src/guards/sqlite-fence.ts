// The fence as a table of the caller's own SQLite database (G2, G4), inside the caller's transaction and without a promise.
//
// The write lock is taken before anything is read: a transaction that has read already may stand on an old snapshot, and
// SQLite then refuses it the lock. What is looked at is therefore always the newest state, and stays so until the commit.
import { invalid, LeaseError, shown } from '../domain/errors.js';
import { namesAbove, rangeBelow } from '../domain/resource-name.js';
import { closedBy, NO_MARKS, raised, staleWrite, type CheckedWrite, type Marks } from './fence.js';
import { DEFAULT_TABLE, gateTableSql, quoted } from './gate-table.js';

export interface SqliteStatement {
  run(...values: unknown[]): unknown;
  get(...values: unknown[]): unknown;
  all(...values: unknown[]): unknown[];
  safeIntegers?(on: boolean): SqliteStatement;
}
/** What is used of a better-sqlite3 database. */
export interface SqliteDatabase {
  readonly inTransaction: boolean;
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
}

export function isSqliteDatabase(value: unknown): value is SqliteDatabase {
  const given = value as Partial<SqliteDatabase> | null | undefined;
  return (
    typeof given?.prepare === 'function' && typeof given.exec === 'function' && typeof given.inTransaction === 'boolean'
  );
}

export function checkSqlite(value: unknown, guard: string): SqliteDatabase {
  if (!isSqliteDatabase(value)) throw invalid(`${guard} takes a better-sqlite3 database, got ${shown(value)}`);
  if (value.inTransaction) return value;
  throw invalid(`${guard} works inside the transaction of the write: call it in db.transaction(() => { … })`);
}

interface Statements {
  readonly lock: SqliteStatement;
  readonly own: SqliteStatement;
  readonly above: SqliteStatement;
  readonly below: SqliteStatement;
  readonly save: SqliteStatement;
}
const prepared = new WeakMap<SqliteDatabase, Map<string, Statements>>();

/** Admits the writes, all or none, or throws STALE_EPOCH. */
export function enterSqlite(db: SqliteDatabase, writes: readonly CheckedWrite[], table: string = DEFAULT_TABLE): void {
  try {
    enter(locked(db, table), writes);
  } catch (error) {
    throw translateSqlite(error);
  }
}

/** A write comes first, whether the table is there or not: SQLite waits for the lock only in a transaction that has not read
 *  yet. A table that is missing is made; a transaction that is rolled back takes it away again. */
function locked(db: SqliteDatabase, table: string): Statements {
  try {
    const sql = statementsFor(db, table);
    sql.lock.run();
    return sql;
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('no such table')) throw error;
  }
  db.exec(gateTableSql('sqlite', table));
  const sql = statementsFor(db, table);
  sql.lock.run(); // somebody else may have made the table meanwhile, and then making it took no lock
  return sql;
}

function enter(sql: Statements, writes: readonly CheckedWrite[]): void {
  const ownOf = (write: CheckedWrite): Marks => (sql.own.get(write.resource) as Marks | undefined) ?? NO_MARKS;
  for (const write of writes) {
    const names = namesAbove(write.resource);
    const above = names.length === 0 ? [] : (sql.above.all(JSON.stringify(names)) as Marks[]);
    const { from, to } = rangeBelow(write.resource);
    const below = write.scope === 'subtree' ? (sql.below.get(from, to) as Marks) : NO_MARKS;
    const current = closedBy(write, { own: ownOf(write), above, below });
    if (current > 0) throw staleWrite(write, current);
  }
  for (const write of writes) {
    const own = ownOf(write);
    const next = raised(own, write);
    if (next === own) continue;
    sql.save.run(write.resource, next.exclusive, next.any, next.subtreeExclusive, next.subtreeAny);
  }
}

function statementsFor(db: SqliteDatabase, table: string): Statements {
  const tables = prepared.get(db) ?? new Map<string, Statements>();
  prepared.set(db, tables);
  const known = tables.get(table);
  if (known) return known;
  const name = quoted(table);
  const prepare = (sql: string): SqliteStatement => {
    const statement = db.prepare(sql);
    return statement.safeIntegers?.(false) ?? statement;
  };
  const columns = `exclusive, any_epoch AS "any", subtree_exclusive AS subtreeExclusive, subtree_any AS subtreeAny`;
  const fresh: Statements = {
    lock: prepare(`UPDATE ${name} SET any_epoch = any_epoch WHERE name = ''`),
    own: prepare(`SELECT ${columns} FROM ${name} WHERE name = ?`),
    above: prepare(`SELECT ${columns} FROM ${name} WHERE name IN (SELECT value FROM json_each(?))`),
    below: prepare(
      `SELECT coalesce(max(exclusive), 0) AS exclusive, coalesce(max(any_epoch), 0) AS "any"
       FROM ${name} WHERE name >= ? AND name < ?`,
    ),
    save: prepare(
      `INSERT OR REPLACE INTO ${name} (name, exclusive, any_epoch, subtree_exclusive, subtree_any) VALUES (?, ?, ?, ?, ?)`,
    ),
  };
  tables.set(table, fresh);
  return fresh;
}

export function translateSqlite(error: unknown): unknown {
  if (error instanceof LeaseError) return error;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === 'SQLITE_BUSY_SNAPSHOT') {
    return failed('others have written since this transaction began to read: run it again, best as IMMEDIATE', true);
  }
  if (code.startsWith('SQLITE_BUSY') || code === 'SQLITE_LOCKED') {
    return failed('the database is locked by another writer: run the transaction again', true);
  }
  if (code === 'SQLITE_FULL') {
    return failed('the disk that holds the database is full: free some space, and run the transaction again', true);
  }
  return failed(`the gate in the database failed: ${error instanceof Error ? error.message : String(error)}`, false);

  function failed(message: string, retryable: boolean): LeaseError {
    return new LeaseError('STORE_UNAVAILABLE', message, { retryable, cause: error, details: { driverCode: code } });
  }
}
