// A commit, or a reader's `done`, inside the caller's own transaction (N2, N5). The caller brings a client on which it has begun
// one; what is changed there is its own number's row, or its own reader's, and stands or falls with the COMMIT.
//
// The function is told which transaction the client was in a moment before, and refuses another: a client that is in none
// would commit at once, before the caller's own writes.
import { invalid, LeaseError, shown } from '../../domain/errors.js';
import type { Reply } from '../store.js';
import { parseReply, type SchemaCalls } from './schema-calls.js';
import { translateError } from './translate-error.js';

interface Transaction {
  query(sql: string, values?: unknown[]): Promise<unknown>;
}

export async function callIn<T>(
  calls: SchemaCalls,
  given: unknown,
  name: string,
  valuesFor: (transaction: string) => readonly unknown[],
): Promise<Reply & { body: T }> {
  const tx = checkTransaction(given);
  try {
    const [first] = rowsOf(await tx.query('SELECT pg_current_xact_id()::text AS xact'));
    const values = valuesFor(String(first?.['xact']));
    const [row] = rowsOf(await tx.query(calls.text(name, values.length), [...values]));
    return parseReply<T>(String(row?.['reply']));
  } catch (error) {
    throw translated(error, calls);
  }
}

function checkTransaction(given: unknown): Transaction {
  const tx = given as (Partial<Transaction> & { totalCount?: unknown }) | null | undefined;
  if (typeof tx?.query !== 'function') throw invalid(`tx is a client with query(sql, values), got ${shown(given)}`);
  if (typeof tx.totalCount === 'number') {
    throw invalid('tx is a pool: take a client with pool.connect(), BEGIN there, and give that client');
  }
  return given as Transaction;
}

/** Drivers answer `{ rows }` or the rows themselves. */
function rowsOf(answer: unknown): Record<string, unknown>[] {
  const rows: unknown = Array.isArray(answer) ? answer : (answer as { rows?: unknown } | null | undefined)?.rows;
  if (Array.isArray(rows)) return rows as Record<string, unknown>[];
  throw invalid('tx does not answer rows: pass a client whose query() resolves to { rows }');
}

/** Of the caller's connection: what may pass means that the transaction is to be run again, from its BEGIN. */
function translated(error: unknown, calls: SchemaCalls): LeaseError {
  const found = translateError(error, calls.place);
  if (!found.retryable || error instanceof LeaseError) return found;
  return new LeaseError(found.code, `${found.message}: run the transaction again from its BEGIN`, {
    details: found.details,
    retryable: true,
    cause: error,
  });
}
