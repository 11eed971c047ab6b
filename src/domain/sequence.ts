// Sequences in types (contract, section 7): a stream of dense numbers that are leased, then settled.
//
//   (nothing) → leased → committed | gap                   by its holder, live and of the same epoch
//                  └─(expired)→ recovering → committed | moved | gap, or back to wait for the next try
//   gap → filled                                           by its own operation, while nobody has been shown the gap
//
// A span is one lease of numbers: `count` of them from `first` on, one operation id, one kind; all settle together.

/** Everything a number can be. `leased` and `recovering` are open: the watermark stays below them. */
export type SpanState = 'leased' | 'recovering' | 'committed' | 'gap' | 'filled' | 'moved';
export type SettledState = Exclude<SpanState, 'leased' | 'recovering'>;
/** As a caller is told about an operation: an expired lease that nobody claimed yet is `expired`. */
export type OperationState = SpanState | 'expired' | 'unknown';

/** How a recoverer came by what it stored (O2). */
export type RecoveryMethod = 'partial_work' | 'recommitted' | 'gap' | 'manual' | 'failed' | 'spool';

/** V2: what an operation that got another number carries beside itself. */
export interface RecoveryNote {
  readonly originalNumber: number;
  readonly originalOperationId: string;
  /** Store clock, milliseconds. */
  readonly recoveredAt: number;
  readonly type: RecoveryMethod;
}

/** One settled number as readers see it. */
export interface SettledNumber {
  readonly number: number;
  readonly state: SettledState;
  readonly operationId: string;
  readonly kind: string;
  /** Of committed and filled numbers; not of a trimmed one. */
  readonly operation?: unknown;
  /** Where the operation of a moved number, or of a sealed gap, is stored. */
  readonly movedTo?: number | undefined;
  readonly recovery?: RecoveryNote | undefined;
}

/** N4: what is known of a gap. Times are of the store clock. */
export interface Gap {
  readonly number: number;
  readonly count: number;
  readonly operationId: string;
  readonly kind: string;
  readonly reason: string;
  readonly createdAt: number;
  readonly originalExpiry: number;
  /** Its own operation may still be stored under its own number. */
  readonly fillable: boolean;
  /** Somebody has been shown that there is nothing here. */
  readonly sealed: boolean;
  readonly movedTo?: number | undefined;
  /** A finished result or partial work is kept with it. */
  readonly hasResult: boolean;
}

/** V4: what waits for a person. */
export interface ManualItem {
  readonly stream: string;
  readonly number: number;
  readonly count: number;
  readonly operationId: string;
  readonly kind: string;
  readonly reason: string;
  readonly attempts: number;
  readonly lastError: string;
  readonly createdAt: number;
  readonly partial?: unknown;
  readonly finished?: readonly unknown[] | undefined;
  /** A retry was ordered and has not been claimed yet. */
  readonly isRetryOrdered: boolean;
}

/** What a recoverer works on (V1). */
export interface Claimed {
  readonly stream: string;
  readonly first: number;
  readonly count: number;
  readonly operationId: string;
  readonly kind: string;
  readonly claimEpoch: number;
  readonly remainingMs: number;
  readonly leasedAt: number;
  readonly expiresAt: number;
  /** How long ago its lease expired. */
  readonly overrunMs: number;
  readonly attempts: number;
  /** Settled as a gap already: what is recovered now fills it, or moves. */
  readonly isGap: boolean;
  readonly partial?: unknown;
  readonly finished?: readonly unknown[] | undefined;
}

export interface ReaderFigures {
  readonly name: string;
  /** The last number it is done with. */
  readonly done: number;
  /** Settled numbers it has not been through. */
  readonly distance: number;
  readonly movedAt: number;
}

export interface StreamFigures {
  readonly name: string;
  /** Numbers leased so far: the highest number there is. */
  readonly leased: number;
  readonly open: number;
  readonly watermark: number;
  readonly seal: number;
  readonly trimmedBefore: number;
  readonly gaps: number;
  readonly moved: number;
  readonly manual: number;
  readonly oldestOpen?: OpenNumber | undefined;
  readonly readers: readonly ReaderFigures[];
}

/** The number that keeps the watermark where it is. */
export interface OpenNumber {
  readonly number: number;
  readonly state: 'leased' | 'recovering';
  readonly operationId: string;
  readonly kind: string;
  readonly owner: string;
  readonly leasedAt: number;
  readonly expiresAt: number;
  /** When a recoverer may claim it. */
  readonly dueAt: number;
}
