// A grant on ordinary terms is one row: the lease and the log row that tells of its grant (docs/decisions/0012). Everything
// the event says stands in the lease's own columns. What changes them later, a new owner or another ttl, first puts what
// the event said into `data`; the epoch of the grant is in `more` once the lease has another.
//
// Such a row has a `status`, as every lease row, and a `type`, as every log row. Pruning takes one half or the other.
// Nearly every grant is released, so the row is written as long as it will be then: its page needs no rearranging.
import type { LeaseRow } from '../../domain/lease.js';
import type { LogEntry } from '../protocol/rows.js';

/** Whether the columns of a plain row say all of this event, so that it needs no row of its own. */
export function isSaidBy(row: LeaseRow, entry: LogEntry): boolean {
  if (entry.type !== 'lease.acquired' || entry.leaseId !== row.id) return false;
  const { ttlMs, expiresAt, waitedMs } = entry.data;
  if (ttlMs !== row.ttlMs || expiresAt !== row.acquiredAt + row.ttlMs || waitedMs !== 0) return false;
  for (const key in entry.data) if (key !== 'ttlMs' && key !== 'expiresAt' && key !== 'waitedMs') return false;
  return true;
}

/** `ended_at` of a row that has not ended, as long as a time is, and `more` that says nothing, as long as what a status
 *  takes that is not `active`. */
export const UNENDED = 1_000_000_000_000;
export const NO_MORE = '0';

/** Columns of the log, also where the row is a grant. */
export const LOGGED_AT = 'coalesce(at, acquired_at)';
export const LOGGED_COUNTER = 'coalesce(counter, epoch)';
export const LOGGED_OWNER =
  "CASE WHEN status IS NULL OR data IS NULL THEN owner ELSE json_extract(data, '$.owner') END";

const GRANT_EPOCH = "coalesce(json_extract(more, '$.grantEpoch'), epoch)";
const GRANT_TTL = "coalesce(json_extract(data, '$.ttlMs'), ttl_ms)";

/** For every UPDATE that may change owner or ttl: what is assigned to `data` for the condition that one does. */
export function keepGranted(changes: string): string {
  return `CASE WHEN type IS NOT NULL AND data IS NULL AND (${changes})
    THEN json_object('owner', owner, 'ttlMs', ttl_ms) ELSE data END`;
}

/** The log half goes: the lease stays. */
export const FORGET_EVENT = 'UPDATE journal SET type = NULL, wall_at = NULL, data = NULL WHERE row = ?';

/** The lease half goes: the event stays, as a log row like any other. */
export const FORGET_LEASE = `UPDATE journal SET state = 0, status = NULL, at = acquired_at, owner = ${LOGGED_OWNER},
  epoch = ${GRANT_EPOCH}, counter = ${GRANT_EPOCH}, more = NULL, last_request = NULL, parts = NULL,
  data = json_object('ttlMs', ${GRANT_TTL}, 'expiresAt', acquired_at + ${GRANT_TTL}, 'waitedMs', 0) WHERE row = ?`;

/** What the event says that is not in the columns of every log row. */
export function grantedFacts(
  columns: { owner: string; epoch: number; acquiredAt: number; ttlMs: number },
  more: string | null,
  data: string | null,
): { owner: string; epoch: number; data: { ttlMs: number; expiresAt: number; waitedMs: number } } {
  const kept = data === null ? columns : (JSON.parse(data) as { owner: string; ttlMs: number });
  const { grantEpoch } = more === null || more === NO_MORE ? NOTHING : (JSON.parse(more) as { grantEpoch?: number });
  return {
    owner: kept.owner,
    epoch: grantEpoch ?? columns.epoch,
    data: { ttlMs: kept.ttlMs, expiresAt: columns.acquiredAt + kept.ttlMs, waitedMs: 0 },
  };
}

const NOTHING: { grantEpoch?: number } = {};
