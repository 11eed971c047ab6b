// The rows of streams in memory: spans in an array by their first number, which only grows at its end. The open ones are
// kept apart in the order they were leased, so that the lowest is the first: the rest is looked through from end to end,
// slow and obviously right.
import { compareNames } from '../../domain/resource-name.js';
import type { LogEntry } from '../protocol/rows.js';
import {
  dueAt,
  isOpen,
  type ReaderRow,
  type SequenceRows,
  type SpanRow,
  type StreamRow,
} from '../protocol/sequence/rows.js';

interface Kept {
  readonly row: StreamRow;
  spans: SpanRow[];
  readonly byOperation: Map<string, SpanRow>;
  readonly open: Map<number, SpanRow>;
  readonly readers: Map<string, ReaderRow>;
}

export class SequenceMapRows implements SequenceRows {
  readonly #streams = new Map<string, Kept>();
  readonly #write: (entry: LogEntry) => void;

  constructor(write: (entry: LogEntry) => void) {
    this.#write = write;
  }

  stream(name: string): StreamRow | undefined {
    return this.#streams.get(name)?.row;
  }
  saveStream(row: StreamRow): void {
    if (this.#streams.has(row.name)) return;
    this.#streams.set(row.name, { row, spans: [], byOperation: new Map(), open: new Map(), readers: new Map() });
  }
  streams(after: string | undefined, limit: number): StreamRow[] {
    return this.#named(undefined)
      .map(({ row }) => row)
      .filter((row) => after === undefined || compareNames(row.name, after) > 0)
      .slice(0, limit);
  }

  spanAt(stream: string, number: number): SpanRow | undefined {
    const spans = this.#streams.get(stream)?.spans ?? [];
    const row = spans[indexOf(spans, number)];
    return row && row.first <= number && number < row.first + row.count ? row : undefined;
  }
  byOperation(stream: string, operationId: string): SpanRow | undefined {
    return this.#streams.get(stream)?.byOperation.get(operationId);
  }
  lowestOpen(stream: string): SpanRow | undefined {
    return this.#streams.get(stream)?.open.values().next().value;
  }
  openNumbers(stream: string): number {
    return [...(this.#streams.get(stream)?.open.values() ?? [])].reduce((sum, { count }) => sum + count, 0);
  }
  *spansFrom(stream: string, from: number): Iterable<SpanRow> {
    const spans = this.#streams.get(stream)?.spans ?? [];
    const start = indexOf(spans, from);
    const row = spans[start];
    const isBefore = row !== undefined && row.first + row.count <= from;
    for (let i = Math.max(0, isBefore ? start + 1 : start); i < spans.length; i += 1) yield spans[i] as SpanRow;
  }
  shownFrom(stream: string, from: number): Iterable<SpanRow> {
    return this.spansFrom(stream, from);
  }

  due(stream: string | undefined, now: number, limit: number): SpanRow[] {
    return this.#find(stream, limit, ({ open }) => [...open.values()].filter((row) => isDue(row, now)));
  }
  countDue(stream: string | undefined, now: number, limit: number): number {
    return this.due(stream, now, limit).length;
  }
  dueGaps(stream: string | undefined, now: number, limit: number): SpanRow[] {
    return this.#find(stream, limit, ({ spans }) => spans.filter((row) => row.state === 'gap' && isDue(row, now)));
  }
  gaps(stream: string, after: number, limit: number): SpanRow[] {
    const isGap = (row: SpanRow): boolean => row.state === 'gap' && row.first > after && row.trimmedAt === undefined;
    return this.#find(stream, limit, ({ spans }) => spans.filter(isGap));
  }
  manual(stream: string | undefined, after: { stream: string; number: number } | undefined, limit: number): SpanRow[] {
    const isPast = (row: SpanRow): boolean => {
      if (after === undefined) return true;
      return row.stream === after.stream ? row.first > after.number : compareNames(row.stream, after.stream) > 0;
    };
    return this.#find(stream, limit, ({ spans }) => spans.filter((row) => row.isManual && isPast(row)));
  }
  trimmed(stream: string, trimmedUntil: number, limit: number): SpanRow[] {
    const isOld = ({ trimmedAt }: SpanRow): boolean => trimmedAt !== undefined && trimmedAt <= trimmedUntil;
    return this.#find(stream, limit, ({ spans }) => spans.filter(isOld));
  }

  addSpan(row: SpanRow): void {
    const kept = this.#streams.get(row.stream) as Kept;
    kept.spans.push(row);
    if (row.movedFrom === undefined) kept.byOperation.set(row.operationId, row);
    this.saveSpan(row);
  }
  saveSpan(row: SpanRow): void {
    const open = this.#streams.get(row.stream)?.open;
    if (isOpen(row)) open?.set(row.first, row);
    else open?.delete(row.first);
  }
  removeSpan(row: SpanRow): void {
    const kept = this.#streams.get(row.stream);
    if (!kept) return;
    kept.spans = kept.spans.filter((other) => other !== row);
    if (row.movedFrom === undefined) kept.byOperation.delete(row.operationId);
  }

  reader(stream: string, name: string): ReaderRow | undefined {
    return this.#streams.get(stream)?.readers.get(name);
  }
  readers(stream: string): ReaderRow[] {
    const readers = [...(this.#streams.get(stream)?.readers.values() ?? [])];
    return readers.sort((a, b) => compareNames(a.name, b.name));
  }
  saveReader(row: ReaderRow): void {
    this.#streams.get(row.stream)?.readers.set(row.name, row);
  }
  removeReader(row: ReaderRow): void {
    this.#streams.get(row.stream)?.readers.delete(row.name);
  }

  log(entry: LogEntry): void {
    this.#write(entry);
  }

  #named(stream: string | undefined): Kept[] {
    const kept = [...this.#streams.values()].filter(({ row }) => stream === undefined || row.name === stream);
    return kept.sort((a, b) => compareNames(a.row.name, b.row.name));
  }
  #find(stream: string | undefined, limit: number, of: (kept: Kept) => SpanRow[]): SpanRow[] {
    return this.#named(stream).flatMap(of).slice(0, limit);
  }
}

function isDue(row: SpanRow, now: number): boolean {
  const at = dueAt(row);
  return at !== undefined && at <= now;
}

/** The last span that begins at or before this number; −1 when none does. */
function indexOf(spans: readonly SpanRow[], number: number): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((spans[middle] as SpanRow).first <= number) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
