// What a valid request about sequences is (S18, N1). Stores call these on every item, so that the same request is refused
// by every store with the same words, and a bad item fails alone (S21).
import { checkLimit, checkOperationId, checkOwner, checkText, checkWholeMs } from './check-request.js';
import { isEpoch } from './epoch.js';
import { invalid, shown } from './errors.js';
import { LIMITS } from './limits.js';
import { checkJson } from './metadata.js';
import { byteLength, checkName } from './resource-name.js';
import type {
  AppendRequest,
  BarrierOrder,
  ClaimOrder,
  ClaimRenewal,
  CommitRequest,
  CursorOrder,
  FillRequest,
  GapQuery,
  LeaseNumbers,
  ManualOrder,
  ManualQuery,
  ProgressRequest,
  ReadOrder,
  ReleaseNumbers,
  SettleRequest,
  StreamQuery,
  TrimOrder,
} from './sequence-requests.js';

const METHODS: ReadonlySet<unknown> = new Set(['partial_work', 'recommitted', 'gap', 'manual', 'failed', 'spool']);

/** The shortest and the longest a claim lives; it is renewed while its recoverer works (V1). */
const CLAIM_MS = { min: LIMITS.minTtlManualMs, max: 3_600_000 } as const;

export function checkStream(stream: unknown): string {
  return checkName(stream);
}

export function checkKind(kind: unknown): string {
  return checkText(kind, 'kind', 1, LIMITS.kindBytes);
}

export function checkCount(count: unknown): number {
  const isFine = Number.isSafeInteger(count) && (count as number) >= 1 && (count as number) <= LIMITS.numbersPerLease;
  if (isFine) return count as number;
  throw invalid(`count is a whole number from 1 to ${LIMITS.numbersPerLease}, got ${shown(count)}`);
}

export function checkNumber(number: unknown, what = 'a number of a stream', min = 1): number {
  if (Number.isSafeInteger(number) && (number as number) >= min) return number as number;
  throw invalid(`${what} is a whole number from ${min} on, got ${shown(number)}`);
}

/** N1: with `count` n all n settle together, so it takes an operation for each. */
export function checkSameCount(operations: readonly unknown[], count: number): void {
  if (operations.length === count) return;
  throw invalid(`the lease has ${count} numbers, so it takes ${count} operations, got ${operations.length}`);
}

/** The JSON text of the list, one operation for each number. */
export function checkOperations(operations: unknown): string {
  if (!Array.isArray(operations) || operations.length === 0)
    throw invalid('operations are a list, one for each number');
  if (operations.length > LIMITS.numbersPerLease)
    throw invalid(`at most ${LIMITS.numbersPerLease} operations are stored together, got ${operations.length}`);
  const texts = operations.map((operation) => {
    if (operation === undefined) throw invalid('an operation is plain JSON, got undefined: use null for nothing');
    return checkJson(operation, 'operation', LIMITS.operationBytes) as string;
  });
  const text = `[${texts.join()}]`;
  const bytes = byteLength(text);
  if (bytes <= LIMITS.operationsBytes) return text;
  throw invalid(
    `the operations are ${bytes} bytes of JSON together, at most ${LIMITS.operationsBytes}: lease fewer numbers at once`,
  );
}

export function checkLeaseNumbers(request: LeaseNumbers): void {
  checkOperation(request);
  checkKind(request.kind);
  checkWholeMs(request.ttlMs, 'ttl', LIMITS.minTtlManualMs, LIMITS.ttlMs);
  checkCount(request.count);
  checkOwner(request.owner);
}

/** Answers the JSON text of what is to be kept, where there is any. */
export function checkProgress(request: ProgressRequest): string | undefined {
  checkHolder(request);
  const { progress } = request;
  const what: unknown = (progress as { what?: unknown } | undefined)?.what;
  if (progress.what === 'look') return undefined;
  if (progress.what === 'renew') {
    checkWholeMs(progress.ttlMs, 'ttl', LIMITS.minTtlManualMs, LIMITS.ttlMs);
    return undefined;
  }
  if (progress.what === 'finished') return checkOperations(progress.operations);
  if (progress.what !== 'partial') throw invalid(`progress is look, renew, partial or finished, got ${shown(what)}`);
  if (progress.work === undefined) throw invalid('partial work is plain JSON, got undefined');
  return checkJson(progress.work, 'partial work', LIMITS.operationBytes);
}

export function checkCommit(request: CommitRequest): string {
  checkHolder(request);
  return checkOperations(request.operations);
}

export function checkRelease(request: ReleaseNumbers): void {
  checkHolder(request);
  checkText(request.reason, 'reason', 1, LIMITS.reasonBytes);
}

