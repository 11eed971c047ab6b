// The results of the four list methods, from the arrays the functions of the schema answer to the variants of the port.
import type { RefusalReason, StoreRefusal } from '../../domain/decide.js';
import type { WaitStep } from '../../domain/wait-graph.js';
import type { AcquireResult, ChangeResult, EndResult, Failed, NotHeld, RenewResult } from '../store.js';
import { plainLease, type CheckedAcquire } from './encode-acquire.js';
import { failedItem } from './item-errors.js';
import { decodeLease, statusOf, type RecordColumns } from './row-codec.js';

/** The outcome first, then what belongs to it. */
export type Raw = readonly [outcome: string, ...rest: readonly unknown[]];

type RefusalColumns = [
  reason: RefusalReason,
  holders: RecordColumns[],
  holderCount: number,
  queueLength: number,
  retryAfterMs: number,
];

export function decodeAcquire(raw: Raw, now: number): AcquireResult | Failed {
  const [outcome, a, b, c] = raw;
  switch (outcome) {
    case 'granted':
      return {
        outcome,
        lease: decodeLease(a as RecordColumns, now),
        remainingMs: b as number,
        again: c as boolean,
      };
    case 'queued':
      return { outcome, place: a as number, ticketLeftMs: b as number, refusal: refusalOf(c as RefusalColumns, now) };
    case 'refused':
      return { outcome, refusal: refusalOf(a as RefusalColumns, now) };
    case 'ended':
      return { outcome, status: statusOf(a as number), reason: (b as string | null) ?? undefined };
    case 'deadlock':
      return { outcome, cycle: a as readonly WaitStep[] };
    case 'mismatch':
    case 'tooOld':
      return { outcome };
    default:
      return failedItem(a as string, b as number | undefined);
  }
}

/** The server's wall clock, and the epochs of a list that was granted as a whole, or an answer for each. */
export type PlainColumns = [wall: number, answers: string | (number | Raw)[]];

export function decodePlain(
  items: readonly CheckedAcquire[],
  [wall, answers]: PlainColumns,
  now: number,
): (AcquireResult | Failed)[] {
  const list = typeof answers === 'string' ? answers.split(',').map(Number) : answers;
  return list.map((one, i): AcquireResult | Failed => {
    if (typeof one !== 'number') return decodeAcquire(one, now);
    const lease = plainLease(items[i] as CheckedAcquire, one, now, wall);
    return { outcome: 'granted', lease, remainingMs: lease.expiresAt - now, again: false };
  });
}

/** `expiresAt renewals` for each, when all of them were renewed. */
export function decodeRenews(body: Raw[] | string, now: number): (RenewResult | Failed)[] {
  if (typeof body !== 'string') return body.map(decodeRenew);
  return body.split(',').map((one) => {
    const [expiresAt = 0, renewals = 0] = one.split(' ').map(Number);
    return { outcome: 'renewed', remainingMs: expiresAt - now, expiresAt, renewals };
  });
}

/** How long each leaves a block, when all of them were released. */
export function decodeEnds(body: Raw[] | string): (EndResult | Failed)[] {
  if (typeof body !== 'string') return body.map(decodeEnd);
  return body.split(',').map((one) => ({ outcome: 'released', again: false, blockedMs: Number(one) }));
}

function decodeRenew(raw: Raw): RenewResult | Failed {
  const [outcome, a, b, c] = raw;
  if (outcome === 'renewed') {
    return { outcome, remainingMs: a as number, expiresAt: b as number, renewals: c as number };
  }
  if (outcome === 'maxRenewals' || outcome === 'maxHold') return { outcome, remainingMs: a as number };
  return notHeld(raw);
}

function decodeEnd(raw: Raw): EndResult | Failed {
  const [outcome, a, b] = raw;
  if (outcome === 'released') return { outcome, again: a as boolean, blockedMs: b as number };
  if (outcome === 'stale') return { outcome, epoch: a as number };
  return { outcome } as EndResult;
}

export function decodeChange(raw: Raw, now: number): ChangeResult | Failed {
  const [outcome, a, b, c] = raw;
  if (outcome === 'changed') {
    return { outcome, lease: decodeLease(a as RecordColumns, now), remainingMs: b as number, again: c as boolean };
  }
  if (outcome === 'pinned') return { outcome };
  if (outcome === 'failed') return failedItem(a as string, undefined);
  return notHeld(raw);
}

function notHeld([, status, epoch]: Raw): NotHeld {
  return {
    outcome: 'notHeld',
    status: status === null ? 'unknown' : statusOf(status as number),
    epoch: (epoch as number | null) ?? undefined,
  };
}

function refusalOf(columns: RefusalColumns, now: number): StoreRefusal {
  const [reason, holders, holderCount, queueLength, retryAfterMs] = columns;
  return { reason, holders: holders.map((one) => decodeLease(one, now)), holderCount, queueLength, retryAfterMs };
}
