// The fence as a table in the caller's own PostgreSQL database (G4), inside the caller's transaction.
//
// A write locks the row of its name, and the rows of the names above it in share mode, until the caller commits: a claim that
// would close the gate to it waits for that. Writers of one holder share the row and do not wait for each other, but for the
// first write of an epoch, which notes it. Locks first, looks after (S16). An older snapshot (REPEATABLE READ, SERIALIZABLE)
// makes the locks fail with 40001, which is answered as retryable, never as admitted.
import { invalid, LeaseError } from '../domain/errors.js';
import { compareNames, namesAbove, rangeBelow } from '../domain/resource-name.js';
import { closedBy, NO_MARKS, raised, staleWrite, type CheckedWrite, type Marks } from './fence.js';
import { gateTableSql, quoted } from './gate-table.js';
import {
  checkOneTransaction,
  rowsOf,
  sqlStateOf,
  translatePostgres,
  type PostgresTransaction,
} from './postgres-client.js';

type Look = ReadonlyMap<string, Marks>;

export async function enterPostgres(
  tx: PostgresTransaction,
  writes: readonly CheckedWrite[],
  table: string,
): Promise<void> {
  try {
    await enter(tx, writes, quoted(table));
  } catch (error) {
    if (sqlStateOf(error) !== '42P01') throw translatePostgres(error);
    const sql = gateTableSql('postgres', table);
    throw new LeaseError(
      'INVALID_ARGUMENT',
      `the table of the gate is missing: create it with gateTableSql(): ${sql}`,
      {
        cause: error,
      },
    );
  }
}

async function enter(tx: PostgresTransaction, writes: readonly CheckedWrite[], table: string): Promise<void> {
  const own = sorted(writes.map((write) => write.resource));
  const subtrees = writes.filter((write) => write.scope === 'subtree');
  const all = sorted([...own, ...own.flatMap((name) => namesAbove(name))]);

  const first = await look(tx, table, all);
  if (subtrees.length > 0 && first.isolation !== 'read committed') {
    throw invalid(`a subtree is fenced in READ COMMITTED only: this transaction is ${first.isolation.toUpperCase()}`);
  }
  const isKnown = writes.every((write) => isNoted(first.seen, write)) && all.every((name) => first.seen.has(name));
  if (isKnown && subtrees.length === 0) {
    const { seen, xact } = await lock(tx, table, all, 'SHARE');
    checkOneTransaction(first.xact, xact);
    refuseStale(writes, seen, NOTHING_BELOW);
    return;
  }
  const missing = all.filter((name) => !first.seen.has(name));
  if (missing.length > 0) await make(tx, table, missing);
  const now = new Map<string, Marks>();
  for (const { names, mode } of inOrder(all, own)) {
    const { seen, xact } = await lock(tx, table, names, mode);
    checkOneTransaction(first.xact, xact);
    for (const [name, marks] of seen) now.set(name, marks);
  }
  const below = new Map<string, Marks>();
  for (const { resource } of subtrees) below.set(resource, await highestBelow(tx, table, resource));
  refuseStale(writes, now, below);
  await save(tx, table, writes, now);
}

type LockMode = 'SHARE' | 'UPDATE';

/** Everybody locks by name, also where one of several names lies above another: a statement for each stretch of one mode. */
function inOrder(all: readonly string[], own: readonly string[]): { names: string[]; mode: LockMode }[] {
  const stretches: { names: string[]; mode: LockMode }[] = [];
  const owned = new Set(own);
  for (const name of all) {
    const mode = owned.has(name) ? 'UPDATE' : 'SHARE';
    const last = stretches.at(-1);
    if (last?.mode === mode) last.names.push(name);
    else stretches.push({ names: [name], mode });
  }
  return stretches;
}

const NOTHING_BELOW: Look = new Map();

function isNoted(seen: Look, write: CheckedWrite): boolean {
  const own = seen.get(write.resource);
  return own !== undefined && raised(own, write) === own;
}