export function checkAppend(request: AppendRequest): string {
  checkOperation(request);
  checkKind(request.kind);
  checkOwner(request.owner);
  checkMethod(request.type);
  if (request.epoch !== undefined && !isEpoch(request.epoch)) throw invalid(`not an epoch: ${shown(request.epoch)}`);
  return checkOperations(request.operations);
}

export function checkFill(request: FillRequest): string {
  checkOperation(request);
  checkNumber(request.number);
  checkOwner(request.owner);
  return checkOperations(request.operations);
}

export function checkClaim(order: ClaimOrder): void {
  if (order.stream !== undefined) checkStream(order.stream);
  checkLimit(order.limit);
  checkOwner(order.owner);
  checkWholeMs(order.ttlMs, 'the ttl of a claim', CLAIM_MS.min, CLAIM_MS.max);
}

export function checkClaimRenewal(request: ClaimRenewal): void {
  checkClaimant(request);
  checkWholeMs(request.ttlMs, 'the ttl of a claim', CLAIM_MS.min, CLAIM_MS.max);
}

/** Answers the JSON text of the operations of a move. */
export function checkSettle(request: SettleRequest): string | undefined {
  checkClaimant(request);
  const { settlement } = request;
  switch (settlement.to) {
    case 'commit':
      return undefined;
    case 'move':
      checkMethod(settlement.type);
      return checkOperations(settlement.operations);
    case 'gap':
      checkText(settlement.reason, 'reason', 1, LIMITS.reasonBytes);
      if (settlement.againAfterMs !== undefined) checkWholeMs(settlement.againAfterMs, 'again', 0, LIMITS.ttlMs);
      return undefined;
    case 'retry':
      checkText(settlement.error, 'error', 1, LIMITS.reasonBytes);
      checkWholeMs(settlement.afterMs, 'the pause before a retry', 0, LIMITS.ttlMs);
      return undefined;
    case 'manual':
      checkText(settlement.reason, 'reason', 1, LIMITS.reasonBytes);
      checkText(settlement.error, 'error', 1, LIMITS.reasonBytes);
      return undefined;
    default:
      throw invalid(`a number is settled by commit, move, gap, retry or manual, got ${shown(settlement)}`);
  }
}

export function checkRead(order: ReadOrder): void {
  checkStream(order.stream);
  checkNumber(order.from);
  checkLimit(order.limit);
}

export function checkBarrier(order: BarrierOrder): void {
  checkStream(order.stream);
  checkNumber(order.number, 'the number to wait for');
}

export function checkCursor(order: CursorOrder): void {
  checkStream(order.stream);
  checkOwner(order.reader, 'the name of a reader');
  if (order.act === 'open' || order.act === 'forget') return;
  if (order.act !== 'done') throw invalid(`a cursor is opened, moved (done) or forgotten, got ${shown(order)}`);
  checkNumber(order.number, 'the number a reader is done with');
  if (!isEpoch(order.epoch)) throw invalid(`not an epoch: ${shown(order.epoch)}`);
}

export function checkTrim(order: TrimOrder): void {
  checkStream(order.stream);
  checkNumber(order.before, 'the number to trim before');
  checkLimit(order.limit);
}

export function checkGapQuery(query: GapQuery): void {
  checkStream(query.stream);
  checkNumber(query.after, 'the number to go on after', 0);
  checkLimit(query.limit);
}

export function checkManualQuery(query: ManualQuery): void {
  if (query.stream !== undefined) checkStream(query.stream);
  if (query.after !== undefined) {
    checkStream(query.after.stream);
    checkNumber(query.after.number, 'the number to go on after', 0);
  }
  checkLimit(query.limit);
}

export function checkStreamQuery(query: StreamQuery): void {
  if (query.stream !== undefined) checkStream(query.stream);
  if (query.after !== undefined) checkStream(query.after);
  checkLimit(query.limit);
}

export function checkManual(order: ManualOrder): void {
  checkOperation(order);
  checkOwner(order.actor, 'actor');
  const act: unknown = order.act;
  if (act !== 'retry' && act !== 'discard') throw invalid(`a manual item is retried or discarded, got ${shown(act)}`);
}

function checkOperation(request: { readonly stream: string; readonly operationId: string }): void {
  checkStream(request.stream);
  checkOperationId(request.operationId);
}

function checkHolder(request: { readonly stream: string; readonly operationId: string; readonly epoch: number }): void {
  checkOperation(request);
  if (!isEpoch(request.epoch)) throw invalid(`not an epoch: ${shown(request.epoch)}`);
}

function checkClaimant(request: { stream: string; operationId: string; claimEpoch: number }): void {
  checkOperation(request);
  if (!isEpoch(request.claimEpoch)) throw invalid(`not an epoch of a claim: ${shown(request.claimEpoch)}`);
}

function checkMethod(type: unknown): void {
  if (!METHODS.has(type)) throw invalid(`not a way of recovery: ${shown(type)}`);
}
