// A gate as a table beside the data it protects (G4): check and effect are one transaction, the caller's own. One gate
// object per transaction; it keeps nothing itself.
import { invalid, shown } from '../domain/errors.js';
import type { CheckedWrite } from './fence.js';
import { DEFAULT_TABLE, quoted } from './gate-table.js';
import { gateOf, type FenceGate } from './gate.js';
import { checkPostgres, type PostgresTransaction } from './postgres-client.js';
import { enterPostgres } from './postgres-fence.js';
import { checkSqlite, enterSqlite, isSqliteDatabase, type SqliteDatabase } from './sqlite-fence.js';

/** `tx`: a PostgreSQL client inside a transaction, or a better-sqlite3 database inside one. */
export function sqlGate(tx: PostgresTransaction | SqliteDatabase, table: string = DEFAULT_TABLE): FenceGate {
  quoted(table); // a name that cannot be used is refused at once
  const given: unknown = tx;
  if (isSqliteDatabase(given)) {
    return gateOf('sqlGate', async (writes: readonly CheckedWrite[]) => {
      enterSqlite(checkSqlite(given, 'sqlGate'), writes, table);
    });
  }
  if (typeof (given as Partial<PostgresTransaction> | null)?.query !== 'function') {
    throw invalid(
      `sqlGate takes a PostgreSQL client inside a transaction, or a better-sqlite3 database, got ${shown(given)}`,
    );
  }
  const client = checkPostgres(given, 'sqlGate');
  return gateOf('sqlGate', (writes) => enterPostgres(client, writes, table));
}
