// Results that have lost their lease: stored once, wherever there is a place for them. A gap that nobody has been shown is
// filled; a sealed one points to a new number; an expired number that nobody claimed is moved (N4, V7).
import { checkAppend, checkFill, checkSameCount } from '../../../domain/check-sequence.js';
import { hash53 } from '../../../domain/content.js';
import type { AppendRequest, FillRequest } from '../../../domain/sequence-requests.js';
import type { RecoveryMethod } from '../../../domain/sequence.js';
import type { AppendResult, FillResult } from '../../sequence-store.js';
import { storedAt, streamOf } from './hold.js';
import { isOpen, type SequenceStep, type SpanRow } from './rows.js';
import {
  addCounted,
  drawEpoch,
  isClaimed,
  isLiveSpan,
  logSpan,
  newStream,
  reserve,
  stateAt,
  storeElsewhere,
  storeHere,
} from './transitions.js';

export function append(step: SequenceStep, request: AppendRequest): AppendResult {
  const text = checkAppend(request);
  const row = step.rows.byOperation(request.stream, request.operationId);
  if (!row) return { outcome: 'stored', first: appendNew(step, request, text), how: 'new' };
  if (row.kind !== request.kind || row.count !== request.operations.length) return { outcome: 'mismatch' };
  const stored = storedAt(step, row);
  if (stored) {
    if (stored.content !== hash53(text)) return { outcome: 'mismatch' };
    return { outcome: 'stored', first: stored.first, how: 'repeated' };
  }
  if (isClaimed(row, step.now)) return busy(step, row.claim?.expiresAt);
  if (isLiveSpan(row, step.now)) {
    if (row.epoch !== request.epoch) return busy(step, row.expiresAt);
    storeHere(step, streamOf(step, row), row, text);
    return { outcome: 'stored', first: row.first, how: 'committed' };
  }
  return { outcome: 'stored', ...fillOrMove(step, row, text, request.type) };
}

function busy(step: SequenceStep, until = step.now): AppendResult {
  return { outcome: 'busy', retryAfterMs: until - step.now };
}

/** A result whose lease the store never saw, or forgot: it is leased and committed at once. */
function appendNew(step: SequenceStep, request: AppendRequest, text: string): number {
  const stream = step.rows.stream(request.stream) ?? newStream(request.stream);
  const epoch = drawEpoch(step);
  const first = reserve(stream, request.operations.length);
  const row: SpanRow = {
    stream: stream.name,
    first,
    count: request.operations.length,
    operationId: request.operationId,
    kind: request.kind,
    state: 'leased',
    owner: request.owner,
    epoch,
    leasedAt: step.now,
    expiresAt: step.now,
    ttlMs: 0,
    attempts: 0,
    isManual: false,
    content: 0,
  };
  addCounted(step, stream, row);
  logSpan(step, 'sequence.leased', row, { expiresAt: row.expiresAt });
  storeHere(step, stream, row, text, request.type);
  return first;
}

export function fill(step: SequenceStep, request: FillRequest): FillResult {
  const text = checkFill(request);
  const row = step.rows.spanAt(request.stream, request.number);
  if (!row) return { outcome: 'notGap', state: 'unknown' };
  if (row.operationId !== request.operationId) return { outcome: 'mismatch' };
  const stored = storedAt(step, row);
  if (stored) {
    if (stored.content !== hash53(text)) return { outcome: 'mismatch' };
    return { outcome: 'stored', first: stored.first, how: 'repeated' };
  }
  if (row.state !== 'gap') return { outcome: 'notGap', state: stateAt(row, step.now) };
  checkSameCount(request.operations, row.count);
  return { outcome: 'stored', ...fillOrMove(step, row, text, 'manual') };
}

/** N4: above the seal a gap takes its own operation back; at or below it the operation gets a new number. An open number
 *  whose time is over is always moved: its own number is for its holder and for recovery alone. */
export function fillOrMove(
  step: SequenceStep,
  row: SpanRow,
  text: string,
  type: RecoveryMethod,
): { readonly first: number; readonly how: 'filled' | 'moved' } {
  const stream = streamOf(step, row);
  if (!isOpen(row) && row.first > stream.seal) {
    storeHere(step, stream, row, text, type);
    return { first: row.first, how: 'filled' };
  }
  return { first: storeElsewhere(step, stream, row, text, type).first, how: 'moved' };
}
