// The transitions of a span, each with its log row in the same step (S6). Nothing here decides; the files beside it do.
// Every change of state passes through `become`, which keeps the stream's counters.
import { hash53 } from '../../../domain/content.js';
import { nextEpoch } from '../../../domain/epoch.js';
import type { StoredType } from '../../../domain/events.js';
import { invalid } from '../../../domain/errors.js';
import type { RecoveryMethod, SpanState } from '../../../domain/sequence.js';
import { dueAt, isOpen, type SequenceStep, type SpanRow, type StreamRow } from './rows.js';

export function drawEpoch(step: SequenceStep): number {
  step.space.epoch = nextEpoch(step.space.epoch);
  return step.space.epoch;
}

export function newStream(name: string): StreamRow {
  return { name, next: 1, seal: 0, trimmedBefore: 1, watchedUntil: 0, gaps: 0, moved: 0, manual: 0 };
}

/** Reserves the next `count` numbers. */
export function reserve(stream: StreamRow, count: number): number {
  const first = stream.next;
  if (!Number.isSafeInteger(first + count)) throw invalid(`${stream.name} has left the range of safe integers`);
  stream.next += count;
  return first;
}

/** Counted by states, and by whether the operation of a gap is stored elsewhere. What is trimmed counts no more. */
function tally(stream: StreamRow, row: SpanRow, sign: 1 | -1): void {
  if (row.trimmedAt !== undefined) return;
  const numbers = sign * row.count;
  if (row.state === 'gap' && row.movedTo === undefined) stream.gaps += numbers;
  if (row.state === 'moved') stream.moved += numbers;
  if (row.isManual) stream.manual += numbers;
}

export function addCounted(step: SequenceStep, stream: StreamRow, row: SpanRow): void {
  tally(stream, row, 1);
  step.rows.saveStream(stream);
  step.rows.addSpan(row);
}

/** Changes the row and the stream's counters with it. */
export function become(step: SequenceStep, stream: StreamRow, row: SpanRow, change: (row: SpanRow) => void): void {
  const { gaps, moved, manual } = stream;
  tally(stream, row, -1);
  change(row);
  trimLate(step, stream, row);
  tally(stream, row, 1);
  step.rows.saveSpan(row);
  const isCounted = stream.gaps !== gaps || stream.moved !== moved || stream.manual !== manual;
  if (isCounted) step.rows.saveStream(stream);
}

/** What trimming passed over, because somebody still had to deal with it, goes when that is done. */
function trimLate(step: SequenceStep, stream: StreamRow, row: SpanRow): void {
  const isPassed = row.first + row.count <= stream.trimmedBefore && row.trimmedAt === undefined;
  if (!isPassed || row.isManual || row.movedTo !== undefined || dueAt(row) !== undefined) return;
  row.partial = undefined;
  row.finished = undefined;
  row.trimmedAt = step.now;
}

/** Stores operations at the span's own number, as committed or, where a gap was, as filled. */
export function storeHere(
  step: SequenceStep,
  stream: StreamRow,
  row: SpanRow,
  operations: string,
  method?: RecoveryMethod,
): void {
  const wasGap = row.state === 'gap';
  become(step, stream, row, (span) => {
    span.state = wasGap ? 'filled' : 'committed';
    span.settledAt = step.now;
    span.operations = operations;
    span.content = hash53(operations);
    forgetWork(span);
  });
  step.settled.add(row.stream);
  logSpan(step, wasGap ? 'sequence.filled' : 'sequence.committed', row, {
    outcome: row.state,
    ...overrun(step, row, method),
  });
}

/** V2: the operation under a new number, the old one pointing to it, in one step. An open number becomes `moved`; a gap
 *  stays one. */
export function storeElsewhere(
  step: SequenceStep,
  stream: StreamRow,
  row: SpanRow,
  operations: string,
  type: RecoveryMethod,
): SpanRow {
  const first = reserve(stream, row.count);
  const target = storedSpan(step, row, first, operations, {
    originalNumber: row.first,
    originalOperationId: row.operationId,
    recoveredAt: step.now,
    type,
  });
  addCounted(step, stream, target);
  become(step, stream, row, (span) => {
    span.movedTo = first;
    if (isOpen(span)) span.state = 'moved';
    span.settledAt ??= step.now;
    forgetWork(span);
  });
  step.settled.add(row.stream);
  logSpan(step, 'sequence.moved', row, { movedTo: first, outcome: 'moved', ...overrun(step, row, type) });
  return target;
}

function storedSpan(
  step: SequenceStep,
  from: SpanRow,
  first: number,
  operations: string,
  recovery: SpanRow['recovery'],
): SpanRow {
  return {
    stream: from.stream,
    first,
    count: from.count,
    operationId: from.operationId,
    kind: from.kind,
    state: 'committed',
    owner: from.owner,
    epoch: from.epoch,
    leasedAt: step.now,
    expiresAt: step.now,
    ttlMs: from.ttlMs,
    settledAt: step.now,
    movedFrom: from.first,
    attempts: 0,
    isManual: false,
    operations,
    content: hash53(operations),
    recovery,
  };
}

/** A terminal outcome: nothing is left to be done about the operation, and its work need not be kept. */
function forgetWork(row: SpanRow): void {
  row.claim = undefined;
  row.retryAt = undefined;
  row.lastError = undefined;
  row.isManual = false;
  row.partial = undefined;
  row.finished = undefined;
}

export function becomeGap(
  step: SequenceStep,
  stream: StreamRow,
  row: SpanRow,
  reason: string,
  change: (row: SpanRow) => void = () => undefined,
  method?: RecoveryMethod,
): void {
  const wasOpen = isOpen(row);
  become(step, stream, row, (span) => {
    span.state = 'gap';
    span.claim = undefined;
    span.retryAt = undefined;
    if (wasOpen) {
      span.reason = reason;
      span.settledAt = step.now;
    }
    change(span);
  });
  if (!wasOpen) return;
  step.settled.add(row.stream);
  logSpan(step, 'sequence.gap', row, { outcome: 'gap', ...overrun(step, row, method) });
}

/** How long after its expiry a number was dealt with, and how; nothing for what its own holder did in time. */
export function overrun(
  step: SequenceStep,
  row: SpanRow,
  method: RecoveryMethod | undefined,
): { overrunMs?: number; method?: RecoveryMethod } {
  if (method === undefined) return {};
  return { overrunMs: Math.max(0, step.now - row.expiresAt), method };
}

export function logSpan(
  step: SequenceStep,
  type: StoredType,
  row: SpanRow,
  data: Readonly<Record<string, unknown>>,
  more: { readonly error?: string; readonly actor?: string } = {},
): void {
  step.rows.log({
    type,
    resource: row.stream,
    owner: row.owner,
    epoch: row.epoch,
    reason: row.reason,
    ...more,
    data: {
      number: row.first,
      ...(row.count > 1 ? { count: row.count } : {}),
      operationId: row.operationId,
      kind: row.kind,
      ...data,
    },
  });
}

export function isLiveSpan(row: SpanRow, now: number): boolean {
  return row.state === 'leased' && now < row.expiresAt;
}

export function isClaimed(row: SpanRow, now: number): boolean {
  return row.claim !== undefined && now < row.claim.expiresAt;
}

/** As a caller is told: an expired lease that nobody claimed yet is `expired`. */
export function stateAt(row: SpanRow, now: number): SpanState | 'expired' {
  return row.state === 'leased' && !isLiveSpan(row, now) ? 'expired' : row.state;
}
