// guardSqlite with the lease file attached (G2): the lease row itself is checked, in the transaction of the write.
//
// The write lock of the lease file is taken first: a read alone may be of an old snapshot, and whoever has read an old one
// is refused the lock. Until the commit nobody can end the lease, nor do anything else in that file: for transactions of
// milliseconds. Rows are found as stores/sqlite finds them: by its index of ids, or in the short tail that is not in it yet.
import { statSync } from 'node:fs';
import { LeaseError } from '../domain/errors.js';
import { isoTime } from '../domain/lease.js';
import { namesAbove } from '../domain/resource-name.js';
import type { HeldLease } from '../manager/face.js';
import { findOrigin, originOf } from '../manager/origin.js';
import type { Store } from '../stores/store.js';
import { leaseGone } from './lease-gone.js';
import { staleEpoch } from './fence.js';
import type { SqliteDatabase } from './sqlite-fence.js';

/** Marks and words of stores/sqlite (schema.ts, row-codec.ts); the tests of this guard hold them together. */
const APPLICATION_ID = 0x484f4c44;
const SPAN = 2 ** 43;
const ACTIVE = 1;
const STATUSES = ['pending', 'active', 'released', 'expired', 'revoked', 'failed'] as const;

interface Anchor {
  readonly machine: string;
  readonly wallBase: number;
  readonly monotonicBase: number;
}

/** The name under which the file of the lease's own store is attached. Other lease files know nothing of this lease. Nothing is
 *  read of the file itself: who has read of it is not made to wait for its lock, but refused. */
export function findAttached(db: SqliteDatabase, lease: HeldLease): string | undefined {
  const store: (Store & { readonly path?: string }) | undefined = findOrigin(lease)?.store;
  const path = store?.kind === 'sqlite' ? store.path : undefined;
  if (path === undefined) return undefined;
  const databases = db.prepare('PRAGMA database_list').all() as { name: string; file: string }[];
  const found = databases.find(({ file }) => file !== '' && isSameFile(file, path));
  return found && `"${found.name.replaceAll('"', '""')}"`;
}

/** However it was named when it was attached. */
function isSameFile(one: string, other: string): boolean {
  if (one === other) return true;
  const [a, b] = [one, other].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}

export function guardAttached(db: SqliteDatabase, schema: string, lease: HeldLease): void {
  db.prepare(`UPDATE ${schema}.journal SET epoch = epoch WHERE row = -1`).run(); // no row: the lock is what is wanted
  checkFile(db, schema);
  check(db, schema, lease);
}

function checkFile(db: SqliteDatabase, schema: string): void {
  const row = db.prepare(`PRAGMA ${schema}.application_id`).get() as { application_id: number | bigint };
  if (Number(row.application_id) === APPLICATION_ID) return;
  throw new LeaseError('STORE_INCOMPATIBLE', `what is attached as ${schema} is no lease file: attach the store's own`);
}

/** With the lock in hand, the row and then the clock are read. */
function check(db: SqliteDatabase, schema: string, lease: HeldLease): void {
  const { store, clock } = originOf(lease);
  const space = spaceOf(db, schema, store.namespace);
  const row = db
    .prepare(
      `SELECT epoch, status, expires_at AS expiresAt FROM ${schema}.journal WHERE status IS NOT NULL AND row = coalesce(
         (SELECT row FROM ${schema}.journal WHERE row > ? AND row < ? AND id = ? AND status IS NOT NULL ORDER BY row DESC LIMIT 1),
         (SELECT row FROM ${schema}.lease_id WHERE ns = ? AND id = ?))`,
    )
    .get(space.tail, space.end, lease.id, space.id, lease.id) as
    Record<'epoch' | 'status' | 'expiresAt', number | bigint> | undefined;
  if (!row) throw refusal(db, schema, space, lease, 'unknown');
  const [epoch, expiresAt] = [Number(row.epoch), Number(row.expiresAt)];
  const status = STATUSES[Number(row.status)] ?? 'unknown';
  if (epoch !== lease.epoch) throw staleEpoch(lease.resources[0] ?? '', lease.epoch, epoch);
  if (status !== 'active') throw refusal(db, schema, space, lease, status);
  const anchor = readAnchor(db, schema);
  if (anchor.machine !== clock.machine()) {
    throw new LeaseError('STORE_INCOMPATIBLE', 'the attached lease file is kept by another machine: attach its own');
  }
  const now = Math.floor(anchor.wallBase + (clock.monotonic() - anchor.monotonicBase));
  if (now >= expiresAt) throw leaseGone(lease, 'expired', isoTime(expiresAt));
}

/** Where the rows of the namespace are: those past `tail`, up to `end`, are in no index yet. */
interface Space {
  readonly id: number;
  readonly tail: number;
  readonly end: number;
}

function spaceOf(db: SqliteDatabase, schema: string, namespace: string): Space {
  const row = db.prepare(`SELECT id, indexed_to AS indexedTo FROM ${schema}.space WHERE name = ?`).get(namespace) as
    Record<'id' | 'indexedTo', number | bigint> | undefined;
  const id = Number(row?.id ?? 0);
  return { id, tail: id * SPAN + Number(row?.indexedTo ?? 0), end: (id + 1) * SPAN };
}

/** Who has one of its names now, if anybody has, makes it a stale epoch; else it is only gone. Further names of a lease, and the
 *  names of subtrees, are in other_name from the first, those in the tail as well. */
function refusal(db: SqliteDatabase, schema: string, space: Space, lease: HeldLease, status: string): LeaseError {
  const names = JSON.stringify(lease.resources);
  const above = JSON.stringify(lease.resources.flatMap(namesAbove));
  const row = db
    .prepare(
      `SELECT max(epoch) AS epoch FROM (
         SELECT epoch FROM ${schema}.journal WHERE row > ? AND row < ? AND state = ${ACTIVE}
           AND name IN (SELECT value FROM json_each(?))
         UNION ALL
         SELECT j.epoch FROM ${schema}.first_name n CROSS JOIN ${schema}.journal j ON j.row = n.row
           WHERE n.ns = ? AND n.name IN (SELECT value FROM json_each(?)) AND j.state = ${ACTIVE}
         UNION ALL
         SELECT j.epoch FROM ${schema}.other_name o CROSS JOIN ${schema}.journal j ON j.row = o.row
           WHERE o.ns = ? AND o.name IN (SELECT value FROM json_each(?)) AND j.state = ${ACTIVE}
         UNION ALL
         SELECT j.epoch FROM ${schema}.other_name o CROSS JOIN ${schema}.journal j ON j.row = o.row
           WHERE o.ns = ? AND o.name IN (SELECT value FROM json_each(?)) AND j.state = ${ACTIVE} AND EXISTS (
             SELECT 1 FROM json_each(j.parts) p
             WHERE json_extract(p.value, '$.name') = o.name AND json_extract(p.value, '$.scope') = 'subtree'))`,
    )
    .get(space.tail, space.end, names, ...[names, names, above].flatMap((list) => [space.id, list]));
  const current = Number((row as { epoch: number | bigint | null }).epoch ?? 0);
  if (current > lease.epoch) return staleEpoch(lease.resources[0] ?? '', lease.epoch, current);
  return leaseGone(lease, status);
}

function readAnchor(db: SqliteDatabase, schema: string): Anchor {
  const row = db.prepare(`SELECT value FROM ${schema}.meta WHERE key = 'anchor'`).get() as { value: string };
  return JSON.parse(row.value) as Anchor;
}
