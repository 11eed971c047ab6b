// Spans to columns and back. What most spans have not (a reason, a claim, attempts, a note of recovery) is one JSON text.
import type { RecoveryNote } from '../../domain/sequence.js';
import { dueAt, type Claim, type ShownSpan, type SpanRow } from '../protocol/sequence/rows.js';
import { SPAN_STATES } from './sequence-schema.js';

export const SPAN_COLUMNS =
  'first, count, state, operation_id, kind, owner, epoch, leased_at, expires_at, ttl_ms, content, settled_at, moved_to, ' +
  'moved_from, is_manual, trimmed_at, more, operations, partial, finished';

export type SpanColumns = [
  first: number,
  count: number,
  state: number,
  operationId: string,
  kind: string,
  owner: string,
  epoch: number,
  leasedAt: number,
  expiresAt: number,
  ttlMs: number,
  content: number,
  settledAt: number | null,
  movedTo: number | null,
  movedFrom: number | null,
  isManual: number,
  trimmedAt: number | null,
  more: string | null,
  operations: string | null,
  partial: string | null,
  finished: string | null,
];

interface More {
  reason?: string | undefined;
  claim?: Claim | undefined;
  attempts?: number | undefined;
  retryAt?: number | undefined;
  lastError?: string | undefined;
  recovery?: RecoveryNote | undefined;
}

const NOTHING: More = {};

export function decodeSpan(stream: string, columns: SpanColumns): SpanRow {
  const more = columns[16] === null ? NOTHING : (JSON.parse(columns[16]) as More);
  return {
    stream,
    first: columns[0],
    count: columns[1],
    state: SPAN_STATES[columns[2]] ?? 'gap',
    operationId: columns[3],
    kind: columns[4],
    owner: columns[5],
    epoch: columns[6],
    leasedAt: columns[7],
    expiresAt: columns[8],
    ttlMs: columns[9],
    content: columns[10],
    settledAt: columns[11] ?? undefined,
    movedTo: columns[12] ?? undefined,
    movedFrom: columns[13] ?? undefined,
    isManual: columns[14] === 1,
    trimmedAt: columns[15] ?? undefined,
    reason: more.reason,
    claim: more.claim,
    attempts: more.attempts ?? 0,
    retryAt: more.retryAt,
    lastError: more.lastError,
    recovery: more.recovery,
    operations: columns[17] ?? undefined,
    partial: columns[18] ?? undefined,
    finished: columns[19] ?? undefined,
  };
}

export const SHOWN_COLUMNS = 'first, count, state, operation_id, kind, moved_to, more, operations';
export type ShownColumns = [
  first: number,
  count: number,
  state: number,
  operationId: string,
  kind: string,
  movedTo: number | null,
  more: string | null,
  operations: string | null,
];

export function decodeShown([
  first,
  count,
  state,
  operationId,
  kind,
  movedTo,
  more,
  operations,
]: ShownColumns): ShownSpan {
  return {
    first,
    count,
    state: SPAN_STATES[state] ?? 'gap',
    operationId,
    kind,
    movedTo: movedTo ?? undefined,
    recovery: more === null ? undefined : (JSON.parse(more) as More).recovery,
    operations: operations ?? undefined,
  };
}

/** Everything that may change, in the order of the update; the key comes after it. */
export function encodeChanging(row: SpanRow): unknown[] {
  return [
    SPAN_STATES.indexOf(row.state),
    row.owner,
    row.epoch,
    row.leasedAt,
    row.expiresAt,
    row.ttlMs,
    row.content,
    row.settledAt ?? null,
    row.movedTo ?? null,
    dueAt(row) ?? null,
    row.isManual ? 1 : 0,
    row.trimmedAt ?? null,
    encodeMore(row),
    row.operations ?? null,
    row.partial ?? null,
    row.finished ?? null,
  ];
}

function encodeMore({ reason, claim, attempts, retryAt, lastError, recovery }: SpanRow): string | null {
  const isPlain =
    reason === undefined &&
    claim === undefined &&
    attempts === 0 &&
    retryAt === undefined &&
    lastError === undefined &&
    recovery === undefined;
  if (isPlain) return null;
  const more: More = { reason, claim, attempts: attempts === 0 ? undefined : attempts, retryAt, lastError, recovery };
  return JSON.stringify(more);
}
