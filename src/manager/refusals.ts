// Expected noes and failed waits in words (A1): the refusal as callers see it, and the errors that carry its facts.
import type { StoreRefusal } from '../domain/decide.js';
import { formatDuration } from '../domain/duration.js';
import { LeaseError, type LeaseErrorCode } from '../domain/errors.js';
import { isoTime, toRecord } from '../domain/lease.js';
import type { Part } from '../domain/part.js';
import type { WaitStep } from '../domain/wait-graph.js';
import type { Refusal } from './face.js';
import type { AcquisitionResult } from './observer.js';
import type { Outcome } from './wait-outcome.js';

export function toRefusal(refusal: StoreRefusal): Refusal {
  return { ...refusal, holders: refusal.holders.map(toRecord) };
}

/** `orders/0`, or `orders/0 and 2 more`. */
export function nameOf(parts: readonly Part[]): string {
  const first = parts[0]?.name ?? '';
  return parts.length > 1 ? `${first} and ${parts.length - 1} more` : first;
}

/** `cause`: what the store said since, where it did not answer any more. */
export function notInTime(
  parts: readonly Part[],
  waitMs: number,
  refusal: StoreRefusal | undefined,
  cause?: LeaseError,
): LeaseError {
  const waited = waitMs === 0 ? 'is not free' : `was not free within ${formatDuration(waitMs)}`;
  const why = refusal === undefined ? 'the store did not answer in time' : inTheWay(refusal);
  const details = refusal === undefined ? {} : { refusal: toRefusal(refusal) };
  return new LeaseError('ACQUIRE_TIMEOUT', `${nameOf(parts)} ${waited}: ${why}`, { details, cause });
}

export function aborted(parts: readonly Part[], reason: unknown): LeaseError {
  return new LeaseError('ACQUIRE_ABORTED', `the wait for ${nameOf(parts)} was cancelled by its signal`, {
    cause: reason,
  });
}

export function deadlocked(parts: readonly Part[], cycle: readonly WaitStep[]): LeaseError {
  const steps = cycle.map((step) => `${step.owner} waits for ${step.resource} held by ${step.heldBy}`).join(', ');
  return new LeaseError('DEADLOCK', `deadlock over ${nameOf(parts)}: ${steps}; this request gave up its place`, {
    details: { cycle },
  });
}

/** G1: a guarded transaction keeps the lease as it is until it ends. */
export function pinned(parts: readonly Part[]): LeaseError {
  return new LeaseError(
    'STORE_UNAVAILABLE',
    `${nameOf(parts)} is pinned by a guarded transaction that is still open: commit it or roll it back, then try again`,
    { details: { pinned: true } },
  );
}

/** Q4: waiting for a lease one holds oneself would never end. */
export function heldBySelf(parts: readonly Part[], refusal: StoreRefusal): LeaseError {
  const text = `${nameOf(parts)} is held by the very lease this one is nested in: release it first, or ask for other parts`;
  return new LeaseError('DEADLOCK', text, { details: { refusal: toRefusal(refusal), cycle: [] }, retryable: false });
}

export function endedElsewhere(parts: readonly Part[], status: string, reason: string | undefined): LeaseError {
  const code: LeaseErrorCode = reason === 'lease_lost' ? 'LEASE_LOST' : 'ACQUIRE_ABORTED';
  return new LeaseError(
    code,
    `the wait for ${nameOf(parts)} was ended by others: ${status}, ${reason ?? 'no reason'}`,
    {
      details: { status, reason },
    },
  );
}

function inTheWay({ reason, holders, holderCount, queueLength, retryAfterMs }: StoreRefusal): string {
  const [first] = holders;
  const ahead = queueLength > 0 ? `; ${queueLength} ahead in the queue` : '';
  if (!first) return `${reason}, for ${formatDuration(retryAfterMs)} at least${ahead}`;
  const others = holderCount > 1 ? ` and ${holderCount - 1} more` : '';
  return `${reason} by ${first.owner}${others} (epoch ${first.epoch}) until ${isoTime(first.expiresAt)}${ahead}`;
}

const RESULTS: Partial<Record<string, AcquisitionResult>> = {
  ACQUIRE_TIMEOUT: 'timeout',
  ACQUIRE_ABORTED: 'aborted',
  SHUTTING_DOWN: 'aborted',
  DEADLOCK: 'deadlock',
};

/** How an acquire counts (O2). */
export function acquisitionResult(outcome: Outcome): AcquisitionResult {
  if (outcome.outcome === 'granted') return 'success';
  return outcome.outcome === 'refused' ? 'conflict' : (RESULTS[outcome.error.code] ?? 'error');
}
