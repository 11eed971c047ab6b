// Every statement of the hot path, prepared once per connection. Each is a point or range look-up by a key: `CROSS JOIN` and
// `INDEXED BY` leave the planner no other way.
import type { Database, Statement } from 'better-sqlite3';
import { keepGranted, LOGGED_AT, LOGGED_COUNTER, NO_MORE, UNENDED } from './granted-row.js';
import { LEASE_COLUMNS, type LeaseColumns } from './row-codec.js';
import type { TailColumns } from './tail.js';

type Get = Statement<unknown[], LeaseColumns>;
/** When to look, the row, and when it expires if it stands. */
export type DueColumns = [at: number | null, row: number, expiresAt: number | null];

/** How many renewals that end alike go into one statement. */
export const RENEWED_TOGETHER = 32;

/** `PRAGMA synchronous`: the WAL is on the disk before a commit is over. */
const FULL = 2;
/** Rows through the indexes behind the writers; those of the tail are not in them. */
const BY_ID = 'lease_id i CROSS JOIN journal j ON j.row = i.row WHERE i.ns = ? AND i.id = ? AND j.status IS NOT NULL';
const BY_NAME = 'first_name n CROSS JOIN journal j ON j.row = n.row WHERE j.state > 0 AND n.ns = ?';

export class Statements {
  readonly begin: Statement;
  readonly beginRead: Statement;
  readonly commit: Statement;
  readonly rollback: Statement;
  readonly dataVersion: Statement;
  readonly find: Get;
  /** A row by its id, and the rows that stand on one name, as far as they are indexed: one question instead of two. */
  readonly lookUp: Get;
  readonly byRow: Get;
  readonly add: Statement;
  readonly addPlain: Statement;
  readonly addGranted: Statement;
  readonly saveEnded: Statement;
  readonly saveEndedPlain: Statement;
  readonly saveRenewed: Statement;
  readonly saveRenewedTogether: Statement;
  readonly saveWhole: Statement;
  readonly clearState: Statement;
  readonly addName: Statement;
  readonly dropName: Statement;
  readonly dropFirstName: Statement;
  readonly tailRows: Statement<unknown[], TailColumns>;
  readonly indexIds: Statement;
  readonly indexNames: Statement;
  readonly saveIndexedTo: Statement;
  readonly highestId: Statement;
  readonly anyFirstName: Statement;
  readonly anyOtherName: Statement;
  readonly log: Statement;
  readonly logPlain: Statement;
  readonly due: Statement<unknown[], DueColumns>;
  readonly unlisted: Statement<unknown[], DueColumns>;
  readonly addDue: Statement;
  readonly dropDue: Statement;
  readonly nextDue: Statement;
  readonly deadTickets: Get;
  readonly waiting: Get;
  readonly byOwner: Get;
  readonly below: Get;
  readonly belowOther: Get;
  readonly lastLog: Statement;
  readonly lastRow: Statement;
  readonly space: Statement;
  readonly addSpace: Statement;
  readonly saveSpace: Statement;

  /** `PRAGMA synchronous` as the file was opened. */
  readonly openedSynchronous: number;
  readonly #db: Database;
  #isDurable = false;
  readonly #byNames: Get[] = [];
  readonly #byOtherNames: Get[] = [];