function refuseStale(writes: readonly CheckedWrite[], seen: Look, below: Look): void {
  for (const write of writes) {
    const above = namesAbove(write.resource).map((name) => seen.get(name) ?? NO_MARKS);
    const own = seen.get(write.resource) ?? NO_MARKS;
    const current = closedBy(write, { own, above, below: below.get(write.resource) ?? NO_MARKS });
    if (current > 0) throw staleWrite(write, current);
  }
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort(compareNames);
}

const COLUMNS =
  'name, exclusive::text AS exclusive, any_epoch::text AS any_epoch, subtree_exclusive::text AS subtree_exclusive, subtree_any::text AS subtree_any';

async function look(
  tx: PostgresTransaction,
  table: string,
  names: readonly string[],
): Promise<{ seen: Look; xact: string; isolation: string }> {
  const [row = {}] = rowsOf(
    await tx.query(
      `SELECT pg_current_xact_id()::text AS xact, current_setting('transaction_isolation') AS isolation,
         (SELECT json_agg(g)::text FROM (SELECT ${COLUMNS} FROM ${table} WHERE name = ANY($1::text[])) g) AS seen`,
      [names],
    ),
  );
  const found = typeof row['seen'] === 'string' ? (JSON.parse(row['seen']) as Record<string, unknown>[]) : [];
  return { seen: marksOf(found), xact: String(row['xact']), isolation: String(row['isolation']) };
}

async function lock(
  tx: PostgresTransaction,
  table: string,
  names: readonly string[],
  mode: LockMode,
): Promise<{ seen: Look; xact: string }> {
  const rows = rowsOf(
    await tx.query(
      `SELECT pg_current_xact_id()::text AS xact, ${COLUMNS} FROM ${table} WHERE name = ANY($1::text[])
       ORDER BY name FOR ${mode}`,
      [names],
    ),
  );
  if (rows.length < names.length) {
    throw new LeaseError('STORE_UNAVAILABLE', 'rows of the gate were deleted meanwhile: run the transaction again');
  }
  return { seen: marksOf(rows), xact: String(rows[0]?.['xact']) };
}

async function make(tx: PostgresTransaction, table: string, names: readonly string[]): Promise<void> {
  await tx.query(
    `INSERT INTO ${table} (name, exclusive, any_epoch, subtree_exclusive, subtree_any)
     SELECT name, 0, 0, 0, 0 FROM unnest($1::text[]) WITH ORDINALITY AS t(name, place) ORDER BY place
     ON CONFLICT (name) DO NOTHING`,
    [names],
  );
}

async function highestBelow(tx: PostgresTransaction, table: string, name: string): Promise<Marks> {
  const { from, to } = rangeBelow(name);
  const [row = {}] = rowsOf(
    await tx.query(
      `SELECT coalesce(max(exclusive), 0)::text AS exclusive, coalesce(max(any_epoch), 0)::text AS any_epoch
       FROM ${table} WHERE name >= $1 COLLATE "C" AND name < $2 COLLATE "C"`,
      [from, to],
    ),
  );
  return { ...NO_MARKS, exclusive: Number(row['exclusive']), any: Number(row['any_epoch']) };
}

async function save(
  tx: PostgresTransaction,
  table: string,
  writes: readonly CheckedWrite[],
  seen: Map<string, Marks>,
): Promise<void> {
  for (const write of writes) {
    const own = seen.get(write.resource) ?? NO_MARKS;
    const next = raised(own, write);
    if (next === own) continue;
    seen.set(write.resource, next);
    await tx.query(
      `UPDATE ${table} SET exclusive = $2, any_epoch = $3, subtree_exclusive = $4, subtree_any = $5 WHERE name = $1`,
      [write.resource, next.exclusive, next.any, next.subtreeExclusive, next.subtreeAny],
    );
  }
}

function marksOf(rows: readonly Record<string, unknown>[]): Look {
  return new Map(
    rows.map((row) => [
      String(row['name']),
      {
        exclusive: Number(row['exclusive']),
        any: Number(row['any_epoch']),
        subtreeExclusive: Number(row['subtree_exclusive']),
        subtreeAny: Number(row['subtree_any']),
      },
    ]),
  );
}
