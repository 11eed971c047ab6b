// Items about streams on their way to a script and back. Everything is checked here, before anything is sent, so that a bad
// item fails alone (S21); what only the row can tell (how many numbers a lease has) the script answers, and the words are
// those of every other store.
import {
  checkAppend,
  checkClaimRenewal,
  checkCommit,
  checkFill,
  checkLeaseNumbers,
  checkProgress,
  checkRelease,
  checkSameCount,
  checkSettle,
} from '../../domain/check-sequence.js';
import { hash53 } from '../../domain/content.js';
import { invalid, LeaseError } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import type {
  AppendRequest,
  ClaimRenewal,
  CommitRequest,
  FillRequest,
  LeaseNumbers,
  ProgressRequest,
  ReleaseNumbers,
  SettleRequest,
  Settlement,
} from '../../domain/sequence-requests.js';
import { settledNumbers } from '../protocol/sequence/look.js';
import type * as port from '../sequence-store.js';
import type { Failed } from '../store.js';
import { noMoreEpochs, type Item } from './items.js';
import { decodeSpan, operationState } from './sequence-text.js';

type Words = readonly (string | number)[];

/** An item whose answer may be one of the refusals every method shares. */
function item<R>(
  stream: string,
  fields: readonly (string | number)[],
  operations: readonly unknown[],
  read: (words: Words, now: number) => R,
): Item<R> {
  const { length } = operations;
  return {
    text: () => [stream, ...fields].join('\t'),
    read: (answer, { now }) => {
      const words = answer as Words;
      const refused = refusalOf(words, stream, length);
      return refused ? failed(refused) : read(words, now);
    },
  };
}

function refusalOf([outcome, figure]: Words, stream: string, length: number): LeaseError | undefined {
  if (outcome === 'count') return otherCount(length, Number(figure));
  if (outcome === 'epoch') return noMoreEpochs();
  if (outcome === 'spent') return invalid(`${stream} has left the range of safe integers`);
  if (outcome === 'nothing') return invalid('there is no finished result to commit: rebuild it, or make a gap');
  return outcome === 'full' ? streamFull(stream, Number(figure)) : undefined;
}

function otherCount(length: number, count: number): LeaseError {
  try {
    checkSameCount({ length } as readonly unknown[], count);
  } catch (error) {
    if (error instanceof LeaseError) return error;
  }
  return invalid(`the lease has ${count} numbers`);
}

function streamFull(stream: string, open: number): LeaseError {
  const message = `${open} numbers of ${stream} are open, at most ${LIMITS.openNumbersPerStream}: commit or release some`;
  return new LeaseError('RATE_LIMITED', message, { details: { open } });
}

export function leaseNumbersItem(request: LeaseNumbers): Item<port.LeaseNumbersResult> {
  checkLeaseNumbers(request);
  const { stream, operationId, kind, ttlMs, count, owner } = request;
  return item(stream, [operationId, kind, ttlMs, count, owner], [], ([outcome, ...rest], now) => {
    if (outcome === 'settled') {
      const [text, operations] = rest as [string, string];
      return { outcome, items: settledNumbers(decodeSpan(stream, text, { operations })) };
    }
    if (outcome === 'recovering') return { outcome, retryAfterMs: Number(rest[0]) };
    if (outcome !== 'leased') return { outcome: 'mismatch' };
    const [first, numbers, epoch, leasedAt, expiresAt, again] = rest.map(Number) as Six;
    const times = { leasedAt, expiresAt, remainingMs: expiresAt - now };
    return { outcome, first, count: numbers, epoch, ...times, again: again === 1, owner: String(rest[6]) };
  });
}
type Six = [number, number, number, number, number, number];

export function progressItem(request: ProgressRequest): Item<port.ProgressResult> {
  const text = checkProgress(request) ?? '';
  const { stream, operationId, epoch, progress } = request;
  const operations = progress.what === 'finished' ? progress.operations : [];
  const ttlMs = progress.what === 'renew' ? progress.ttlMs : 0;
  const fields = [operationId, epoch, progress.what, ttlMs, operations.length, hash53(text), text];
  return item(stream, fields, operations, (words, now) => {
    if (words[0] !== 'kept') return notHeld(words);
    const expiresAt = Number(words[1]);
    return { outcome: 'kept', remainingMs: expiresAt - now, expiresAt, owner: String(words[2]) };
  });
}

