// Anchoring a file's clock at open: reading the anchor, writing the first one, or beginning a new incarnation (S2, S13).
// A new one needs the file to itself: nobody else may be counting time by the old anchor.
import type { Database } from 'better-sqlite3';
import type { Clock } from '../../domain/clock.js';
import { liftedEpoch } from '../../domain/epoch.js';
import { freshAnchor, highestNow, nowBy, readAnchor, whyStale, writeAnchor, type Anchor } from './file-clock.js';
import { endNumbersOfOldBoot, highestNowOfStreams } from './sequence-anchor.js';
import { SqlRows } from './sql-rows.js';
import { allNamespaces, Spaces } from './spaces.js';
import { Statements } from './statements.js';
import { indexThrough } from './tail.js';
import { isBusy } from './translate-error.js';

/** The anchor to live by, or 'taken' when it is stale and somebody else has the file open. */
export function anchorFile(db: Database, clock: Clock, path: string): Anchor | 'taken' {
  const anchor = readAnchor(db) ?? writeFirstAnchor(db, clock, path);
  if (whyStale(anchor, clock, path) === undefined) return anchor;
  return aloneWith(db, () => beginIncarnation(db, clock, path)) ?? 'taken';
}

function writeFirstAnchor(db: Database, clock: Clock, path: string): Anchor {
  return db
    .transaction(() => {
      const anchor = readAnchor(db) ?? freshAnchor(clock, path, 0);
      writeAnchor(db, anchor);
      return anchor;
    })
    .immediate();
}

/** Leaving WAL mode needs an exclusive lock, which no other open connection allows: that is how we know. */
function aloneWith<T>(db: Database, act: () => T): T | undefined {
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    if (db.pragma('journal_mode = DELETE', { simple: true }) !== 'delete') return undefined;
    return act();
  } catch (error) {
    if (isBusy(error)) return undefined;
    throw error;
  } finally {
    db.pragma('locking_mode = NORMAL');
    db.prepare('SELECT count(*) FROM meta').get();
    db.pragma('journal_mode = WAL');
  }
}

function beginIncarnation(db: Database, clock: Clock, path: string): Anchor {
  return db
    .transaction(() => {
      const old = readAnchor(db) as Anchor;
      const reason = whyStale(old, clock, path);
      if (reason === undefined) return old;
      const sql = new Statements(db);
      indexEverything(db, sql);
      const last = Math.max(highestNow(db), highestNowOfStreams(db));
      const anchor = freshAnchor(clock, path, last);
      writeAnchor(db, anchor);
      const now = nowBy(anchor, clock);
      endLocalLeases(db, now, last);
      endNumbersOfOldBoot(db, now);
      const spaces = new Spaces(sql);
      for (const name of allNamespaces(db)) {
        const space = spaces.load(name);
        if (!space) continue;
        space.epoch = liftedEpoch(space.epoch, anchor.wallBase);
        space.writtenAt = now;
        new SqlRows(sql, space, now, clock.wall(), true).log({
          type: 'store.incarnation',
          actor: 'store',
          reason,
          data: { incarnation: anchor.incarnation, epoch: space.epoch },
        });
        spaces.save(space);
      }
      return anchor;
    })
    .immediate();
}

/** So that what follows finds whatever stands by its name. */
function indexEverything(db: Database, sql: Statements): void {
  const spaces = new Spaces(sql);
  for (const name of allNamespaces(db)) {
    const space = spaces.load(name);
    if (space) indexThrough(sql, space, space.arrival);
  }
}

/** S13: what processes of the old boot held is over as of now; what a server holds for others, alive by the old
 *  clock, begins its ttl again, for its holders' own clocks went on. */
function endLocalLeases(db: Database, now: number, last: number): void {
  const standing = 'WHERE row IN (SELECT row FROM first_name)';
  const isRemote = `coalesce(json_extract(more, '$.remote'), 0)`;
  const set = (expiresAt: string, which: string): void => {
    db.prepare(`UPDATE journal SET expires_at = ${expiresAt} ${standing} AND ${which}`).run({ now, last });
  };
  set('@now + ttl_ms', `state = 1 AND ${isRemote} AND expires_at > @last`);
  set('@now', `state = 1 AND NOT ${isRemote} AND expires_at > @now`);
  set('@now', 'state = 2 AND expires_at > @now');
  db.exec('DELETE FROM due; UPDATE space SET swept_to = 0');
}
