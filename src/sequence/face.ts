// The public face of sequences, in types: streams, leases of numbers, what readers see (contract, section 7).
import type { Duration } from '../domain/duration.js';
import type { Claimed, ManualItem, RecoveryMethod, SettledState, StreamFigures } from '../domain/sequence.js';

export interface SequenceOptions {
  /** A folder of this machine: results that cannot be committed are kept there until they can (V7). */
  spool?: string;
  /** N6: use a store that may lose what it answered as committed. */
  durability?: 'accept-loss';
}

export interface LeaseNumberOptions {
  /** One per operation, for ever: leasing it again gives the same number, or its outcome. */
  operationId: string;
  kind: string;
  /** 2 minutes. It is not renewed by itself. */
  ttl?: Duration;
  /** 1 to 1,000 numbers that settle together; `commit` then takes a list, one operation for each. */
  count?: number;
}

export interface Settled<Op> {
  number: number;
  state: SettledState;
  operationId: string;
  kind: string;
  operation?: Op;
  movedTo?: number;
  recovery?: { originalNumber: number; originalOperationId: string; recoveredAt: string; type: RecoveryMethod };
}

export interface StreamGap {
  number: number;
  count: number;
  operationId: string;
  kind: string;
  reason: string;
  createdAt: string;
  originalExpiry: string;
  fillable: boolean;
  sealed: boolean;
  movedTo?: number;
  hasResult: boolean;
}

/** One operation, or the list of them for a lease of several numbers. */
export type OperationsOf<Op> = Op | readonly Op[];

export interface SequenceLease<Op> {
  readonly numbers: readonly number[];
  readonly number: number;
  readonly operationId: string;
  readonly kind: string;
  readonly epoch: number;
  readonly leasedAt: string;
  readonly expiresAt: string;
  readonly isHeld: boolean;
  readonly signal: AbortSignal;
  remainingMs(): number;
  throwIfLost(): void;
  renew(ttl?: Duration): Promise<void>;
  /** Kept under the operation for whoever has to go on with it, in the order in which it is told: the last one counts. */
  partial(work: unknown): Promise<void>;
  finished(operation: OperationsOf<Op>): Promise<void>;
  commit(operation: OperationsOf<Op>, options?: CommitOptions): Promise<{ number: number; repeated: boolean }>;
  /** Gives the number up: it becomes a gap. */
  release(reason?: string): Promise<void>;
}

export interface CommitOptions {
  /** Wait until everything below is settled. */
  ordered?: boolean;
  /** PostgreSQL: the caller's own transaction. */
  tx?: unknown;
}

export interface WaitOptions {
  signal?: AbortSignal;
  timeout?: Duration;
}

export type Followed<Op> = Settled<Op> & {
  /** The reader is through with this number and all below it. With `tx`: inside the caller's transaction (PostgreSQL). */
  done(options?: { tx?: unknown }): Promise<void>;
};

export interface StreamReader<Op> {
  readonly name: string;
  /** Every settled number after the cursor, in order, for ever or until the signal aborts. */
  follow(options?: { signal?: AbortSignal }): AsyncIterable<Followed<Op>>;
  /** The cursor is gone, and keeps nothing from being trimmed any more. */
  forget(): Promise<void>;
}

export interface StreamGaps<Op> {
  list(options?: { after?: number; limit?: number }): Promise<StreamGap[]>;
  isGap(number: number): Promise<boolean>;
  /** Under its own number, or, when somebody was shown the gap, under a new one. */
  fill(number: number, operationId: string, operation: OperationsOf<Op>): Promise<{ number: number }>;
}

/** What recovery uses in this process (V2, V5, V6); recoverers elsewhere use what they were told. */
export interface StreamRecovery<Op> {
  /** Makes the operation out of partial work, or answers undefined when that cannot be done. */
  rebuild(kind: string, fn: (partial: unknown, item: Claimed) => Promise<OperationsOf<Op> | undefined>): void;
  /** A step of one's own, tried before the others while load is low. */
  step(kind: string, fn: (item: Claimed) => Promise<OperationsOf<Op> | undefined>): void;
  /** Runs when a number of this kind has been settled by recovery. `'leases'`: those taken with the operation's id.
   *  `{ root }`: the folder `root/<operationId>/`. */
  cleaner(kind: string, fn: ((operationId: string) => Promise<void>) | 'leases' | { root: string }): void;
  onCascade(fn: (on: boolean) => void): void;
  /** Recovers what is due in this stream now; nobody has to call it. */
  run(): Promise<{ settled: number; failed: number; more: boolean }>;
  manual: {
    list(): Promise<ManualItem[]>;
    retry(operationId: string): Promise<{ outcome: 'stored' | 'queued'; number?: number }>;
    discard(operationId: string): Promise<void>;
  };
}

export interface Stream<Op> {
  readonly name: string;
  lease(options: LeaseNumberOptions): Promise<SequenceLease<Op>>;
  /** Settled numbers from `from` on, at most up to the watermark. They are sealed by being shown. */
  read(from: number, limit: number): Promise<Settled<Op>[]>;
  /** The same without sealing: what it shows of a gap may change. */
  peek(from: number, limit: number): Promise<Settled<Op>[]>;
  reader(name: string): StreamReader<Op>;
  watermark(): Promise<number>;
  /** My turn: everything below this number is settled, wherever that happened. */
  waitFor(number: number, options?: WaitOptions): Promise<void>;
  trim(before: number): Promise<number>;
  figures(): Promise<StreamFigures | undefined>;
  readonly gaps: StreamGaps<Op>;
  readonly recovery: StreamRecovery<Op>;
}
