// What the holder of numbers asks for: lease, progress, commit, release. Each succeeds only for the same epoch while the
// lease is live; a stale one changes nothing and says what it found (S5). An operation id is leased once and stored once:
// asking again answers the present state (N1).
import {
  checkCommit,
  checkLeaseNumbers,
  checkProgress,
  checkRelease,
  checkSameCount,
} from '../../../domain/check-sequence.js';
import { hash53 } from '../../../domain/content.js';
import { LeaseError } from '../../../domain/errors.js';
import { LIMITS } from '../../../domain/limits.js';
import type {
  CommitRequest,
  LeaseNumbers,
  ProgressRequest,
  ReleaseNumbers,
} from '../../../domain/sequence-requests.js';
import type {
  CommitResult,
  LeaseNumbersResult,
  NotHeldNumber,
  ProgressResult,
  ReleaseResult,
} from '../../sequence-store.js';
import { settledNumbers } from './look.js';
import { isOpen, type SequenceStep, type SpanRow, type StreamRow } from './rows.js';
import {
  addCounted,
  become,
  becomeGap,
  drawEpoch,
  isClaimed,
  isLiveSpan,
  logSpan,
  newStream,
  reserve,
  stateAt,
  storeHere,
} from './transitions.js';

export function lease(step: SequenceStep, request: LeaseNumbers): LeaseNumbersResult {
  checkLeaseNumbers(request);
  const known = step.rows.byOperation(request.stream, request.operationId);
  if (known) return answerKnown(step, request, known);
  const stream = step.rows.stream(request.stream) ?? newStream(request.stream);
  refuseWhenFull(step, stream, request.count);
  const epoch = drawEpoch(step); // before numbers are taken: a counter at its end refuses and leaves no hole
  const first = reserve(stream, request.count);
  const { operationId, kind, count, owner, ttlMs } = request;
  const row: SpanRow = {
    stream: stream.name,
    first,
    count,
    operationId,
    kind,
    state: 'leased',
    owner,
    epoch,
    leasedAt: step.now,
    expiresAt: step.now + ttlMs,
    ttlMs,
    attempts: 0,
    isManual: false,
    content: 0,
  };
  addCounted(step, stream, row);
  logSpan(step, 'sequence.leased', row, { expiresAt: row.expiresAt });
  return leased(step, row, false);
}

/** S18: somebody leases and never commits. What is open is what every look at the watermark and every recovery pays for. */
function refuseWhenFull(step: SequenceStep, stream: StreamRow, count: number): void {
  const most = LIMITS.openNumbersPerStream;
  if (stream.next + count <= most) return;
  const lowest = step.rows.lowestOpen(stream.name)?.first ?? stream.next;
  if (stream.next - lowest + count <= most) return; // however many of these are open
  const open = step.rows.openNumbers(stream.name);
  if (open + count <= most) return;
  throw new LeaseError(
    'RATE_LIMITED',
    `${open} numbers of ${stream.name} are open, at most ${most}: commit or release some`,
    { details: { open } },
  );
}

function answerKnown(step: SequenceStep, request: LeaseNumbers, row: SpanRow): LeaseNumbersResult {
  if (row.kind !== request.kind || row.count !== request.count) return { outcome: 'mismatch' };
  if (!isOpen(row)) return { outcome: 'settled', items: settledNumbers(row) };
  if (isLiveSpan(row, step.now)) return leased(step, row, true);
  if (isClaimed(row, step.now))
    return { outcome: 'recovering', retryAfterMs: (row.claim?.expiresAt ?? step.now) - step.now };
  return takeUpAgain(step, request, row);
}

/** The process that crashed is back, or another does its work: the same number, a new epoch, before anybody recovered it. */
function takeUpAgain(step: SequenceStep, request: LeaseNumbers, row: SpanRow): LeaseNumbersResult {
  const epoch = drawEpoch(step);
  const stream = streamOf(step, row);
  become(step, stream, row, (span) => {
    span.state = 'leased';
    span.epoch = epoch;
    span.owner = request.owner;
    span.leasedAt = step.now;
    span.expiresAt = step.now + request.ttlMs;
    span.ttlMs = request.ttlMs;
    span.claim = undefined;
    span.retryAt = undefined;
  });
  logSpan(step, 'sequence.leased', row, { expiresAt: row.expiresAt, again: true });
  return leased(step, row, true);
}