  constructor(db: Database) {
    this.#db = db;
    this.openedSynchronous = db.pragma('synchronous', { simple: true }) as number;
    const plain = (sql: string): Statement => db.prepare(sql);
    const rows = (sql: string): Get => db.prepare<unknown[], LeaseColumns>(sql).raw();
    const columns = prefixed('j');
    this.begin = plain('BEGIN IMMEDIATE');
    this.beginRead = plain('BEGIN');
    this.commit = plain('COMMIT');
    this.rollback = plain('ROLLBACK');
    this.dataVersion = plain('PRAGMA data_version').pluck();
    this.find = rows(`SELECT ${columns} FROM ${BY_ID}`);
    this.lookUp = rows(
      `SELECT ${columns} FROM ${BY_ID}
       UNION ALL
       SELECT ${columns} FROM ${BY_NAME} AND n.name = ?`,
    );
    this.byRow = rows(`SELECT ${LEASE_COLUMNS} FROM journal WHERE row = ? AND status IS NOT NULL`);
    this.add = plain(
      `INSERT INTO journal (row, ns, id, state, name, owner, epoch, status, expires_at, acquired_at, renewed_at, ended_at,
         ttl_ms, content, max_renewals, skew_ms, parts, more)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.addPlain = plain(
      `INSERT INTO journal (row, ns, id, state, name, owner, epoch, status, expires_at, acquired_at, ttl_ms, content, skew_ms)
       VALUES (?, ?, ?, 1, ?, ?, ?, 1, ?, ?, ?, ?, ?)`,
    );
    this.addGranted = plain(
      `INSERT INTO journal (row, ns, id, state, name, owner, epoch, status, expires_at, acquired_at, ttl_ms, content, skew_ms,
         type, wall_at, ended_at, more)
       VALUES (?, ?, ?, 1, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ${UNENDED}, '${NO_MORE}')`,
    );
    this.saveEnded = plain(
      'UPDATE journal SET state = ?, status = ?, ended_at = ?, last_request = ?, more = ? WHERE row = ?',
    );
    this.saveEndedPlain = plain(
      'UPDATE journal SET state = 0, status = ?, ended_at = ?, more = NULL WHERE row = ?', // nobody asks what ended it
    );
    this.saveRenewed = plain(
      'UPDATE journal SET expires_at = ?, renewed_at = ?, renewals = ?, skew_ms = ?, last_request = ? WHERE row = ?',
    );
    this.saveRenewedTogether = plain(
      `UPDATE journal SET expires_at = ?, renewed_at = ?, renewals = v.column2, skew_ms = v.column3, last_request = v.column4
       FROM (VALUES ${Array.from({ length: RENEWED_TOGETHER }, () => '(?, ?, ?, ?)').join(', ')}) AS v
       WHERE journal.row = v.column1`,
    );
    this.saveWhole = plain(
      `UPDATE journal SET state = ?, owner = ?, epoch = ?, status = ?, expires_at = ?, acquired_at = ?, renewed_at = ?,
         ended_at = ?, ttl_ms = ?, data = ${keepGranted('owner <> ? OR ttl_ms <> ?')}, renewals = ?, skew_ms = ?,
         last_request = ?, parts = ?, more = ?
       WHERE row = ?`,
    );
    this.clearState = plain('UPDATE journal SET state = 0 WHERE row = ?');
    this.addName = plain('INSERT OR IGNORE INTO other_name (ns, name, row) VALUES (?, ?, ?)');
    this.dropName = plain('DELETE FROM other_name WHERE ns = ? AND name = ? AND row = ?');
    this.dropFirstName = plain('DELETE FROM first_name WHERE ns = ? AND name = ? AND row = ?');
    this.tailRows = db
      .prepare<unknown[], TailColumns>(
        'SELECT row, id, name, state FROM journal WHERE row > ? AND row < ? AND status IS NOT NULL ORDER BY row',
      )
      .raw();
    this.indexIds = plain(
      `INSERT OR IGNORE INTO lease_id (ns, id, row)
       SELECT ns, id, row FROM journal WHERE row > ? AND row <= ? AND status IS NOT NULL ORDER BY id`,
    );
    this.indexNames = plain(
      `INSERT OR IGNORE INTO first_name (ns, name, row)
       SELECT ns, name, row FROM journal WHERE row > ? AND row <= ? AND state > 0 ORDER BY name, row`,
    );
    this.saveIndexedTo = plain('UPDATE space SET indexed_to = ? WHERE id = ?');
    this.highestId = plain('SELECT id FROM lease_id WHERE ns = ? ORDER BY id DESC LIMIT 1').pluck();
    this.anyFirstName = plain('SELECT 1 FROM first_name WHERE ns = ? LIMIT 1');
    this.anyOtherName = plain('SELECT 1 FROM other_name WHERE ns = ? LIMIT 1');
    this.log = plain(
      `INSERT INTO journal (row, ns, state, name, owner, epoch, type, at, wall_at, id, counter, tickets, more, data)
       VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.deadTickets = rows(
      `SELECT ${LEASE_COLUMNS} FROM journal INDEXED BY journal_waiting
       WHERE ns = ? AND state = 2 AND expires_at <= ? ORDER BY row LIMIT ?`,
    );
    this.waiting = rows(
      `SELECT ${LEASE_COLUMNS} FROM journal INDEXED BY journal_waiting WHERE ns = ? AND state = 2 ORDER BY row LIMIT ?`,
    );
    this.addDue = plain('INSERT OR IGNORE INTO due (ns, at, row) VALUES (?, ?, ?)');
    this.dropDue = plain('DELETE FROM due WHERE ns = ? AND at = ? AND row = ?');
    this.logPlain = plain(
      `INSERT INTO journal (row, ns, state, name, owner, epoch, type, at, wall_at, id, counter, data)
       VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.due = db
      .prepare<unknown[], DueColumns>(
        `SELECT d.at, d.row, CASE WHEN j.state IN (1, 2) THEN j.expires_at END
         FROM due d LEFT JOIN journal j ON j.row = d.row
         WHERE d.ns = ? AND d.at <= ? ORDER BY d.at, d.row LIMIT ?`,
      )
      .raw();
    this.nextDue = plain('SELECT at FROM due WHERE ns = ? ORDER BY at LIMIT 1').pluck();
    this.unlisted = db
      .prepare<unknown[], DueColumns>(
        `SELECT CASE WHEN state IN (1, 2) THEN expires_at END, row, NULL FROM journal
         WHERE row > ? AND row < ? AND status IS NOT NULL ORDER BY row LIMIT ?`,
      )
      .raw();
    this.byOwner = rows(
      `SELECT ${columns} FROM ${BY_NAME} AND j.owner = ?
       UNION ALL
       SELECT ${LEASE_COLUMNS} FROM journal WHERE row > ? AND row < ? AND state > 0 AND owner = ?`,
    );
    this.below = rows(`SELECT ${columns} FROM ${BY_NAME} AND n.name >= ? AND n.name < ? LIMIT ?`);
    this.belowOther = rows(
      `SELECT ${columns} FROM other_name o JOIN journal j ON j.row = o.row
       WHERE o.ns = ? AND o.name >= ? AND o.name < ? LIMIT ?`,
    );
    this.lastLog = plain(
      `SELECT row, ${LOGGED_AT} AS at, ${LOGGED_COUNTER} AS counter, tickets FROM journal
       WHERE row > ? AND row < ? AND type IS NOT NULL ORDER BY row DESC LIMIT 1`,
    );
    this.lastRow = plain('SELECT row FROM journal WHERE row > ? AND row < ? ORDER BY row DESC LIMIT 1').pluck();
    this.space = plain('SELECT * FROM space WHERE name = ?');
    this.addSpace = plain(
      `INSERT INTO space (name, seq, epoch, tickets, written_at, settings, settings_version, pruned_through, swept_to)
       VALUES (?, 0, ?, 0, ?, '{}', 1, 0, 0)`,
    );
    this.saveSpace = plain(
      `UPDATE space SET seq = ?, epoch = ?, tickets = ?, written_at = ?, settings = ?, settings_version = ?,
         pruned_through = ?, swept_to = ? WHERE id = ?`,
    );
  }

  /** From here on a commit waits for the disk, or does so only as the file was opened. Not inside a transaction. Streams
   *  write one after the other, so most of the time it is so already. */
  setDurable(isDurable: boolean): void {
    if (isDurable === this.#isDurable || this.openedSynchronous >= FULL) return;
    this.#db.pragma(`synchronous = ${isDurable ? FULL : this.openedSynchronous}`);
    this.#isDurable = isDurable;
  }

  /** Rows whose first name is one of `count` names. Prepared once per count. */
  byNames(count: number): Get {
    return (this.#byNames[count] ??= this.#db
      .prepare<unknown[], LeaseColumns>(`SELECT ${prefixed('j')} FROM ${BY_NAME} AND n.name IN (${marks(count)})`)
      .raw());
  }

  /** Rows that have one of `count` names as a subtree, or as another than their first. */
  byOtherNames(count: number): Get {
    return (this.#byOtherNames[count] ??= this.#db
      .prepare<unknown[], LeaseColumns>(
        `SELECT ${prefixed('j')} FROM other_name o JOIN journal j ON j.row = o.row
         WHERE o.ns = ? AND o.name IN (${marks(count)})`,
      )
      .raw());
  }
}

function marks(count: number): string {
  return Array.from({ length: count }, () => '?').join(', ');
}

function prefixed(table: string): string {
  return LEASE_COLUMNS.split(', ')
    .map((column) => `${table}.${column}`)
    .join(', ');
}
