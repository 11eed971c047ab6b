// How long a request is waited for, and what comes of it.
import type { StoreRefusal } from '../domain/decide.js';
import type { LeaseError } from '../domain/errors.js';
import type { Lease } from '../domain/lease.js';
import type { WaitStep } from '../domain/wait-graph.js';
import type { Answer } from './held-lease.js';

export type Outcome =
  | { readonly outcome: 'granted'; readonly lease: Lease; readonly answer: Answer }
  | { readonly outcome: 'refused'; readonly refusal: StoreRefusal }
  | { readonly outcome: 'error'; readonly error: LeaseError; readonly cycle?: readonly WaitStep[] };

export interface WaitTerms {
  readonly waitMs: number;
  readonly requestTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}
