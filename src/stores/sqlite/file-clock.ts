// The store clock of a file (S13): now = wall base + (monotonic − monotonic base), both bases kept in the file. Every
// process of the machine computes the same now, and stepping the wall clock changes nothing.
//
// The anchor is good for one boot of one kernel, one time namespace and one inode. A file that carries another anchor,
// or the mark of a backup, begins a new incarnation: alone with the file, in one transaction, new bases are written
// (never below the highest now in the file), every epoch counter is lifted (S2), leases of processes that died with the
// old boot end, and leases taken through a server live their ttl again. Who is not alone must not re-anchor.
import { statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import type { Clock } from '../../domain/clock.js';
import { liftedEpoch } from '../../domain/epoch.js';
import { LOGGED_AT } from './granted-row.js';
import { SPAN } from './schema.js';

export interface Anchor {
  readonly machine: string;
  readonly file: string;
  readonly wallBase: number;
  readonly monotonicBase: number;
  readonly incarnation: string;
  readonly backup: boolean;
}

export function readAnchor(db: Database): Anchor | undefined {
  const text = db.prepare("SELECT value FROM meta WHERE key = 'anchor'").pluck().get() as string | undefined;
  return text === undefined ? undefined : (JSON.parse(text) as Anchor);
}

/** For files of which it is not known yet what they hold. */
export function hasAnchor(db: Database): boolean {
  const hasMeta = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'meta'").get() !== undefined;
  return hasMeta && readAnchor(db) !== undefined;
}

export function writeAnchor(db: Database, anchor: Anchor): void {
  db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('anchor', ?)").run(JSON.stringify(anchor));
}

/** Why this anchor does not hold here, or undefined when it does. */
export function whyStale(anchor: Anchor, clock: Clock, path: string): string | undefined {
  if (anchor.backup) return 'the file was restored from a backup';
  if (anchor.machine !== clock.machine()) return 'the machine was restarted, or another one opened the file';
  if (anchor.file !== fileIdentity(path)) return 'the file was copied';
  return undefined;
}

/** A copy has another inode; a file overwritten in place cannot be told from the original (docs/stores/sqlite.md). */
export function fileIdentity(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

export function freshAnchor(clock: Clock, path: string, notBefore: number): Anchor {
  return {
    machine: clock.machine(),
    file: fileIdentity(path),
    wallBase: Math.max(clock.wall(), notBefore + 1),
    monotonicBase: clock.monotonic(),
    incarnation: clock.randomText(),
    backup: false,
  };
}

/** S2: where the counter of a namespace begins that nobody has written to in this incarnation. */
export function firstEpoch(anchor: Anchor): number {
  return liftedEpoch(0, anchor.wallBase);
}

export function nowBy(anchor: Anchor, clock: Clock): number {
  return Math.floor(anchor.wallBase + (clock.monotonic() - anchor.monotonicBase));
}

/** The highest `now` the file has seen: in its counters, and in rows that were renewed since the last log row. Every row
 *  must be indexed (tail.ts). */
export function highestNow(db: Database): number {
  const written = db.prepare('SELECT max(written_at) FROM space').pluck().get() as number | null;
  const logged = db
    .prepare(
      `SELECT max(at) FROM (SELECT (SELECT ${LOGGED_AT} FROM journal WHERE row > n.id * ${SPAN} AND row < (n.id + 1) * ${SPAN}
       AND type IS NOT NULL ORDER BY row DESC LIMIT 1) AS at FROM space n)`,
    )
    .pluck()
    .get() as number | null;
  const touched = db
    .prepare(
      `SELECT max(max(j.acquired_at, coalesce(j.renewed_at, 0))) FROM first_name n CROSS JOIN journal j ON j.row = n.row
       WHERE j.state > 0`,
    )
    .pluck()
    .get() as number | null;
  return Math.max(written ?? 0, logged ?? 0, touched ?? 0);
}
