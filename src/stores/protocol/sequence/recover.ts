// Recovery as the store sees it (V1, V2, V4): a claim with an epoch of its own, and the one step that settles what was
// claimed. Whoever lost its claim changes nothing. What is decided here is only whether the step may be taken: which one,
// the recoverer decides.
import {
  checkClaim,
  checkClaimRenewal,
  checkManual,
  checkManualQuery,
  checkSameCount,
  checkSettle,
} from '../../../domain/check-sequence.js';
import { invalid } from '../../../domain/errors.js';
import { LIMITS } from '../../../domain/limits.js';
import type {
  ClaimOrder,
  ClaimRenewal,
  ManualOrder,
  ManualQuery,
  SettleRequest,
  Settlement,
} from '../../../domain/sequence-requests.js';
import type { RecoveryMethod } from '../../../domain/sequence.js';
import type {
  ClaimedReply,
  ClaimRenewalResult,
  ManualItemsReply,
  ManualReply,
  NotHeldNumber,
  SettleResult,
} from '../../sequence-store.js';
import type { Reply } from '../../store.js';
import { notHeld, streamOf } from './hold.js';
import { claimedOf, manualItem, workBytes } from './look.js';
import { fillOrMove } from './place.js';
import { isOpen, type SequenceStep, type SpanRow } from './rows.js';
import { become, becomeGap, drawEpoch, isClaimed, logSpan, overrun, stateAt, storeHere } from './transitions.js';

type Without<R extends Reply> = R extends Reply ? Omit<R, keyof Reply> : never;

/** What is due, lowest numbers first: expired, due for another try, or claimed by somebody whose claim ran out. */
export function claim(step: SequenceStep, order: ClaimOrder): Without<ClaimedReply> {
  checkClaim(order);
  const { rows, now } = step;
  const wanted = order.limit + 1;
  const backlog = rows.countDue(order.stream, now, LIMITS.rowsPerStep + 1);
  const due = backlog === 0 ? [] : rows.due(order.stream, now, wanted);
  if (order.gapsToo && due.length < wanted) due.push(...rows.dueGaps(order.stream, now, wanted - due.length));
  const taken = within(due.slice(0, order.limit), workBytes);
  for (const row of taken) {
    const epoch = drawEpoch(step);
    become(step, streamOf(step, row), row, (span) => {
      if (isOpen(span)) span.state = 'recovering';
      span.claim = { epoch, owner: order.owner, expiresAt: now + order.ttlMs };
      if (isOpen(span)) span.retryAt = undefined;
    });
  }
  return { claimed: taken.map((row) => claimedOf(row, now)), backlog, more: due.length > taken.length };
}

/** S18: as many as fit into one page, at least one. */
function within(rows: readonly SpanRow[], bytesOf: (row: SpanRow) => number): SpanRow[] {
  const page: SpanRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    bytes += bytesOf(row);
    if (page.length > 0 && bytes > LIMITS.operationsBytes) break;
    page.push(row);
  }
  return page;
}

export function renewClaim(step: SequenceStep, request: ClaimRenewal): ClaimRenewalResult {
  checkClaimRenewal(request);
  const row = step.rows.byOperation(request.stream, request.operationId);
  const held = claimOf(row, request.claimEpoch, step.now);
  if (!row || !held) return claimLost(row, step.now);
  held.expiresAt = Math.max(held.expiresAt, step.now + request.ttlMs);
  step.rows.saveSpan(row);
  return { outcome: 'kept', remainingMs: held.expiresAt - step.now };
}

function claimOf(row: SpanRow | undefined, epoch: number, now: number): SpanRow['claim'] {
  return row && row.claim?.epoch === epoch && isClaimed(row, now) ? row.claim : undefined;
}

function claimLost(row: SpanRow | undefined, now: number): NotHeldNumber {
  const { epoch: _lease, ...found } = notHeld(row, now);
  return row?.claim === undefined ? found : { ...found, epoch: row.claim.epoch };
}

export function settle(step: SequenceStep, request: SettleRequest): SettleResult {
  const text = checkSettle(request);
  const row = step.rows.byOperation(request.stream, request.operationId);
  if (!row || !claimOf(row, request.claimEpoch, step.now)) return claimLost(row, step.now);
  const { settlement } = request;
  const first = storeOrPutOff(step, row, settlement, text);
  return { outcome: 'settled', state: stateAt(row, step.now), ...(first === undefined ? {} : { first }) };
}

