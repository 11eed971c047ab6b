// How long a request is waited for, what comes of it, and what who waits needs of the room it sits in.
import type { StoreRefusal } from '../domain/decide.js';
import type { LeaseError } from '../domain/errors.js';
import type { Lease } from '../domain/lease.js';
import type { AcquireRequest } from '../domain/requests.js';
import type { WaitStep } from '../domain/wait-graph.js';
import type { Answered } from '../stores/batching.js';
import type { AcquireResult, HandedOver } from '../stores/store.js';
import type { Answer } from './keeper.js';
import type { Waiter } from './waiter.js';

export type Outcome =
  | { readonly outcome: 'granted'; readonly lease: Lease; readonly answer: Answer }
  | { readonly outcome: 'refused'; readonly refusal: StoreRefusal }
  | { readonly outcome: 'error'; readonly error: LeaseError; readonly cycle?: readonly WaitStep[] };

export interface WaitTerms {
  /** Of the wait, what had passed before there was anything to ask. */
  readonly spentMs?: number | undefined;
  readonly waitMs: number;
  readonly requestTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** What a waiter needs of the room it sits in. */
export interface Room {
  monotonic(): number;
  wall(): number;
  send(request: AcquireRequest): Promise<Answered<AcquireResult>>;
  /** When the question left; Infinity while it stands in the line. */
  leftAt(request: AcquireRequest): number;
  /** Its request under a new id, born now. */
  renamed(waiter: Waiter): AcquireRequest;
  /** For how long the grant can still be trusted; one that came too late is none (S7). */
  leftOf(lease: Lease, answer: Answer): number;
  lookAt(waiter: Waiter, at: number): void;
  joined(waiter: Waiter, place: number): void;
  /** Its ticket died in the queue while this process did not refresh it. */
  died(waiter: Waiter): void;
  done(waiter: Waiter, outcome: Outcome): void;
  /** Ends the id in the background (S9). */
  endLater(waiter: Waiter, why: 'timeout' | 'cancelled'): void;
}

/** What was handed over, as its owner asked for it. */
export function leaseOf(request: AcquireRequest, { epoch, acquiredAt, expiresAt, skewMs }: HandedOver): Lease {
  const { id, parts, owner, ttlMs, maxRenewals, operationId, metadata } = request;
  const figures = { ttlMs, acquiredAt, renewedAt: acquiredAt, expiresAt, renewals: 0, maxRenewals, skewMs };
  return { id, parts, owner, epoch, status: 'active', ...figures, operationId, metadata };
}
