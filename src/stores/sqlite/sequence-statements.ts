// Every statement about streams, prepared once per connection and only when a stream is first used. Each is a point or
// range look-up: `INDEXED BY` makes a plan that is not one an error instead of a slow query.
import type { Database, Statement } from 'better-sqlite3';
import { SHOWN_COLUMNS, SPAN_COLUMNS, type ShownColumns, type SpanColumns } from './sequence-codec.js';

type Spans = Statement<unknown[], SpanColumns>;
/** A span with the name of its stream in front. */
export type NamedSpan = [name: string, ...columns: SpanColumns];
type NamedSpans = Statement<unknown[], NamedSpan>;

const CHANGING =
  'state = ?, owner = ?, epoch = ?, leased_at = ?, expires_at = ?, ttl_ms = ?, content = ?, settled_at = ?, moved_to = ?, ' +
  'due_at = ?, is_manual = ?, trimmed_at = ?, more = ?, operations = ?, partial = ?, finished = ?';

export class SequenceStatements {
  readonly stream: Statement;
  readonly addStream: Statement;
  readonly saveStream: Statement;
  readonly streams: Statement;
  readonly spanAt: Spans;
  readonly byOperation: Spans;
  readonly lowestOpen: Spans;
  readonly openNumbers: Statement;
  readonly spansFrom: Spans;
  readonly shownFrom: Statement<unknown[], ShownColumns>;
  readonly due: NamedSpans;
  readonly countDue: Statement;
  readonly dueGaps: NamedSpans;
  readonly gaps: Spans;
  readonly manual: NamedSpans;
  readonly trimmed: Spans;
  readonly addSpan: Statement;
  readonly saveSpan: Statement;
  readonly removeSpan: Statement;
  readonly reader: Statement;
  readonly readers: Statement;
  readonly saveReader: Statement;
  readonly removeReader: Statement;

  constructor(db: Database) {
    const plain = (sql: string): Statement => db.prepare(sql);
    const spans = (sql: string): Spans => db.prepare<unknown[], SpanColumns>(sql).raw();
    const named = (sql: string): NamedSpans => db.prepare<unknown[], NamedSpan>(sql).raw();
    const columns = SPAN_COLUMNS.split(', ')
      .map((column) => `p.${column}`)
      .join(', ');
    // The few streams of a namespace are gone through by name, each through its own index of what is due.
    const ofStreams = (index: string, where: string): string =>
      `FROM (SELECT id, name FROM stream WHERE ns = @ns AND (@stream IS NULL OR name = @stream) ORDER BY name) s
       CROSS JOIN span p INDEXED BY ${index} ON p.stream = s.id WHERE ${where}`;
    const isDue = 'p.state < 2 AND p.due_at <= @now';
    const streams = `SELECT *, (SELECT first + count FROM span WHERE stream = stream.id ORDER BY first DESC LIMIT 1) AS after_last
       FROM stream WHERE ns = ?`;
    this.stream = plain(`${streams} AND name = ?`);
    this.addStream = plain(
      `INSERT INTO stream (ns, name, next, seal, trimmed_before, watched_until, gaps, moved, manual)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.saveStream = plain(
      `UPDATE stream SET next = ?, seal = ?, trimmed_before = ?, watched_until = ?, gaps = ?, moved = ?, manual = ?
       WHERE id = ?`,
    );
    this.streams = plain(`${streams} AND name > ? ORDER BY name LIMIT ?`);
    this.spanAt = spans(`SELECT ${SPAN_COLUMNS} FROM span WHERE stream = ? AND first <= ? ORDER BY first DESC LIMIT 1`);
    this.byOperation = spans(
      `SELECT ${SPAN_COLUMNS} FROM span INDEXED BY span_by_operation
       WHERE stream = ? AND operation_id = ? AND moved_from IS NULL`,
    );
    this.lowestOpen = spans(
      `SELECT ${SPAN_COLUMNS} FROM span INDEXED BY span_open WHERE stream = ? AND state < 2 ORDER BY first LIMIT 1`,
    );
    this.openNumbers = plain(
      'SELECT coalesce(sum(count), 0) FROM span INDEXED BY span_open WHERE stream = ? AND state < 2',
    ).pluck();
    this.spansFrom = spans(`SELECT ${SPAN_COLUMNS} FROM span WHERE stream = ? AND first >= ? ORDER BY first`);
    this.shownFrom = db
      .prepare<unknown[], ShownColumns>(
        `SELECT ${SHOWN_COLUMNS} FROM span WHERE stream = ? AND first >= ? ORDER BY first LIMIT ?`,
      )
      .raw();
    this.due = named(
      `SELECT s.name, ${columns} ${ofStreams('span_open', isDue)} ORDER BY s.name, p.first LIMIT @limit`,
    );
    this.countDue = plain(`SELECT count(*) FROM (SELECT 1 ${ofStreams('span_open', isDue)} LIMIT @limit)`).pluck();
    this.dueGaps = named(
      `SELECT s.name, ${columns} ${ofStreams('span_gap_due', 'p.state = 3 AND p.due_at IS NOT NULL AND p.due_at <= @now')}
       ORDER BY s.name, p.first LIMIT @limit`,
    );
    this.gaps = spans(
      `SELECT ${SPAN_COLUMNS} FROM span INDEXED BY span_gap
       WHERE stream = ? AND state = 3 AND first > ? AND trimmed_at IS NULL ORDER BY first LIMIT ?`,
    );
    this.manual = named(
      `SELECT s.name, ${columns}
       ${ofStreams('span_manual', 'p.is_manual = 1 AND (@after IS NULL OR s.name > @after OR (s.name = @after AND p.first > @number))')}
       ORDER BY s.name, p.first LIMIT @limit`,
    );
    this.trimmed = spans(
      `SELECT ${SPAN_COLUMNS} FROM span INDEXED BY span_trimmed
       WHERE stream = ? AND trimmed_at IS NOT NULL AND trimmed_at <= ? LIMIT ?`,
    );
    this.addSpan = plain(
      `INSERT INTO span (stream, first, count, operation_id, kind, moved_from, state, owner, epoch, leased_at, expires_at,
         ttl_ms, content, settled_at, moved_to, due_at, is_manual, trimmed_at, more, operations, partial, finished)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.saveSpan = plain(`UPDATE span SET ${CHANGING} WHERE stream = ? AND first = ?`);
    this.removeSpan = plain('DELETE FROM span WHERE stream = ? AND first = ?');
    this.reader = plain('SELECT * FROM reader WHERE stream = ? AND name = ?');
    this.readers = plain('SELECT * FROM reader WHERE stream = ? ORDER BY name');
    this.saveReader = plain(
      'INSERT OR REPLACE INTO reader (stream, name, done, epoch, moved_at) VALUES (?, ?, ?, ?, ?)',
    );
    this.removeReader = plain('DELETE FROM reader WHERE stream = ? AND name = ?');
  }
}
