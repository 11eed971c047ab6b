// Reading a stream: pages, the barrier, cursors of named readers, gaps, figures, trimming. Nothing past the watermark is
// shown (N3), and what is shown is sealed in the step that shows it (N4).
import {
  checkBarrier,
  checkCursor,
  checkGapQuery,
  checkRead,
  checkStreamQuery,
  checkTrim,
} from '../../../domain/check-sequence.js';
import { invalid, LeaseError } from '../../../domain/errors.js';
import { LIMITS, OPERATION_ID_KEEP_MS, WATCH_MS } from '../../../domain/limits.js';
import type {
  BarrierOrder,
  CursorOrder,
  GapQuery,
  ReadOrder,
  StreamQuery,
  TrimOrder,
} from '../../../domain/sequence-requests.js';
import type { SettledNumber } from '../../../domain/sequence.js';
import type { BarrierReply, CursorReply, GapsReply, ReadReply, StreamsReply, TrimReply } from '../../sequence-store.js';
import type { Reply } from '../../store.js';
import { figuresOf, gapOf, headOf, settledNumbers } from './look.js';
import { dueAt, type ReaderRow, type SequenceStep, type SpanRow, type StreamRow } from './rows.js';
import { become, drawEpoch, newStream } from './transitions.js';

type Without<R extends Reply> = R extends Reply ? Omit<R, keyof Reply> : never;

/** What a read would have to write down first: a store that reads cheaply asks this before it takes its lock. */
export function readNeedsWrite(step: SequenceStep, order: ReadOrder): boolean {
  const stream = step.rows.stream(order.stream);
  if (!stream) return false;
  if (mustWatch(step, stream, order.watch)) return true;
  const from = Math.max(order.from, stream.trimmedBefore);
  const last = Math.min(headOf(step, stream).watermark, from + order.limit - 1);
  return order.seal && last >= from && last > stream.seal;
}

export function read(step: SequenceStep, order: ReadOrder): Without<ReadReply> {
  checkRead(order);
  const stream = step.rows.stream(order.stream) ?? newStream(order.stream);
  const { watermark } = headOf(step, stream);
  const from = Math.max(order.from, stream.trimmedBefore);
  const items = from > watermark ? [] : page(step, stream, from, Math.min(watermark, from + order.limit - 1));
  const last = items.at(-1);
  const isSealRaised = order.seal && last !== undefined && last.number > stream.seal;
  if (isSealRaised) stream.seal = last.number;
  const isWatched = watch(step, stream, order.watch);
  if (isSealRaised || isWatched) step.rows.saveStream(stream);
  return { ...headOf(step, stream), items };
}

/** Numbers from `from` to `to`, as many as one page may carry; at least one. */
function page(step: SequenceStep, stream: StreamRow, from: number, to: number): SettledNumber[] {
  const items: SettledNumber[] = [];
  let bytes = 0;
  for (const row of step.rows.shownFrom(stream.name, from)) {
    if (row.first > to) break;
    bytes += row.operations?.length ?? 0;
    if (items.length > 0 && bytes > LIMITS.operationsBytes) break;
    items.push(...settledNumbers(row, from, to));
    if (row.first + row.count > to) break;
  }
  return items;
}

export function barrierNeedsWrite(step: SequenceStep, order: BarrierOrder): boolean {
  const stream = step.rows.stream(order.stream);
  if (!stream) return false;
  const isReached = headOf(step, stream).watermark >= order.number - 1;
  return isReached ? stream.seal < order.number - 1 : mustWatch(step, stream, order.watch);
}

export function barrier(step: SequenceStep, order: BarrierOrder): Without<BarrierReply> {
  checkBarrier(order);
  const stream = step.rows.stream(order.stream) ?? newStream(order.stream);
  if (order.number - stream.next > LIMITS.numbersAhead) {
    throw invalid(
      `${order.stream} has leased ${stream.next - 1} numbers: ${order.number} is more than ${LIMITS.numbersAhead} ahead`,
    );
  }
  const reached = headOf(step, stream).watermark >= order.number - 1;
  const isSealRaised = reached && stream.seal < order.number - 1;
  if (isSealRaised) stream.seal = order.number - 1;
  const isWatched = !reached && watch(step, stream, order.watch);
  if (isSealRaised || isWatched) step.rows.saveStream(stream);
  return { ...headOf(step, stream), reached };
}

/** Written at most once in half the time it is good for. A stream that nobody has written to is not made by looking. */
function mustWatch(step: SequenceStep, stream: StreamRow, isWanted: boolean): boolean {
  return isWanted && stream.next > 1 && stream.watchedUntil < step.now + WATCH_MS / 2;
}
function watch(step: SequenceStep, stream: StreamRow, isWanted: boolean): boolean {
  if (!mustWatch(step, stream, isWanted)) return false;
  stream.watchedUntil = step.now + WATCH_MS;
  return true;
}

export function cursor(step: SequenceStep, order: CursorOrder): Without<CursorReply> {
  checkCursor(order);
  const known = step.rows.reader(order.stream, order.reader);
  if (order.act === 'open') return openCursor(step, order, known);
  if (!known) return { outcome: 'unknown' };
  if (order.act === 'forget') {
    step.rows.removeReader(known);
    return { outcome: 'forgotten' };
  }
  return moveCursor(step, order, known);
}

