// guardPostgres (G1): inside the caller's own transaction the lease is live, with this epoch, and stays so until the commit.
//
// The pin is FOR KEY SHARE on the lease row. A renewal passes it; whatever would end the lease or give it a new epoch asks for
// FOR UPDATE SKIP LOCKED, finds the row pinned, and leaves the lease as it is. The lock is taken by one statement and the clock
// is read by a later one (S16): between the two a minute may have passed. In a transaction with an older snapshot (REPEATABLE
// READ, SERIALIZABLE) a lease that was ended since fails the lock with 40001, because its end took FOR UPDATE; one that was
// only renewed since does not. So an old row can say live only of a lease that is; where it says expired, it is asked once
// more whether it is the newest (checkNewest).
import { checkKeys } from '../domain/check-keys.js';
import { LeaseError, invalid, shown } from '../domain/errors.js';
import { isoTime } from '../domain/lease.js';
import { namesAbove } from '../domain/resource-name.js';
import type { HeldLease } from '../manager/face.js';
import { originOf, tellRejected } from '../manager/origin.js';
import { staleEpoch } from './fence.js';
import { leaseGone } from './lease-gone.js';
import { checkOneTransaction, checkPostgres, rowsOf, sqlStateOf, translatePostgres } from './postgres-client.js';
import type { PostgresTransaction } from './postgres-client.js';

const DEFAULT_SCHEMA = 'holdfast';
const ACTIVE = 1;
const STATUSES = ['pending', 'active', 'released', 'expired', 'revoked', 'failed'] as const;

export interface GuardPostgresOptions {
  /** Where the leases are; known for a lease of a PostgreSQL store. */
  schema?: string;
}

const KNOWN: ReadonlySet<string> = new Set<keyof GuardPostgresOptions>(['schema']);

/** Throws STALE_EPOCH or LEASE_LOST when the lease is not live; then the transaction must be rolled back. */
export async function guardPostgres(
  tx: PostgresTransaction,
  lease: HeldLease,
  options: GuardPostgresOptions = {},
): Promise<void> {
  const client = checkPostgres(tx, 'guardPostgres');
  checkKeys(options, KNOWN, 'of guardPostgres');
  const { store } = originOf(lease);
  const schema = schemaOf(store, options.schema);
  try {
    await pin(client, schema, store.namespace, lease);
  } catch (error) {
    throw tellRejected(lease, 'guardPostgres', translated(error, schema));
  }
}

async function pin(tx: PostgresTransaction, schema: string, namespace: string, lease: HeldLease): Promise<void> {
  const [row] = rowsOf(
    await tx.query(
      `SELECT l.status::int AS status, l.epoch::text AS epoch, l.expires_at::text AS expires_at,
         l.renewed_at::text AS renewed_at, pg_current_xact_id()::text AS xact
       FROM ${schema}.lease l WHERE l.ns = (SELECT n.id FROM ${schema}.namespace n WHERE n.name = $1) AND l.id = $2
       FOR KEY SHARE OF l`,
      [namespace, lease.id],
    ),
  );
  const [later = {}] = rowsOf(
    await tx.query(
      `SELECT floor(date_part('epoch', clock_timestamp()) * 1000)::text AS now, pg_current_xact_id()::text AS xact,
         current_setting('transaction_isolation') AS isolation`,
    ),
  );
  const isOldSnapshot = later['isolation'] !== 'read committed';
  if (!row && isOldSnapshot) throw olderThanTheLease(lease);
  if (!row) throw await refusal(tx, schema, namespace, lease, 'unknown');
  checkOneTransaction(String(row['xact']), String(later['xact']));
  const [epoch, expiresAt] = [Number(row['epoch']), Number(row['expires_at'])];
  if (epoch < lease.epoch) throw olderThanTheLease(lease);
  if (epoch > lease.epoch) throw staleEpoch(lease.resources[0] ?? '', lease.epoch, epoch);
  const now = Math.max(Number(later['now']), Number(row['renewed_at']));
  const status = Number(row['status']);
  if (status === ACTIVE && now < expiresAt) return;
  if (status === ACTIVE && isOldSnapshot) await checkNewest(tx, schema, namespace, lease);
  const how = status === ACTIVE ? 'expired' : (STATUSES[status] ?? 'unknown');
  throw await refusal(tx, schema, namespace, lease, how, how === 'expired' ? isoTime(expiresAt) : undefined);
}

