// The table of a gate that lives in a database: one row per name, with the highest epochs seen. Rows are small and there
// are as many as there are resources that were ever written. The table is for one namespace: epochs of two do not compare.
import { invalid, shown } from '../domain/errors.js';

export const DEFAULT_TABLE = 'holdfast_gate';
export type SqlDialect = 'postgres' | 'sqlite';

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** The statement that makes the table, for the caller's own migrations. */
export function gateTableSql(dialect: SqlDialect, table: string = DEFAULT_TABLE): string {
  if (dialect !== 'postgres' && dialect !== 'sqlite') {
    throw invalid(`the dialect is 'postgres' or 'sqlite', got ${shown(dialect)}`);
  }
  const [name, number] = dialect === 'postgres' ? ['text COLLATE "C"', 'bigint'] : ['TEXT', 'INTEGER'];
  return `CREATE TABLE IF NOT EXISTS ${quoted(table)} (
  name ${name} PRIMARY KEY,
  exclusive ${number} NOT NULL,
  any_epoch ${number} NOT NULL,
  subtree_exclusive ${number} NOT NULL,
  subtree_any ${number} NOT NULL
)${dialect === 'sqlite' ? ' WITHOUT ROWID' : ''}`;
}

/** `gate` or `schema.gate`, quoted. */
export function quoted(table: unknown): string {
  const parts = typeof table === 'string' ? table.split('.') : [];
  if (parts.length < 1 || parts.length > 2 || !parts.every((part) => IDENTIFIER.test(part))) {
    throw invalid(
      `the table of a gate is a plain name such as holdfast_gate or app.holdfast_gate, got ${shown(table)}`,
    );
  }
  return parts.map((part) => `"${part}"`).join('.');
}