function storeOrPutOff(
  step: SequenceStep,
  row: SpanRow,
  settlement: Settlement,
  text: string | undefined,
): number | undefined {
  switch (settlement.to) {
    case 'commit': {
      if (row.finished === undefined) throw invalid('there is no finished result to commit: rebuild it, or make a gap');
      return recovered(step, row, row.finished, 'recommitted');
    }
    case 'move':
      checkSameCount(settlement.operations, row.count);
      return recovered(step, row, text ?? '', settlement.type);
    case 'gap':
      leaveGap(step, row, settlement);
      return undefined;
    case 'retry':
      putOff(step, row, settlement.error, settlement.afterMs);
      return undefined;
    case 'manual':
      handOver(step, row, settlement);
      return undefined;
  }
}

/** A finished result of an open number stays at that number; anything else is filled in or moved. */
function recovered(step: SequenceStep, row: SpanRow, text: string, method: RecoveryMethod): number {
  const isInPlace = isOpen(row) && method === 'recommitted';
  if (isInPlace) storeHere(step, streamOf(step, row), row, text, method);
  const first = isInPlace ? row.first : fillOrMove(step, row, text, method).first;
  logSpan(step, 'recovery.succeeded', row, { outcome: row.state, storedAt: first, ...overrun(step, row, method) });
  return first;
}

function leaveGap(
  step: SequenceStep,
  row: SpanRow,
  { reason, againAfterMs }: Extract<Settlement, { to: 'gap' }>,
): void {
  const stream = streamOf(step, row);
  const wasManual = row.isManual;
  const keep = (span: SpanRow): void => {
    if (againAfterMs !== undefined && !wasManual) span.retryAt = step.now + againAfterMs;
    if (wasManual) {
      span.attempts += 1;
      span.lastError = reason;
    }
  };
  const wasOpen = isOpen(row);
  becomeGap(step, stream, row, reason, keep, 'gap');
  if (wasOpen) logSpan(step, 'recovery.succeeded', row, { outcome: 'gap', ...overrun(step, row, 'gap') });
  else if (wasManual) logSpan(step, 'recovery.failed', row, failedData(step, row, 'manual'), { error: reason });
}

/** V4: back to wait for the next try. */
function putOff(step: SequenceStep, row: SpanRow, error: string, afterMs: number): void {
  become(step, streamOf(step, row), row, (span) => {
    if (isOpen(span)) span.state = 'leased';
    span.claim = undefined;
    span.retryAt = step.now + afterMs;
    span.attempts += 1;
    span.lastError = error;
  });
  logSpan(step, 'recovery.failed', row, { ...failedData(step, row, 'failed'), retryAt: row.retryAt }, { error });
}

/** V4: the number is settled as a gap, and a person has to look at what was to be there. */
function handOver(step: SequenceStep, row: SpanRow, { reason, error }: Extract<Settlement, { to: 'manual' }>): void {
  const hand = (span: SpanRow): void => {
    span.isManual = true;
    span.attempts += 1;
    span.lastError = error;
  };
  becomeGap(step, streamOf(step, row), row, reason, hand, 'manual');
  logSpan(step, 'recovery.failed', row, failedData(step, row, 'manual'), { error });
}

function failedData(step: SequenceStep, row: SpanRow, method: RecoveryMethod): Record<string, unknown> {
  return { outcome: method === 'manual' ? 'manual' : 'retry', attempts: row.attempts, ...overrun(step, row, method) };
}

export function manualItems(step: SequenceStep, query: ManualQuery): Without<ManualItemsReply> {
  checkManualQuery(query);
  const found = step.rows.manual(query.stream, query.after, query.limit + 1);
  const page = within(found.slice(0, query.limit), workBytes);
  return { items: page.map(manualItem), more: found.length > page.length };
}

export function manual(step: SequenceStep, order: ManualOrder): Without<ManualReply> {
  checkManual(order);
  const row = step.rows.byOperation(order.stream, order.operationId);
  if (!row?.isManual) return { outcome: 'unknown' };
  const actor = { actor: order.actor };
  if (order.act === 'discard') {
    become(step, streamOf(step, row), row, (span) => {
      span.isManual = false;
      span.claim = undefined;
      span.retryAt = undefined;
      span.partial = undefined;
      span.finished = undefined;
    });
    logSpan(step, 'recovery.failed', row, { outcome: 'discarded', method: 'manual' }, { ...actor, error: 'discarded' });
    return { outcome: 'discarded' };
  }
  if (row.finished !== undefined) {
    const placed = fillOrMove(step, row, row.finished, 'manual');
    logSpan(step, 'recovery.succeeded', row, { outcome: row.state, storedAt: placed.first, method: 'manual' }, actor);
    return { outcome: 'stored', ...placed };
  }
  become(step, streamOf(step, row), row, (span) => {
    span.retryAt ??= step.now;
  });
  return { outcome: 'queued' };
}
