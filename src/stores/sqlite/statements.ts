// Every statement of the hot path, prepared once per connection. Each is a point or range look-up on an index: the
// `INDEXED BY` clauses make a plan that is not one an error instead of a slow query.
import type { Database, Statement } from 'better-sqlite3';
import { LEASE_COLUMNS, type LeaseColumns } from './row-codec.js';

type Get = Statement<unknown[], LeaseColumns>;
/** When to look, the row, and when it expires if it stands. */
export type DueColumns = [at: number | null, key: string, expiresAt: number | null];

export class Statements {
  readonly begin: Statement;
  readonly beginRead: Statement;
  readonly commit: Statement;
  readonly rollback: Statement;
  readonly dataVersion: Statement;
  readonly find: Get;
  readonly add: Statement;
  readonly addPlain: Statement;
  readonly saveEnded: Statement;
  readonly saveRenewed: Statement;
  readonly saveWhole: Statement;
  readonly clearState: Statement;
  readonly addName: Statement;
  readonly dropName: Statement;
  readonly anyOtherName: Statement;
  readonly log: Statement;
  readonly logPlain: Statement;
  readonly findStanding: Get;
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
  readonly space: Statement;
  readonly addSpace: Statement;
  readonly saveSpace: Statement;

  readonly #db: Database;
  readonly #lookUp: Get[] = [];
  readonly #byNames: Get[] = [];
  readonly #byOtherNames: Get[] = [];