/** A name used by two processes: the later opener wins, and the earlier one's `done` is stale. */
function openCursor(step: SequenceStep, order: CursorOrder, known: ReaderRow | undefined): Without<CursorReply> {
  if (!known && step.rows.readers(order.stream).length >= LIMITS.readersPerStream) {
    throw new LeaseError(
      'RATE_LIMITED',
      `${order.stream} has ${LIMITS.readersPerStream} readers, which is the limit: forget some that are gone`,
    );
  }
  const stream = step.rows.stream(order.stream);
  if (!stream) step.rows.saveStream(newStream(order.stream));
  const start = (stream?.trimmedBefore ?? 1) - 1;
  const row = known ?? { stream: order.stream, name: order.reader, done: start, epoch: 0, movedAt: step.now };
  row.epoch = drawEpoch(step);
  step.rows.saveReader(row);
  return { outcome: 'opened', epoch: row.epoch, done: row.done };
}

function moveCursor(
  step: SequenceStep,
  order: Extract<CursorOrder, { act: 'done' }>,
  row: ReaderRow,
): Without<CursorReply> {
  if (row.epoch !== order.epoch) return { outcome: 'stale', epoch: row.epoch };
  if (order.number <= row.done) return { outcome: 'moved', done: row.done };
  const stream = step.rows.stream(order.stream) ?? newStream(order.stream);
  const { watermark } = headOf(step, stream);
  if (order.number > watermark) return { outcome: 'beyond', watermark };
  row.done = order.number;
  row.movedAt = step.now;
  step.rows.saveReader(row);
  if (stream.seal < order.number) {
    stream.seal = order.number;
    step.rows.saveStream(stream);
  }
  return { outcome: 'moved', done: row.done };
}

/** N6: operations below every cursor and the seal go; their ids stay for 30 days. What waits for a person, or for another
 *  try, keeps its work. */
export function trim(step: SequenceStep, order: TrimOrder): Without<TrimReply> {
  checkTrim(order);
  const stream = step.rows.stream(order.stream);
  if (!stream) return { removed: 0, trimmedBefore: 1, forgotten: 0, more: false };
  const cursors = step.rows.readers(order.stream).map(({ done }) => done + 1);
  const before = Math.min(order.before, stream.seal + 1, ...cursors);
  const gone: SpanRow[] = [];
  let [more, bytes] = [false, 0];
  for (const row of stream.trimmedBefore < before ? step.rows.spansFrom(stream.name, stream.trimmedBefore) : []) {
    if (row.first + row.count > before) break;
    more = gone.length === order.limit || bytes > LIMITS.operationsBytes;
    if (more) break;
    bytes += row.operations?.length ?? 0;
    gone.push(row);
  }
  let removed = 0;
  for (const row of gone) {
    if (removeOperations(step, stream, row)) removed += row.count;
    stream.trimmedBefore = row.first + row.count;
  }
  if (gone.length > 0) step.rows.saveStream(stream);
  const forgotten = forget(step, stream, order.limit);
  return { removed, trimmedBefore: stream.trimmedBefore, ...forgotten, more: more || forgotten.more };
}

function removeOperations(step: SequenceStep, stream: StreamRow, row: SpanRow): boolean {
  if (row.isManual || dueAt(row) !== undefined) return false;
  const hadOperation = row.operations !== undefined;
  // An id lives as long as the operation it was moved to, so the old number is trimmed with the new one.
  const isMovedOn = row.movedTo !== undefined && step.rows.spanAt(row.stream, row.movedTo)?.trimmedAt === undefined;
  if (!isMovedOn) trimSpan(step, stream, row);
  const before = row.movedFrom === undefined ? undefined : step.rows.spanAt(row.stream, row.movedFrom);
  if (before && before.trimmedAt === undefined) trimSpan(step, stream, before);
  return hadOperation;
}

function trimSpan(step: SequenceStep, stream: StreamRow, row: SpanRow): void {
  become(step, stream, row, (span) => {
    span.operations = undefined;
    span.partial = undefined;
    span.finished = undefined;
    span.trimmedAt = step.now;
  });
}

function forget(step: SequenceStep, stream: StreamRow, limit: number): { forgotten: number; more: boolean } {
  const old = step.rows.trimmed(stream.name, step.now - OPERATION_ID_KEEP_MS, limit + 1);
  const gone = old.slice(0, limit);
  for (const row of gone) step.rows.removeSpan(row);
  return { forgotten: gone.length, more: old.length > limit };
}

export function gaps(step: SequenceStep, query: GapQuery): Without<GapsReply> {
  checkGapQuery(query);
  const stream = step.rows.stream(query.stream);
  if (!stream) return { gaps: [], more: false };
  const found = step.rows.gaps(query.stream, query.after, query.limit + 1);
  return { gaps: found.slice(0, query.limit).map((row) => gapOf(row, stream)), more: found.length > query.limit };
}

export function streams(step: SequenceStep, query: StreamQuery): Without<StreamsReply> {
  checkStreamQuery(query);
  if (query.stream !== undefined) {
    const stream = step.rows.stream(query.stream);
    return { streams: stream ? [figuresOf(step, stream)] : [], more: false };
  }
  const found = step.rows.streams(query.after, query.limit + 1);
  return { streams: found.slice(0, query.limit).map((row) => figuresOf(step, row)), more: found.length > query.limit };
}
