// Which rows to look at for their expiry (S3, S18). Acquire and release write no expiry index: the sweep walks the journal
// behind them and lists in `due` whatever still stands when it comes by. A row changed behind the sweep, so that it may
// end earlier than its entry says, is listed again by its writer (row-writer.ts).
//
// An entry says "not before": a renewal moves the row's expiry on and leaves the entry. When its time comes the entry is
// dropped if the row is over, moved if the row lives on, and only then do the rows that did lapse come out, in order.
import type { LeaseRow } from '../../domain/lease.js';
import { LIMITS } from '../../domain/limits.js';
import { decodeRow } from './row-codec.js';
import { SPAN } from './schema.js';
import type { FileSpace } from './spaces.js';
import type { Statements } from './statements.js';

/** Rows a step may pass over on its way to those that stand. */
const MOST_LOOKED_AT = 10 * LIMITS.rowsPerStep;

/** The sweep's first half: lists up to a step's worth of rows. True when it has caught up with the writers. */
export function listUnlisted(sql: Statements, space: FileSpace): boolean {
  const [base, end] = [space.id * SPAN, (space.id + 1) * SPAN];
  const found = sql.unlisted.all(base + space.sweptTo, end, MOST_LOOKED_AT);
  let listed = 0;
  for (const [expiresAt, row] of found) {
    if (expiresAt !== null) {
      if (listed === LIMITS.rowsPerStep) return false;
      sql.addDue.run(space.id, expiresAt, row);
      listed += 1;
    }
    space.sweptTo = row - base;
  }
  if (found.length === MOST_LOOKED_AT) return false;
  space.sweptTo = space.arrival;
  return true;
}

/** Rows that have lapsed, in order of expiry, then arrival. Puts entries that came too early where they belong; that is
 *  bounded too, and when the bound is met there are no rows this time: the next step goes on. */
export function dueRows(sql: Statements, space: FileSpace, now: number, limit: number): LeaseRow[] {
  for (let moved = 0; moved < LIMITS.rowsPerStep;) {
    const entries = sql.due.all(space.id, now, limit);
    const wrong = entries.filter(([at, , expiresAt]) => at !== expiresAt);
    for (const [at, row, expiresAt] of wrong) {
      sql.dropDue.run(space.id, at, row);
      if (expiresAt !== null) sql.addDue.run(space.id, expiresAt, row);
    }
    if (wrong.length === 0) return entries.flatMap(([, row]) => sql.byRow.all(row).map(decodeRow));
    moved += wrong.length;
  }
  return [];
}

/** Whether anything listed is due: after a step that met its bound, or entries that only came too early. */
export function isAnyDue(sql: Statements, space: FileSpace, now: number): boolean {
  return (nextDue(sql, space) ?? Infinity) <= now;
}

/** No row expires before this; `undefined` when nothing is listed. */
export function nextDue(sql: Statements, space: FileSpace): number | undefined {
  return sql.nextDue.get(space.id) as number | undefined;
}
