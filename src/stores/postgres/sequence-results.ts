// One item's answer as the port gives it: a word and what belongs to it becomes the variant of that name.
import { LeaseError } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import type { CommitRequest, LeaseNumbers } from '../../domain/sequence-requests.js';
import type { OperationState } from '../../domain/sequence.js';
import type * as port from '../sequence-store.js';
import type { Failed, Reply } from '../store.js';
import { decodeFailed, decodeNotHeld, decodeShown, type Answer, type ShownColumns } from './sequence-codec.js';

type LeasedColumns = [
  outcome: string,
  first: number,
  epoch: number,
  leasedAt: number,
  expiresAt: number,
  again: boolean,
  owner: string,
];

/** `first epoch`, of a list in which every operation was new. */
export function newLease(request: LeaseNumbers, pair: string, now: number): port.LeaseNumbersResult {
  const [first, epoch] = pair.split(' ').map(Number) as [number, number];
  const { count, ttlMs, owner } = request;
  const times = { leasedAt: now, expiresAt: now + ttlMs, remainingMs: ttlMs };
  return { outcome: 'leased', first, count, epoch, ...times, again: false, owner };
}

export function leaseResult(request: LeaseNumbers, answer: Answer, now: number): port.LeaseNumbersResult | Failed {
  switch (answer[0]) {
    case 'leased': {
      const [, first, epoch, leasedAt, expiresAt, again, owner] = answer as LeasedColumns;
      const { count } = request;
      const remainingMs = expiresAt - now;
      return { outcome: 'leased', first, count, epoch, leasedAt, expiresAt, remainingMs, again, owner };
    }
    case 'settled':
      return { outcome: 'settled', items: decodeShown(answer[1] as ShownColumns) };
    case 'recovering':
      return { outcome: 'recovering', retryAfterMs: answer[1] as number };
    case 'mismatch':
      return { outcome: 'mismatch' };
    default:
      return decodeFailed(answer, request.stream);
  }
}

export function commitResult(request: CommitRequest, answer: Answer): port.CommitResult | Failed {
  const [outcome, first, repeated] = answer;
  if (outcome === 'committed') return { outcome, first: first as number, repeated: repeated as boolean };
  if (outcome === 'mismatch') return { outcome };
  if (outcome === 'notHeld') return decodeNotHeld(answer);
  return decodeFailed(answer, request.stream, request.operations);
}

export function progressResult(answer: Answer, now: number): port.ProgressResult {
  if (answer[0] === 'notHeld') return decodeNotHeld(answer);
  const expiresAt = answer[1] as number;
  return { outcome: 'kept', remainingMs: expiresAt - now, expiresAt, owner: answer[2] as string };
}

export function releaseResult(answer: Answer): port.ReleaseResult {
  return answer[0] === 'notHeld' ? decodeNotHeld(answer) : { outcome: 'released', again: answer[1] as boolean };
}

export function appendResult([outcome, fact, how]: Answer): port.AppendResult {
  if (outcome === 'busy') return { outcome, retryAfterMs: fact as number };
  if (outcome === 'mismatch') return { outcome };
  return { outcome: 'stored', first: fact as number, how: how as 'committed' };
}

export function fillResult([outcome, fact, how]: Answer): port.FillResult {
  if (outcome === 'notGap') return { outcome, state: fact as OperationState };
  if (outcome === 'mismatch') return { outcome };
  return { outcome: 'stored', first: fact as number, how: how as 'filled' };
}

export function renewalResult(answer: Answer): port.ClaimRenewalResult {
  return answer[0] === 'notHeld' ? decodeNotHeld(answer) : { outcome: 'kept', remainingMs: answer[1] as number };
}

export function settleResult(answer: Answer): port.SettleResult {
  if (answer[0] === 'notHeld') return decodeNotHeld(answer);
  const settled = { outcome: 'settled', state: answer[1] as OperationState } as const;
  return answer[2] === null ? settled : { ...settled, first: answer[2] as number };
}

export function manualReply({ body, ...reply }: Reply & { body: Answer }): port.ManualReply {
  const [outcome, first, how] = body;
  if (outcome === 'stored') return { ...reply, outcome, first: first as number, how: how as 'filled' };
  return { ...reply, outcome: outcome as 'queued' | 'discarded' | 'unknown' };
}

export function cursorReply({ body, ...reply }: Reply & { body: Answer }, stream: string): port.CursorReply {
  const [outcome, fact, done] = body as [string, number, number];
  switch (outcome) {
    case 'opened':
      return { ...reply, outcome, epoch: fact, done };
    case 'moved':
      return { ...reply, outcome, done: fact };
    case 'stale':
      return { ...reply, outcome, epoch: fact };
    case 'beyond':
      return { ...reply, outcome, watermark: fact };
    case 'forgotten':
      return { ...reply, outcome };
    case 'full':
      throw new LeaseError(
        'RATE_LIMITED',
        `${stream} has ${LIMITS.readersPerStream} readers, which is the limit: forget some that are gone`,
      );
    default:
      return { ...reply, outcome: 'unknown' };
  }
}
