// Streams when a file begins a new incarnation (S13): who held numbers, or a claim on one, died with the old boot, so both
// end with it and are anybody's to recover. When the next try may begin is a plan, not a holding, and stays.
import type { Database } from 'better-sqlite3';

/** The highest `now` that stands in rows of streams and perhaps nowhere else: renewals and cursors write no log row. */
export function highestNowOfStreams(db: Database): number {
  const held = db
    .prepare('SELECT max(max(leased_at, expires_at - ttl_ms)) FROM span INDEXED BY span_open WHERE state < 2')
    .pluck()
    .get() as number | null;
  const read = db.prepare('SELECT max(moved_at) FROM reader').pluck().get() as number | null;
  return Math.max(held ?? 0, read ?? 0);
}

export function endNumbersOfOldBoot(db: Database, now: number): void {
  const claimedUntil = `json_extract(more, '$.claim.expiresAt')`;
  const ended = `CASE WHEN ${claimedUntil} > @now THEN json_set(more, '$.claim.expiresAt', @now) ELSE more END`;
  const dueAt = `max(CASE state WHEN 0 THEN min(expires_at, @now) ELSE 0 END,
    coalesce(json_extract(more, '$.retryAt'), 0), min(coalesce(${claimedUntil}, 0), @now))`;
  const end = (which: string): void => {
    db.prepare(
      `UPDATE span SET due_at = ${dueAt}, more = ${ended}, expires_at = min(expires_at, @now) WHERE ${which}`,
    ).run({ now });
  };
  end('state < 2');
  end('state = 3 AND due_at IS NOT NULL');
}