/** A row that says expired in an older snapshot may have been renewed since. The pin passes that; a share lock fails with 40001
 *  where it is so. It would hold up renewals of other leases too, and is given back at once. */
async function checkNewest(
  tx: PostgresTransaction,
  schema: string,
  namespace: string,
  lease: HeldLease,
): Promise<void> {
  await tx.query('SAVEPOINT holdfast_guard');
  try {
    await tx.query(
      `SELECT 1 FROM ${schema}.lease l WHERE l.ns = (SELECT n.id FROM ${schema}.namespace n WHERE n.name = $1) AND l.id = $2
       FOR SHARE OF l`,
      [namespace, lease.id],
    );
  } finally {
    await tx.query('ROLLBACK TO SAVEPOINT holdfast_guard');
  }
}

/** Who has one of its names now, or the subtree it lies in, makes it a stale epoch; else it is only gone. The first name of a
 *  lease is in its row, further ones are in lease_part. */
async function refusal(
  tx: PostgresTransaction,
  schema: string,
  namespace: string,
  lease: HeldLease,
  status: string,
  since?: string,
): Promise<LeaseError> {
  const [row = {}] = rowsOf(
    await tx.query(
      `SELECT max(l.epoch)::text AS epoch FROM ${schema}.namespace n, LATERAL (
           SELECT x.* FROM ${schema}.lease x WHERE x.ns = n.id AND x.stands AND x.name = ANY($2::text[] || $3::text[])
           UNION ALL
           SELECT x.* FROM ${schema}.lease_part o JOIN ${schema}.lease x ON x.ns = o.ns AND x.id = o.id
             WHERE o.ns = n.id AND o.name = ANY($2::text[] || $3::text[])) l
       WHERE n.name = $1 AND l.status = ${ACTIVE} AND (l.parts IS NULL AND l.name = ANY($2::text[]) OR EXISTS (
         SELECT FROM unnest(l.parts) p
         WHERE p.name = ANY($2::text[]) OR p.scope = 'subtree' AND p.name = ANY($3::text[])))`,
      [namespace, lease.resources, lease.resources.flatMap(namesAbove)],
    ),
  );
  const current = Number(row['epoch'] ?? 0);
  return current > lease.epoch
    ? staleEpoch(lease.resources[0] ?? '', lease.epoch, current)
    : leaseGone(lease, status, since);
}

/** Or it is gone altogether; the next try will tell. */
function olderThanTheLease(lease: HeldLease): LeaseError {
  const name = lease.resources[0] ?? '';
  const message = `this transaction sees the database as it was before the lease for ${name} was taken or renewed: BEGIN again, and call the guard first`;
  return new LeaseError('STORE_UNAVAILABLE', message, { retryable: true });
}

function schemaOf(store: { readonly kind: string }, given: unknown): string {
  const known: unknown = (store as { schema?: unknown }).schema;
  const schema = given ?? known ?? (store.kind === 'postgres' ? DEFAULT_SCHEMA : undefined);
  if (typeof schema === 'string' && schema !== '' && !schema.includes('\0')) return `"${schema.replaceAll('"', '""')}"`;
  if (schema === undefined) {
    throw invalid(
      `guardPostgres is for leases kept in PostgreSQL, this one is in a ${store.kind} store: use sqlGate(tx) instead`,
    );
  }
  throw invalid(`schema is the name of the schema the leases are in, got ${shown(schema)}`);
}

function translated(error: unknown, schema: string): LeaseError {
  const state = sqlStateOf(error);
  if (state !== '42P01' && state !== '3F000') return translatePostgres(error);
  const message = `there are no leases in the schema ${schema} of this database: the transaction must be in the database of the leases`;
  return new LeaseError('INVALID_ARGUMENT', message, { cause: error });
}
