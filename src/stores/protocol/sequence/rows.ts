// What the sequence protocol needs of a store that runs it in this process: streams, spans and readers by a few keys, one
// log, and the epoch counter of the namespace. The memory store keeps them in maps, SQLite in its file.
//
// A step is one call of the port at one `now`; everything it changes becomes visible together. Rows that are handed out are
// the step's own, and only the `save` and `add` methods write them back.
import type { RecoveryNote, SpanState } from '../../../domain/sequence.js';
import type { LogEntry } from '../rows.js';

export interface StreamRow {
  readonly name: string;
  /** The number that is leased next. */
  next: number;
  /** N4: the highest number ever shown. */
  seal: number;
  /** Operations of numbers below this are gone. */
  trimmedBefore: number;
  /** Until when a change is worth a wake-up. */
  watchedUntil: number;
  /** Counted as they change, so that no figure is a scan. All count numbers, not spans; `gaps` those without an operation
   *  elsewhere. What is open is not counted here: it changes with every commit, and a commit would pay for it. */
  gaps: number;
  moved: number;
  manual: number;
}

export interface Claim {
  readonly epoch: number;
  readonly owner: string;
  expiresAt: number;
}

export interface SpanRow {
  readonly stream: string;
  readonly first: number;
  readonly count: number;
  readonly operationId: string;
  readonly kind: string;
  state: SpanState;
  owner: string;
  epoch: number;
  leasedAt: number;
  expiresAt: number;
  ttlMs: number;
  settledAt?: number | undefined;
  /** Why a gap is one. */
  reason?: string | undefined;
  /** Of a moved span, and of a gap whose operation is stored elsewhere: the first number there. */
  movedTo?: number | undefined;
  /** This span was made by a move: the first number the operation had before. Its operation id is that span's. */
  readonly movedFrom?: number | undefined;
  claim?: Claim | undefined;
  attempts: number;
  /** When the next try of recovery may begin; of a gap: its kept result is to be tried again. */
  retryAt?: number | undefined;
  lastError?: string | undefined;
  isManual: boolean;
  /** JSON texts. `finished` and `operations` are lists, one operation for each number. */
  partial?: string | undefined;
  finished?: string | undefined;
  operations?: string | undefined;
  /** Hash of the operations that were stored, also after they were trimmed; 0 before. */
  content: number;
  recovery?: RecoveryNote | undefined;
  trimmedAt?: number | undefined;
}

/** What a page of a stream needs of a span: reading in order is the one thing done a hundred thousand times. */
export type ShownSpan = Pick<
  SpanRow,
  'first' | 'count' | 'state' | 'operationId' | 'kind' | 'movedTo' | 'recovery' | 'operations'
>;

export interface ReaderRow {
  readonly stream: string;
  readonly name: string;
  done: number;
  epoch: number;
  movedAt: number;
}

export interface SequenceRows {
  stream(name: string): StreamRow | undefined;
  /** Adds it, or writes it back. */
  saveStream(row: StreamRow): void;
  /** In order of their names. */
  streams(after: string | undefined, limit: number): StreamRow[];

  /** The span that has this number. */
  spanAt(stream: string, number: number): SpanRow | undefined;
  /** The span the operation was leased with: never one that a move made. */
  byOperation(stream: string, operationId: string): SpanRow | undefined;
  lowestOpen(stream: string): SpanRow | undefined;
  /** How many numbers are open, from the index of open spans. */
  openNumbers(stream: string): number;
  /** Spans from the one that has `from` on, in order, one after the other as they are asked for. */
  spansFrom(stream: string, from: number): Iterable<SpanRow>;
  /** The same for reading: nothing is changed by it. */
  shownFrom(stream: string, from: number): Iterable<ShownSpan>;
  /** Open spans whose `dueAt` is at or before `now`, in order of stream and number. */
  due(stream: string | undefined, now: number, limit: number): SpanRow[];
  countDue(stream: string | undefined, now: number, limit: number): number;
  /** The same for gaps. */
  dueGaps(stream: string | undefined, now: number, limit: number): SpanRow[];
  gaps(stream: string, after: number, limit: number): SpanRow[];
  /** Of every stream without a name, in order of stream and number. */
  manual(stream: string | undefined, after: { stream: string; number: number } | undefined, limit: number): SpanRow[];
  /** Spans trimmed at or before this time. */
  trimmed(stream: string, trimmedUntil: number, limit: number): SpanRow[];
  addSpan(row: SpanRow): void;
  saveSpan(row: SpanRow): void;
  removeSpan(row: SpanRow): void;

  reader(stream: string, name: string): ReaderRow | undefined;
  /** In order of their names. */
  readers(stream: string): ReaderRow[];
  saveReader(row: ReaderRow): void;
  removeReader(row: ReaderRow): void;

  log(entry: LogEntry): void;
}

export interface SequenceStep {
  readonly now: number;
  readonly rows: SequenceRows;
  /** S2: the epoch counter that leases draw from, too. */
  readonly space: { epoch: number };
  /** Streams in which something was settled, for the wake-up that follows. */
  readonly settled: Set<string>;
}

export function isOpen(row: Pick<SpanRow, 'state'>): boolean {
  return row.state === 'leased' || row.state === 'recovering';
}

/** When a recoverer may claim it; undefined when never. An index of open spans and of gaps to be tried again stands on it. */
export function dueAt(row: SpanRow): number | undefined {
  const claimedUntil = row.claim?.expiresAt ?? 0;
  if (isOpen(row)) return Math.max(row.state === 'leased' ? row.expiresAt : 0, row.retryAt ?? 0, claimedUntil);
  return row.state === 'gap' && row.retryAt !== undefined ? Math.max(row.retryAt, claimedUntil) : undefined;
}