function leased(step: SequenceStep, row: SpanRow, again: boolean): LeaseNumbersResult {
  const { first, count, epoch, leasedAt, expiresAt, owner } = row;
  const remainingMs = expiresAt - step.now;
  return { outcome: 'leased', first, count, epoch, leasedAt, expiresAt, remainingMs, again, owner };
}

export function progress(step: SequenceStep, request: ProgressRequest): ProgressResult {
  const text = checkProgress(request);
  const row = step.rows.byOperation(request.stream, request.operationId);
  if (!row || !isHeldBy(row, request.epoch, step.now)) return notHeld(row, step.now);
  const { progress: made } = request;
  if (made.what === 'finished') checkSameCount(made.operations, row.count);
  if (made.what === 'renew' && step.now + made.ttlMs > row.expiresAt) {
    row.expiresAt = step.now + made.ttlMs;
    row.ttlMs = made.ttlMs; // so that the two say when this was, also to a file that is opened after a restart (S13)
  }
  if (made.what === 'partial') row.partial = text;
  if (made.what === 'finished') row.finished = text;
  if (made.what !== 'look') step.rows.saveSpan(row);
  return { outcome: 'kept', remainingMs: row.expiresAt - step.now, expiresAt: row.expiresAt, owner: row.owner };
}

export function commit(step: SequenceStep, request: CommitRequest): CommitResult {
  const text = checkCommit(request);
  const row = step.rows.byOperation(request.stream, request.operationId);
  if (!row) return notHeld(row, step.now);
  const stored = storedAt(step, row);
  if (stored) return answerStored(stored, text);
  if (!isHeldBy(row, request.epoch, step.now)) return notHeld(row, step.now);
  checkSameCount(request.operations, row.count);
  storeHere(step, streamOf(step, row), row, text);
  return { outcome: 'committed', first: row.first, repeated: false };
}

function answerStored(stored: SpanRow, text: string): CommitResult {
  if (stored.content !== hash53(text)) return { outcome: 'mismatch' };
  return { outcome: 'committed', first: stored.first, repeated: true };
}

export function release(step: SequenceStep, request: ReleaseNumbers): ReleaseResult {
  checkRelease(request);
  const row = step.rows.byOperation(request.stream, request.operationId);
  if (row?.state === 'gap' && row.epoch === request.epoch && row.reason === request.reason)
    return { outcome: 'released', again: true };
  if (!row || !isHeldBy(row, request.epoch, step.now)) return notHeld(row, step.now);
  becomeGap(step, streamOf(step, row), row, request.reason);
  return { outcome: 'released', again: false };
}

/** The span that holds the operations of this one's operation id, when they are stored. A trimmed one counts. */
export function storedAt(step: SequenceStep, row: SpanRow): SpanRow | undefined {
  if (row.content !== 0) return row;
  return row.movedTo === undefined ? undefined : step.rows.spanAt(row.stream, row.movedTo);
}

export function streamOf(step: SequenceStep, row: SpanRow): StreamRow {
  const stream = step.rows.stream(row.stream);
  if (stream) return stream;
  throw new LeaseError(
    'STORE_INCOMPATIBLE',
    `${row.stream} has numbers but is no stream: restore the store from a backup`,
  );
}

function isHeldBy(row: SpanRow, epoch: number, now: number): boolean {
  return row.epoch === epoch && isLiveSpan(row, now);
}

export function notHeld(row: SpanRow | undefined, now: number): NotHeldNumber {
  if (!row) return { outcome: 'notHeld', state: 'unknown' };
  return { outcome: 'notHeld', state: stateAt(row, now), epoch: row.epoch };
}