export function commitItem(request: CommitRequest): Item<port.CommitResult> {
  const text = checkCommit(request);
  const { stream, operationId, epoch, operations } = request;
  return item(stream, [operationId, epoch, operations.length, hash53(text), text], operations, (words) => {
    if (words[0] === 'mismatch') return { outcome: 'mismatch' };
    if (words[0] !== 'committed') return notHeld(words);
    return { outcome: 'committed', first: Number(words[1]), repeated: words[2] === 1 };
  });
}

export function releaseItem(request: ReleaseNumbers): Item<port.ReleaseResult> {
  checkRelease(request);
  const { stream, operationId, epoch, reason } = request;
  return item(stream, [operationId, epoch, reason], [], (words) =>
    words[0] === 'released' ? { outcome: 'released', again: words[1] === 1 } : notHeld(words),
  );
}

export function appendItem(request: AppendRequest): Item<port.AppendResult> {
  const text = checkAppend(request);
  const { stream, operationId, kind, owner, epoch = 0, type, operations } = request;
  const fields = [operationId, kind, owner, epoch, type, operations.length, hash53(text), text];
  return item(stream, fields, operations, ([outcome, figure, how]) => {
    if (outcome === 'busy') return { outcome, retryAfterMs: Number(figure) };
    if (outcome !== 'stored') return { outcome: 'mismatch' };
    return { outcome, first: Number(figure), how: how as Extract<port.AppendResult, { outcome: 'stored' }>['how'] };
  });
}

export function fillItem(request: FillRequest): Item<port.FillResult> {
  const text = checkFill(request);
  const { stream, number, operationId, operations } = request;
  const fields = [number, operationId, operations.length, hash53(text), text];
  return item(stream, fields, operations, ([outcome, figure, how]) => {
    if (outcome === 'notGap') return { outcome, state: operationState(figure) };
    if (outcome !== 'stored') return { outcome: 'mismatch' };
    return { outcome, first: Number(figure), how: how as Extract<port.FillResult, { outcome: 'stored' }>['how'] };
  });
}

export function renewClaimItem(request: ClaimRenewal): Item<port.ClaimRenewalResult> {
  checkClaimRenewal(request);
  const { stream, operationId, claimEpoch, ttlMs } = request;
  return item(stream, [operationId, claimEpoch, ttlMs], [], (words) =>
    words[0] === 'kept' ? { outcome: 'kept', remainingMs: Number(words[1]) } : notHeld(words),
  );
}

export function settleItem(request: SettleRequest): Item<port.SettleResult> {
  const text = checkSettle(request) ?? '';
  const { stream, operationId, claimEpoch, settlement } = request;
  const operations = settlement.to === 'move' ? settlement.operations : [];
  const fields = [operationId, claimEpoch, ...howOf(settlement), operations.length, hash53(text), text];
  return item(stream, fields, operations, (words) => {
    if (words[0] !== 'settled') return notHeld(words);
    const first = Number(words[2]);
    return { outcome: 'settled', state: operationState(words[1]), ...(first === 0 ? {} : { first }) };
  });
}

/** To what, after how long, reason, error, method. */
function howOf(
  settlement: Settlement,
): [to: string, after: string | number, reason: string, error: string, type: string] {
  const { to } = settlement;
  if (to === 'move') return [to, '', '', '', settlement.type];
  if (to === 'gap') return [to, settlement.againAfterMs ?? '', settlement.reason, '', ''];
  if (to === 'retry') return [to, settlement.afterMs, '', settlement.error, ''];
  return to === 'manual' ? [to, '', settlement.reason, settlement.error, ''] : [to, '', '', '', ''];
}

function notHeld([, letter, epoch]: Words): port.NotHeldNumber {
  const state = operationState(letter);
  return Number(epoch) === 0 ? { outcome: 'notHeld', state } : { outcome: 'notHeld', state, epoch: Number(epoch) };
}

function failed(error: LeaseError): Failed {
  return { outcome: 'failed', error };
}
