// The rows of streams in the file, as the sequence protocol asks for them: those of one namespace, within one transaction.
import type { LogEntry } from '../protocol/rows.js';
import type { ReaderRow, SequenceRows, ShownSpan, SpanRow, StreamRow } from '../protocol/sequence/rows.js';
import { decodeShown, decodeSpan, encodeChanging, type SpanColumns } from './sequence-codec.js';
import type { NamedSpan, SequenceStatements } from './sequence-statements.js';

const SHOWN_TOGETHER = 128;

interface StreamColumns {
  id: number;
  name: string;
  next: number;
  seal: number;
  trimmed_before: number;
  watched_until: number;
  gaps: number;
  moved: number;
  manual: number;
  /** The number after the last span; null when there is none. */
  after_last: number | null;
}
/** A stream this step has met. `kept` is what its row in the file says. */
interface Met {
  readonly id: number;
  readonly row: StreamRow;
  kept: StreamRow;
}
interface ReaderColumns {
  name: string;
  done: number;
  epoch: number;
  moved_at: number;
}

export class SqlSequenceRows implements SequenceRows {
  readonly #sql: SequenceStatements;
  readonly #ns: number;
  readonly #write: (entry: LogEntry) => void;
  /** Streams this step has met, with their ids: one row, however often it is asked for. */
  readonly #met = new Map<string, Met>();

  constructor(sql: SequenceStatements, ns: number, write: (entry: LogEntry) => void) {
    this.#sql = sql;
    this.#ns = ns;
    this.#write = write;
  }

