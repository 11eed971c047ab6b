// Spans, streams and readers as the scripts keep them (lua/sequence-rows.ts says how) and as the protocol knows them.
import type { OperationState, RecoveryMethod, RecoveryNote, SpanState } from '../../domain/sequence.js';
import type { ShownSpan, SpanRow, StreamRow } from '../protocol/sequence/rows.js';
import { INLINE_BYTES } from './lua/sequence-rows.js';

const STATES: Readonly<Record<string, OperationState>> = {
  l: 'leased',
  r: 'recovering',
  c: 'committed',
  g: 'gap',
  f: 'filled',
  m: 'moved',
  x: 'expired',
  u: 'unknown',
};

export function operationState(letter: unknown): OperationState {
  return STATES[String(letter).toLowerCase()] ?? 'unknown';
}

/** Texts that lie beside the row; empty where there is none. */
export interface BesideRow {
  readonly operations?: string;
  readonly partial?: string;
  readonly finished?: string;
}

export function decodeSpan(stream: string, text: string, beside: BesideRow = {}): SpanRow {
  const [head = '', operationId = '', kind = '', owner = '', ...rest] = text.split('\t');
  const [reason = '', lastError = '', claimOwner = '', type = '', inline = ''] = rest;
  const [letter, ...figures] = head.split(' ');
  const [first, count, bytes, , , epoch, leasedAt, expiresAt, content, settledAt, movedTo, movedFrom, ...more] =
    figures.map(Number) as [number, number, number, number, number, ...Rest, ...number[]];
  const [attempts = 0, retryAt = 0, trimmedAt = 0, isManual, claimEpoch = 0, claimUntil = 0] = more;
  return {
    stream,
    first,
    count,
    operationId,
    kind,
    state: operationState(letter) as SpanState,
    owner,
    epoch,
    leasedAt,
    expiresAt,
    ttlMs: Math.max(0, expiresAt - leasedAt),
    settledAt: given(settledAt),
    reason: text0(reason),
    movedTo: given(movedTo),
    movedFrom: given(movedFrom),
    claim: claimEpoch === 0 ? undefined : { epoch: claimEpoch, owner: claimOwner, expiresAt: claimUntil },
    attempts,
    retryAt: given(retryAt),
    lastError: text0(lastError),
    isManual: isManual === 1,
    partial: text0(beside.partial),
    finished: text0(beside.finished),
    operations: text0(bytes > INLINE_BYTES ? beside.operations : inline),
    content,
    recovery: movedFrom === 0 ? undefined : noteOf(movedFrom, operationId, leasedAt, type),
    trimmedAt: given(trimmedAt),
  };
}

type Rest = [number, number, number, number, number, number, number];

/** Whether the operations of this row lie beside it: then its letter is a capital. */
export function liesBeside(text: string): boolean {
  return text.charCodeAt(0) < 97;
}

/** What a page needs of a row, which is read a hundred thousand times. */
export function decodeShown(text: string, beside: string | undefined): ShownSpan {
  const fields = text.split('\t');
  const figures = (fields[0] as string).split(' ');
  const [operationId = '', kind = ''] = [fields[1], fields[2]];
  const movedFrom = Number(figures[12]);
  return {
    first: Number(figures[1]),
    count: Number(figures[2]),
    state: operationState(figures[0]) as SpanState,
    operationId,
    kind,
    movedTo: given(Number(figures[11])),
    recovery: movedFrom === 0 ? undefined : noteOf(movedFrom, operationId, Number(figures[7]), fields[7] ?? ''),
    operations: text0(beside ?? fields[8]),
  };
}

function noteOf(originalNumber: number, originalOperationId: string, recoveredAt: number, type: string): RecoveryNote {
  return { originalNumber, originalOperationId, recoveredAt, type: type as RecoveryMethod };
}

/** Whether partial work or a finished result lies beside it. */
export function hasWork(text: string): boolean {
  const [, , , , partialBytes, finishedBytes] = text.split(' ', 6);
  return Number(partialBytes) + Number(finishedBytes) > 0;
}

export interface KeptStream extends StreamRow {
  /** Numbers that are open. */
  readonly open: number;
}

export function decodeStream(name: string, text: string): KeptStream {
  const [next, seal, trimmedBefore, watchedUntil, gaps, moved, manual, open] = text.split(' ').map(Number) as [
    ...Rest,
    number,
  ];
  return { name, next, seal, trimmedBefore, watchedUntil, gaps, moved, manual, open };
}

export function decodeReader(text: string): { readonly done: number; readonly movedAt: number } {
  const [done = 0, , movedAt = 0] = text.split(' ').map(Number);
  return { done, movedAt };
}

function given(figure: number): number | undefined {
  return figure === 0 ? undefined : figure;
}
function text0(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : text;
}
