// What is asked of a store about sequences, item by item (contract, section 14). Requests are complete; a store fills in
// no default. `check-sequence.ts` says what a valid one is. Operations travel as plain JSON values, and two are the same
// when their JSON texts are: a store keeps the text it was given, so that replays are equal byte for byte.

import type { RecoveryMethod } from './sequence.js';

export interface LeaseNumbers {
  readonly stream: string;
  readonly operationId: string;
  readonly kind: string;
  readonly ttlMs: number;
  /** 1 to 1,000. They settle together. */
  readonly count: number;
  readonly owner: string;
}

/** `look` changes nothing: how long has it still to live. */
export type Progress =
  | { readonly what: 'look' }
  | { readonly what: 'renew'; readonly ttlMs: number }
  | { readonly what: 'partial'; readonly work: unknown }
  | { readonly what: 'finished'; readonly operations: readonly unknown[] };

export interface ProgressRequest {
  readonly stream: string;
  readonly operationId: string;
  readonly epoch: number;
  readonly progress: Progress;
}

export interface CommitRequest {
  readonly stream: string;
  readonly operationId: string;
  readonly epoch: number;
  readonly operations: readonly unknown[];
}

export interface ReleaseNumbers {
  readonly stream: string;
  readonly operationId: string;
  readonly epoch: number;
  readonly reason: string;
}

/** A result whose lease may be gone (V7): stored once, wherever there is a place for it. */
export interface AppendRequest {
  readonly stream: string;
  readonly operationId: string;
  readonly kind: string;
  readonly operations: readonly unknown[];
  readonly owner: string;
  /** Of the lease the result was made under, when it is known. */
  readonly epoch?: number | undefined;
  /** What the note on a moved operation says. */
  readonly type: RecoveryMethod;
}

export interface FillRequest {
  readonly stream: string;
  /** Any number of the gap. */
  readonly number: number;
  readonly operationId: string;
  readonly operations: readonly unknown[];
  readonly owner: string;
}

export interface ClaimOrder {
  /** Without it: every stream of the namespace. */
  readonly stream?: string | undefined;
  readonly limit: number;
  readonly owner: string;
  readonly ttlMs: number;
  /** Gaps whose kept result is due for another try, too. */
  readonly gapsToo: boolean;
}

export interface ClaimRenewal {
  readonly stream: string;
  readonly operationId: string;
  readonly claimEpoch: number;
  readonly ttlMs: number;
}

export type Settlement =
  /** The finished result, at its own number. */
  | { readonly to: 'commit' }
  /** A rebuilt operation, under a new number. */
  | { readonly to: 'move'; readonly operations: readonly unknown[]; readonly type: RecoveryMethod }
  /** With `againAfterMs` the result that is kept is tried again later. */
  | { readonly to: 'gap'; readonly reason: string; readonly againAfterMs?: number | undefined }
  | { readonly to: 'retry'; readonly error: string; readonly afterMs: number }
  | { readonly to: 'manual'; readonly reason: string; readonly error: string };

export interface SettleRequest {
  readonly stream: string;
  readonly operationId: string;
  readonly claimEpoch: number;
  readonly settlement: Settlement;
}

export interface ReadOrder {
  readonly stream: string;
  readonly from: number;
  readonly limit: number;
  /** N4: what is shown is sealed. Without it: a peek. */
  readonly seal: boolean;
  /** Somebody waits for more: stores that pay for a wake-up send one for the next 10 s. */
  readonly watch: boolean;
}

/** `waitFor` and `ordered`: is everything below this number settled? A yes seals it. */
export interface BarrierOrder {
  readonly stream: string;
  readonly number: number;
  readonly watch: boolean;
}

export type CursorOrder =
  | { readonly stream: string; readonly reader: string; readonly act: 'open' }
  | {
      readonly stream: string;
      readonly reader: string;
      readonly act: 'done';
      readonly number: number;
      readonly epoch: number;
    }
  | { readonly stream: string; readonly reader: string; readonly act: 'forget' };

export interface TrimOrder {
  readonly stream: string;
  /** Numbers below this one. */
  readonly before: number;
  readonly limit: number;
}

/** A page of a stream's gaps: what comes after a number. */
export interface GapQuery {
  readonly stream: string;
  readonly after: number;
  readonly limit: number;
}

/** A page of the manual queue: what comes after a number of a stream, in the order of streams and numbers. */
export interface ManualQuery {
  /** Without it: every stream of the namespace. */
  readonly stream?: string | undefined;
  readonly after?: { readonly stream: string; readonly number: number } | undefined;
  readonly limit: number;
}

export interface StreamQuery {
  readonly stream?: string | undefined;
  /** Names after this one. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface ManualOrder {
  readonly stream: string;
  readonly operationId: string;
  readonly act: 'retry' | 'discard';
  readonly actor: string;
}
