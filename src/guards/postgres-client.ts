// What guards need of a PostgreSQL client: `query(sql, values)` inside a transaction that the caller has begun. Anything with
// that method will do; a pool will not, because each of its queries may go to another connection.
import { invalid, LeaseError, shown } from '../domain/errors.js';

export interface PostgresTransaction {
  query(sql: string, values?: unknown[]): Promise<unknown>;
}

type Row = Record<string, unknown>;

export function checkPostgres(value: unknown, guard: string): PostgresTransaction {
  const given = value as (Partial<PostgresTransaction> & { totalCount?: unknown }) | null | undefined;
  if (typeof given?.query !== 'function') {
    throw invalid(`${guard} takes a client with query(sql, values), got ${shown(value)}`);
  }
  if (typeof given.totalCount === 'number') {
    throw invalid(
      `${guard} was given a pool: take a client with pool.connect(), BEGIN there, and give that client to the guard`,
    );
  }
  return value as PostgresTransaction;
}

/** Drivers answer `{ rows }` or the rows themselves. */
export function rowsOf(answer: unknown): Row[] {
  if (Array.isArray(answer)) return answer as Row[];
  const rows = (answer as { rows?: unknown } | null | undefined)?.rows;
  if (Array.isArray(rows)) return rows as Row[];
  throw invalid('the client does not answer rows: pass one whose query() resolves to { rows }');
}

/** Two statements outside a transaction are two transactions: the lock of the first is gone before the write. */
export function checkOneTransaction(first: string, second: string): void {
  if (first === second) return;
  throw invalid(
    'a guard works inside the transaction of the write: BEGIN on this client first, COMMIT after the write',
  );
}

/** As the store knows it: five capitals and digits, with a digit. System errors of five letters (EPIPE) have none. */
export function sqlStateOf(error: unknown): string {
  const code: unknown = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : '';
}

const AGAIN: Readonly<Record<string, string>> = {
  '40001': 'others have changed what this transaction looks at: run it again from its BEGIN',
  '40P01': 'the database broke a deadlock: run the transaction again from its BEGIN',
  '55P03': 'a lock was not free within lock_timeout: run the transaction again',
  '57014': 'a statement of the guard ran into statement_timeout: run the transaction again',
};

/** The caller's transaction is aborted by any of these; LeaseErrors pass through. */
export function translatePostgres(error: unknown): LeaseError {
  if (error instanceof LeaseError) return error;
  const state = sqlStateOf(error);
  const details = { sqlState: state };
  const again = AGAIN[state];
  if (again !== undefined) {
    return new LeaseError('STORE_UNAVAILABLE', again, { retryable: true, cause: error, details });
  }
  if (state === '42501') {
    return new LeaseError(
      'FORBIDDEN',
      'this role may not lock the rows of the guard: grant it SELECT and UPDATE on them',
      {
        cause: error,
        details,
      },
    );
  }
  const isLost = state === '' || state.startsWith('08') || state.startsWith('57P') || state.startsWith('53');
  const said = error instanceof Error ? error.message : String(error);
  return new LeaseError('STORE_UNAVAILABLE', `the guard could not ask the database: ${said}`, {
    retryable: isLost,
    cause: error,
    details,
  });
}
