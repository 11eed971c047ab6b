// Rows as callers see them, and where a stream stands: nothing here changes anything.
import type {
  Claimed,
  Gap,
  ManualItem,
  OpenNumber,
  SettledNumber,
  SettledState,
  StreamFigures,
} from '../../../domain/sequence.js';
import type { StreamHead } from '../../sequence-store.js';
import type { Reply } from '../../store.js';
import { dueAt, isOpen, type SequenceStep, type ShownSpan, type SpanRow, type StreamRow } from './rows.js';

/** N3: derived from the lowest open number, in the snapshot of the step. */
export function watermarkOf(stream: StreamRow, lowestOpen: SpanRow | undefined): number {
  return (lowestOpen?.first ?? stream.next) - 1;
}

export function headOf(step: SequenceStep, stream: StreamRow): Omit<StreamHead, keyof Reply> {
  const lowest = step.rows.lowestOpen(stream.name);
  return {
    watermark: watermarkOf(stream, lowest),
    seal: stream.seal,
    next: stream.next,
    trimmedBefore: stream.trimmedBefore,
    ...(lowest === undefined ? {} : { oldestOpen: openNumber(lowest) }),
  };
}

export function openNumber(row: SpanRow): OpenNumber {
  const { operationId, kind, owner, leasedAt, expiresAt } = row;
  const state = row.state === 'recovering' ? 'recovering' : 'leased';
  return { number: row.first, state, operationId, kind, owner, leasedAt, expiresAt, dueAt: dueAt(row) ?? expiresAt };
}

/** The numbers of a settled span from `from` to `to`. */
export function settledNumbers(row: ShownSpan, from = row.first, to = row.first + row.count - 1): SettledNumber[] {
  const operations = row.operations === undefined ? undefined : (JSON.parse(row.operations) as unknown[]);
  const items: SettledNumber[] = [];
  for (let number = Math.max(from, row.first); number <= Math.min(to, row.first + row.count - 1); number += 1) {
    items.push(settledNumber(row, number, operations));
  }
  return items;
}

function settledNumber(row: ShownSpan, number: number, operations: unknown[] | undefined): SettledNumber {
  const at = number - row.first;
  const { operationId, kind, movedTo, recovery } = row;
  const state = row.state as SettledState;
  const item: { -readonly [K in keyof SettledNumber]: SettledNumber[K] } = { number, state, operationId, kind };
  if (operations !== undefined) item.operation = operations[at];
  if (movedTo !== undefined) item.movedTo = movedTo + at;
  if (recovery !== undefined) item.recovery = { ...recovery, originalNumber: recovery.originalNumber + at };
  return item;
}

export function gapOf(row: SpanRow, stream: Pick<StreamRow, 'seal'>): Gap {
  const isSealed = row.first <= stream.seal;
  return {
    number: row.first,
    count: row.count,
    operationId: row.operationId,
    kind: row.kind,
    reason: row.reason ?? '',
    createdAt: row.settledAt ?? 0,
    originalExpiry: row.expiresAt,
    fillable: !isSealed && row.movedTo === undefined,
    sealed: isSealed,
    ...(row.movedTo === undefined ? {} : { movedTo: row.movedTo }),
    hasResult: row.finished !== undefined || row.partial !== undefined,
  };
}

export function manualItem(row: SpanRow): ManualItem {
  return {
    stream: row.stream,
    number: row.first,
    count: row.count,
    operationId: row.operationId,
    kind: row.kind,
    reason: row.reason ?? '',
    attempts: row.attempts,
    lastError: row.lastError ?? '',
    createdAt: row.settledAt ?? 0,
    ...workOf(row),
    isRetryOrdered: row.retryAt !== undefined,
  };
}

export function claimedOf(row: SpanRow, now: number): Claimed {
  return {
    stream: row.stream,
    first: row.first,
    count: row.count,
    operationId: row.operationId,
    kind: row.kind,
    claimEpoch: row.claim?.epoch ?? 0,
    remainingMs: (row.claim?.expiresAt ?? now) - now,
    leasedAt: row.leasedAt,
    expiresAt: row.expiresAt,
    overrunMs: Math.max(0, now - row.expiresAt),
    attempts: row.attempts,
    isGap: !isOpen(row),
    ...workOf(row),
  };
}

function workOf(row: SpanRow): { partial?: unknown; finished?: readonly unknown[] } {
  return {
    ...(row.partial === undefined ? {} : { partial: JSON.parse(row.partial) as unknown }),
    ...(row.finished === undefined ? {} : { finished: JSON.parse(row.finished) as unknown[] }),
  };
}

/** Bytes of JSON a page would carry for this row, about: what bounds a page of work (S18). */
export function workBytes(row: SpanRow): number {
  return (row.partial?.length ?? 0) + (row.finished?.length ?? 0);
}

export function figuresOf(step: SequenceStep, stream: StreamRow): StreamFigures {
  const { watermark, oldestOpen } = headOf(step, stream);
  return {
    name: stream.name,
    leased: stream.next - 1,
    open: oldestOpen ? step.rows.openNumbers(stream.name) : 0,
    watermark,
    seal: stream.seal,
    trimmedBefore: stream.trimmedBefore,
    gaps: stream.gaps,
    moved: stream.moved,
    manual: stream.manual,
    ...(oldestOpen === undefined ? {} : { oldestOpen }),
    readers: step.rows.readers(stream.name).map(({ name, done, movedAt }) => ({
      name,
      done,
      distance: Math.max(0, watermark - done),
      movedAt,
    })),
  };
}
