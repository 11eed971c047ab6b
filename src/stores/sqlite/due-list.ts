// Which rows to look at for their expiry (S3, S18). Acquire and release write no expiry index: the sweep walks the journal
// behind them, in the order of its keys, and lists in `due` whatever still stands when it comes by. A row written behind
// the sweep, or with a key that begins with no time of ours, is listed by its writer (sql-rows.ts).
//
// An entry says "not before": a renewal moves the row's expiry on and leaves the entry. When its time comes the entry is
// dropped if the row is over, moved if the row lives on, and only then do the rows that did lapse come out, in order.
import type { LeaseRow } from '../../domain/lease.js';
import { LIMITS } from '../../domain/limits.js';
import { logKeysEnd } from './log-codec.js';
import { decodeRow } from './row-codec.js';
import type { FileSpace } from './spaces.js';
import type { Statements } from './statements.js';

export function isListed(space: FileSpace, id: string, now: number): boolean {
  return id <= space.sweptTo || id >= logKeysEnd(now);
}

/** The sweep's first half: lists up to a step's worth of rows. True when it has caught up with the writers. */
export function listUnlisted(sql: Statements, space: FileSpace, now: number): boolean {
  const found = sql.unlisted.all(space.id, space.sweptTo, logKeysEnd(now), LIMITS.rowsPerStep * 10);
  let listed = 0;
  for (const [expiresAt, key] of found) {
    if (expiresAt !== null) {
      if (listed === LIMITS.rowsPerStep) return false;
      sql.addDue.run(space.id, expiresAt, key);
      listed += 1;
    }
    space.sweptTo = key;
  }
  return found.length < LIMITS.rowsPerStep * 10;
}

/** Rows that have lapsed, in order of expiry, then id. Puts entries that came too early where they belong. */
export function dueRows(sql: Statements, space: FileSpace, now: number, limit: number): LeaseRow[] {
  for (;;) {
    const entries = sql.due.all(space.id, now, limit);
    const wrong = entries.filter(([at, , expiresAt]) => at !== expiresAt);
    for (const [at, key, expiresAt] of wrong) {
      sql.dropDue.run(space.id, at, key);
      if (expiresAt !== null) sql.addDue.run(space.id, expiresAt, key);
    }
    if (wrong.length === 0) return entries.flatMap(([, key]) => sql.find.all(space.id, key).map(decodeRow));
  }
}

/** No row expires before this; `undefined` when nothing is listed. */
export function nextDue(sql: Statements, space: FileSpace): number | undefined {
  return sql.nextDue.get(space.id) as number | undefined;
}