  stream(name: string): StreamRow | undefined {
    return this.#find(name)?.row;
  }
  /** `next` alone is not written: the last span says it. */
  saveStream(row: StreamRow): void {
    const known = this.#find(row.name);
    if (known) {
      if (!isSame({ ...row, next: 0 }, { ...known.kept, next: 0 })) this.#writeStream(known, row);
      return;
    }
    const { lastInsertRowid } = this.#sql.addStream.run(this.#ns, row.name, ...valuesOf(row));
    this.#met.set(row.name, { id: Number(lastInsertRowid), row, kept: { ...row } });
  }
  #writeStream(met: Met, row: StreamRow): void {
    this.#sql.saveStream.run(...valuesOf(row), met.id);
    met.kept = { ...row };
  }
  streams(after: string | undefined, limit: number): StreamRow[] {
    const rows = this.#sql.streams.all(this.#ns, after ?? '', limit) as StreamColumns[];
    return rows.map((columns) => this.#meet(columns).row);
  }

  spanAt(stream: string, number: number): SpanRow | undefined {
    const columns = this.#sql.spanAt.get(this.#id(stream), number);
    const row = columns && decodeSpan(stream, columns);
    return row && number < row.first + row.count ? row : undefined;
  }
  byOperation(stream: string, operationId: string): SpanRow | undefined {
    return decoded(stream, this.#sql.byOperation.get(this.#id(stream), operationId));
  }
  lowestOpen(stream: string): SpanRow | undefined {
    return decoded(stream, this.#sql.lowestOpen.get(this.#id(stream)));
  }
  openNumbers(stream: string): number {
    return this.#sql.openNumbers.get(this.#id(stream)) as number;
  }
  *spansFrom(stream: string, from: number): Iterable<SpanRow> {
    const first = this.spanAt(stream, from)?.first ?? from;
    // A page is ended by whoever reads it: rows come one by one, and are not fetched before they are asked for.
    for (const columns of this.#sql.spansFrom.iterate(this.#id(stream), first)) yield decodeSpan(stream, columns);
  }
  /** A few at a time: rows that are fetched together cost half of rows fetched one by one, and a page may end early. */
  *shownFrom(stream: string, from: number): Iterable<ShownSpan> {
    const id = this.#id(stream);
    let next = this.spanAt(stream, from)?.first ?? from;
    for (;;) {
      const rows = this.#sql.shownFrom.all(id, next, SHOWN_TOGETHER);
      for (const columns of rows) yield decodeShown(columns);
      const last = rows.at(-1);
      if (last === undefined || rows.length < SHOWN_TOGETHER) return;
      next = last[0] + 1;
    }
  }

  due(stream: string | undefined, now: number, limit: number): SpanRow[] {
    return this.#sql.due.all({ ns: this.#ns, stream: stream ?? null, now, limit }).map(decodeNamed);
  }
  countDue(stream: string | undefined, now: number, limit: number): number {
    return this.#sql.countDue.get({ ns: this.#ns, stream: stream ?? null, now, limit }) as number;
  }
  dueGaps(stream: string | undefined, now: number, limit: number): SpanRow[] {
    return this.#sql.dueGaps.all({ ns: this.#ns, stream: stream ?? null, now, limit }).map(decodeNamed);
  }
  gaps(stream: string, after: number, limit: number): SpanRow[] {
    return this.#sql.gaps.all(this.#id(stream), after, limit).map((columns) => decodeSpan(stream, columns));
  }
  manual(stream: string | undefined, after: { stream: string; number: number } | undefined, limit: number): SpanRow[] {
    const from = { after: after?.stream ?? null, number: after?.number ?? 0 };
    return this.#sql.manual.all({ ns: this.#ns, stream: stream ?? null, ...from, limit }).map(decodeNamed);
  }
  trimmed(stream: string, trimmedUntil: number, limit: number): SpanRow[] {
    return this.#sql.trimmed.all(this.#id(stream), trimmedUntil, limit).map((columns) => decodeSpan(stream, columns));
  }

  addSpan(row: SpanRow): void {
    const { first, count, operationId, kind, movedFrom } = row;
    const key = [this.#id(row.stream), first, count, operationId, kind, movedFrom ?? null];
    this.#sql.addSpan.run(...key, ...encodeChanging(row));
  }
  saveSpan(row: SpanRow): void {
    this.#sql.saveSpan.run(...encodeChanging(row), this.#id(row.stream), row.first);
  }
  /** The last span takes `next` with it, so that is written down first: no number is leased twice. */
  removeSpan(row: SpanRow): void {
    const met = this.#find(row.stream);
    if (met && met.kept.next < row.first + row.count) this.#writeStream(met, met.row);
    this.#sql.removeSpan.run(this.#id(row.stream), row.first);
  }

  reader(stream: string, name: string): ReaderRow | undefined {
    const columns = this.#sql.reader.get(this.#id(stream), name) as ReaderColumns | undefined;
    return columns && readerOf(stream, columns);
  }
  readers(stream: string): ReaderRow[] {
    const rows = this.#sql.readers.all(this.#id(stream)) as ReaderColumns[];
    return rows.map((columns) => readerOf(stream, columns));
  }
  saveReader({ stream, name, done, epoch, movedAt }: ReaderRow): void {
    this.#sql.saveReader.run(this.#id(stream), name, done, epoch, movedAt);
  }
  removeReader({ stream, name }: ReaderRow): void {
    this.#sql.removeReader.run(this.#id(stream), name);
  }

  log(entry: LogEntry): void {
    this.#write(entry);
  }

  /** −1 for a stream that is not there: it has no rows. */
  #id(stream: string): number {
    return this.#find(stream)?.id ?? -1;
  }
  #find(name: string): Met | undefined {
    const met = this.#met.get(name);
    if (met) return met;
    const columns = this.#sql.stream.get(this.#ns, name) as StreamColumns | undefined;
    return columns && this.#meet(columns);
  }
  #meet(columns: StreamColumns): Met {
    const { id, name, next, seal, gaps, moved, manual, after_last: afterLast } = columns;
    const known = this.#met.get(name);
    if (known) return known;
    const times = { trimmedBefore: columns.trimmed_before, watchedUntil: columns.watched_until };
    const kept = { name, next, seal, ...times, gaps, moved, manual };
    const met = { id, row: { ...kept, next: Math.max(next, afterLast ?? 1) }, kept };
    this.#met.set(name, met);
    return met;
  }
}

function valuesOf({ next, seal, trimmedBefore, watchedUntil, gaps, moved, manual }: StreamRow): number[] {
  return [next, seal, trimmedBefore, watchedUntil, gaps, moved, manual];
}
function isSame(one: StreamRow, other: StreamRow): boolean {
  const values = valuesOf(other);
  return valuesOf(one).every((value, i) => value === values[i]);
}
function decoded(stream: string, columns: SpanColumns | undefined): SpanRow | undefined {
  return columns && decodeSpan(stream, columns);
}
function decodeNamed([name, ...columns]: NamedSpan): SpanRow {
  return decodeSpan(name, columns);
}
function readerOf(stream: string, { name, done, epoch, moved_at: movedAt }: ReaderColumns): ReaderRow {
  return { stream, name, done, epoch, movedAt };
}