  constructor(db: Database) {
    this.#db = db;
    const plain = (sql: string): Statement => db.prepare(sql);
    const rows = (sql: string): Get => db.prepare<unknown[], LeaseColumns>(sql).raw();
    const columns = prefixed('j');
    this.begin = plain('BEGIN IMMEDIATE');
    this.beginRead = plain('BEGIN');
    this.commit = plain('COMMIT');
    this.rollback = plain('ROLLBACK');
    this.dataVersion = plain('PRAGMA data_version').pluck();
    this.find = rows(`SELECT ${LEASE_COLUMNS} FROM journal WHERE ns = ? AND key = ?`);
    this.findStanding = rows(`SELECT ${LEASE_COLUMNS} FROM journal WHERE ns = ? AND key = ? AND state > 0`);
    this.add = plain(
      `INSERT INTO journal (ns, key, state, name, owner, epoch, status, expires_at, acquired_at, renewed_at, ended_at,
         ttl_ms, content, arrival, max_renewals, skew_ms, parts, more)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.addPlain = plain(
      `INSERT INTO journal (ns, key, state, name, owner, epoch, status, expires_at, acquired_at, ttl_ms, content, arrival,
         skew_ms)
       VALUES (?, ?, 1, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)`,
    );
    this.saveEnded = plain(
      'UPDATE journal SET state = ?, status = ?, ended_at = ?, last_request = ?, more = ? WHERE ns = ? AND key = ?',
    );
    this.saveRenewed = plain(
      `UPDATE journal SET expires_at = ?, renewed_at = ?, ttl_ms = ?, renewals = ?, skew_ms = ?, last_request = ?
       WHERE ns = ? AND key = ?`,
    );
    this.saveWhole = plain(
      `UPDATE journal SET state = ?, owner = ?, epoch = ?, status = ?, expires_at = ?, acquired_at = ?, renewed_at = ?,
         ended_at = ?, ttl_ms = ?, renewals = ?, skew_ms = ?, last_request = ?, parts = ?, more = ?
       WHERE ns = ? AND key = ?`,
    );
    this.clearState = plain('UPDATE journal SET state = 0 WHERE ns = ? AND key = ?');
    this.addName = plain('INSERT OR IGNORE INTO other_name (ns, name, key) VALUES (?, ?, ?)');
    this.dropName = plain('DELETE FROM other_name WHERE ns = ? AND name = ? AND key = ?');
    this.anyOtherName = plain('SELECT 1 FROM other_name WHERE ns = ? LIMIT 1');
    this.log = plain(
      `INSERT INTO journal (ns, key, state, name, owner, epoch, type, at, wall_at, lease, counter, tickets, more, data)
       VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.deadTickets = rows(
      `SELECT ${LEASE_COLUMNS} FROM journal INDEXED BY journal_waiting
       WHERE ns = ? AND state = 2 AND expires_at <= ? ORDER BY arrival LIMIT ?`,
    );
    this.waiting = rows(
      `SELECT ${LEASE_COLUMNS} FROM journal INDEXED BY journal_waiting WHERE ns = ? AND state = 2 ORDER BY arrival LIMIT ?`,
    );
    this.addDue = plain('INSERT OR IGNORE INTO due (ns, at, key) VALUES (?, ?, ?)');
    this.dropDue = plain('DELETE FROM due WHERE ns = ? AND at = ? AND key = ?');
    this.logPlain = plain(
      `INSERT INTO journal (ns, key, state, name, owner, epoch, type, at, wall_at, lease, counter, data)
       VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.due = db
      .prepare<unknown[], DueColumns>(
        `SELECT d.at, d.key, CASE WHEN j.state IN (1, 2) THEN j.expires_at END
       FROM due d LEFT JOIN journal j ON j.ns = d.ns AND j.key = d.key
       WHERE d.ns = ? AND d.at <= ? ORDER BY d.at, d.key LIMIT ?`,
      )
      .raw();
    this.nextDue = plain('SELECT at FROM due WHERE ns = ? ORDER BY at LIMIT 1').pluck();
    this.unlisted = db
      .prepare<unknown[], DueColumns>(
        `SELECT CASE WHEN state IN (1, 2) THEN expires_at END, key, NULL FROM journal
       WHERE ns = ? AND key > ? AND key < ? AND type IS NULL ORDER BY key LIMIT ?`,
      )
      .raw();
    this.byOwner = rows(
      `SELECT ${LEASE_COLUMNS} FROM journal INDEXED BY journal_by_name
       WHERE ns = ? AND state > 0 AND owner = ?`,
    );
    this.below = rows(
      `SELECT ${LEASE_COLUMNS} FROM journal INDEXED BY journal_by_name
       WHERE ns = ? AND name >= ? AND name < ? AND state > 0 LIMIT ?`,
    );
    this.belowOther = rows(
      `SELECT ${columns} FROM other_name o JOIN journal j ON j.ns = o.ns AND j.key = o.key
       WHERE o.ns = ? AND o.name >= ? AND o.name < ? LIMIT ?`,
    );
    this.lastLog = plain(
      'SELECT key, at, counter, tickets FROM journal WHERE ns = ? AND key < ? AND type IS NOT NULL ORDER BY key DESC LIMIT 1',
    );
    this.space = plain('SELECT * FROM namespace WHERE name = ?');
    this.addSpace = plain(
      `INSERT INTO namespace (name, seq, epoch, tickets, written_at, settings, settings_version, pruned_through, swept_to)
       VALUES (?, 0, ?, 0, ?, '{}', 1, '0', '0')`,
    );
    this.saveSpace = plain(
      `UPDATE namespace SET seq = ?, epoch = ?, tickets = ?, written_at = ?, settings = ?, settings_version = ?,
         pruned_through = ?, swept_to = ? WHERE id = ?`,
    );
  }

  /** A row by its id, and the rows whose first name is one of `count` names: one question instead of two. */
  lookUp(count: number): Get {
    return (this.#lookUp[count] ??= this.#db
      .prepare<unknown[], LeaseColumns>(
        `SELECT ${LEASE_COLUMNS} FROM journal WHERE ns = ? AND key = ?
         UNION ALL
         SELECT ${LEASE_COLUMNS} FROM journal INDEXED BY journal_by_name
         WHERE ns = ? AND name IN (${marks(count)}) AND state > 0`,
      )
      .raw());
  }

  /** Rows whose first name is one of `count` names. Prepared once per count. */
  byNames(count: number): Get {
    return (this.#byNames[count] ??= this.#db
      .prepare<unknown[], LeaseColumns>(
        `SELECT ${LEASE_COLUMNS} FROM journal INDEXED BY journal_by_name
         WHERE ns = ? AND name IN (${marks(count)}) AND state > 0`,
      )
      .raw());
  }

  /** Rows that have one of `count` names as another than their first. */
  byOtherNames(count: number): Get {
    return (this.#byOtherNames[count] ??= this.#db
      .prepare<unknown[], LeaseColumns>(
        `SELECT ${prefixed('j')} FROM other_name o JOIN journal j ON j.ns = o.ns AND j.key = o.key
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
