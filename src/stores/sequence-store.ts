// The second half of the port (contract, sections 7 and 14): what a store that keeps sequences implements. Each method is
// one atomic step and one round trip; expected outcomes are variants, failures are `LeaseError`s. A store reaches it by
// `store.sequences`; one that has none leaves it out, and the conformance suite lists its cases as skipped.
//
// What every store must keep: a number is settled once; nothing past the watermark is shown; the watermark never goes back;
// an operation id is stored once; a seal only rises, and rises in the step that shows. src/stores/protocol/sequence is the
// meaning of each method, over rows: run it, or write it anew where the decision must happen in a server.
import type {
  AppendRequest,
  BarrierOrder,
  ClaimOrder,
  ClaimRenewal,
  CommitRequest,
  CursorOrder,
  FillRequest,
  GapQuery,
  LeaseNumbers,
  ManualOrder,
  ManualQuery,
  ProgressRequest,
  ReadOrder,
  ReleaseNumbers,
  SettleRequest,
  StreamQuery,
  TrimOrder,
} from '../domain/sequence-requests.js';
import type {
  Claimed,
  Gap,
  ManualItem,
  OpenNumber,
  OperationState,
  SettledNumber,
  StreamFigures,
} from '../domain/sequence.js';
import type { Answers, Reply } from './store.js';

/** The operation has no lease that this request speaks for. Nothing was changed. */
export interface NotHeldNumber {
  readonly outcome: 'notHeld';
  readonly state: OperationState;
  /** The epoch its lease has now, where there is one. */
  readonly epoch?: number | undefined;
}

export type LeaseNumbersResult =
  | {
      readonly outcome: 'leased';
      readonly first: number;
      readonly count: number;
      readonly epoch: number;
      readonly leasedAt: number;
      readonly expiresAt: number;
      readonly remainingMs: number;
      /** This operation had the number already. */
      readonly again: boolean;
      /** Who leased it: whoever asks for what is live already is told, and is not made its holder. */
      readonly owner: string;
    }
  | { readonly outcome: 'settled'; readonly items: readonly SettledNumber[] }
  /** A recoverer works on it. */
  | { readonly outcome: 'recovering'; readonly retryAfterMs: number }
  /** The operation id is known with another kind or count. */
  | { readonly outcome: 'mismatch' };

export type ProgressResult =
  | { readonly outcome: 'kept'; readonly remainingMs: number; readonly expiresAt: number; readonly owner: string }
  | NotHeldNumber;

export type CommitResult =
  /** Where the operation is stored now: its own number, or the one it was moved to. */
  | { readonly outcome: 'committed'; readonly first: number; readonly repeated: boolean }
  /** The operation is stored with other content. */
  | { readonly outcome: 'mismatch' }
  | NotHeldNumber;

export type ReleaseResult = { readonly outcome: 'released'; readonly again: boolean } | NotHeldNumber;

export type AppendResult =
  | {
      readonly outcome: 'stored';
      readonly first: number;
      readonly how: 'committed' | 'filled' | 'moved' | 'new' | 'repeated';
    }
  | { readonly outcome: 'mismatch' }
  /** Another epoch of the same operation is live, or a recoverer has it: ask again. */
  | { readonly outcome: 'busy'; readonly retryAfterMs: number };

export type FillResult =
  | { readonly outcome: 'stored'; readonly first: number; readonly how: 'filled' | 'moved' | 'repeated' }
  /** Not a gap: what it is instead. */
  | { readonly outcome: 'notGap'; readonly state: OperationState }
  /** The gap belongs to another operation, or the operation is stored with other content. */
  | { readonly outcome: 'mismatch' };

export interface ClaimedReply extends Reply {
  readonly claimed: readonly Claimed[];
  /** What was due before this call, these included: at most 1,001 are counted. */
  readonly backlog: number;
  readonly more: boolean;
}

export type ClaimRenewalResult = { readonly outcome: 'kept'; readonly remainingMs: number } | NotHeldNumber;

export type SettleResult =
  | {
      readonly outcome: 'settled';
      readonly state: OperationState;
      /** Where the operation is stored, if it is. */
      readonly first?: number | undefined;
    }
  | NotHeldNumber;

/** Where a stream stands, as of one snapshot. */
export interface StreamHead extends Reply {
  readonly watermark: number;
  readonly seal: number;
  /** The number that will be leased next. */
  readonly next: number;
  readonly trimmedBefore: number;
  /** What keeps the watermark where it is. */
  readonly oldestOpen?: OpenNumber | undefined;
}
export interface ReadReply extends StreamHead {
  /** From `from` (or the first that is not trimmed) on, without a hole; never past the watermark. */
  readonly items: readonly SettledNumber[];
}
export interface BarrierReply extends StreamHead {
  readonly reached: boolean;
}

export type CursorReply = Reply &
  (
    | { readonly outcome: 'opened'; readonly epoch: number; readonly done: number }
    | { readonly outcome: 'moved'; readonly done: number }
    /** Somebody opened the same reader later. */
    | { readonly outcome: 'stale'; readonly epoch: number }
    | { readonly outcome: 'beyond'; readonly watermark: number }
    | { readonly outcome: 'unknown' }
    | { readonly outcome: 'forgotten' }
  );

export interface TrimReply extends Reply {
  /** Numbers whose operations this call removed. */
  readonly removed: number;
  readonly trimmedBefore: number;
  /** Operation ids that were forgotten, 30 days after their operations. */
  readonly forgotten: number;
  readonly more: boolean;
}

export interface GapsReply extends Reply {
  readonly gaps: readonly Gap[];
  readonly more: boolean;
}
export interface ManualItemsReply extends Reply {
  readonly items: readonly ManualItem[];
  readonly more: boolean;
}
export type ManualReply = Reply &
  /** Stored at once: a finished result was there. */
  (
    | { readonly outcome: 'stored'; readonly first: number; readonly how: 'filled' | 'moved' }
    /** The next recoverer takes it. */
    | { readonly outcome: 'queued' }
    | { readonly outcome: 'discarded' }
    | { readonly outcome: 'unknown' }
  );
export interface StreamsReply extends Reply {
  readonly streams: readonly StreamFigures[];
  readonly more: boolean;
}

/** Hints, never truth: each may be lost, repeated or needless. */
export interface SequenceListener {
  /** Something was settled in these streams: their watermarks may have risen. An empty list: it is not known in which. */
  settled(streams: readonly string[]): void;
}

export interface SequenceStore {
  /** N6: refuses with STORE_INCOMPATIBLE where a power cut could lose what was answered, unless that is accepted. */
  ready(order: { readonly acceptLoss: boolean }): Promise<Reply & { readonly durability: string }>;

  lease(requests: readonly LeaseNumbers[]): Promise<Answers<LeaseNumbersResult>>;
  progress(requests: readonly ProgressRequest[]): Promise<Answers<ProgressResult>>;
  commit(requests: readonly CommitRequest[]): Promise<Answers<CommitResult>>;
  release(requests: readonly ReleaseNumbers[]): Promise<Answers<ReleaseResult>>;
  append(requests: readonly AppendRequest[]): Promise<Answers<AppendResult>>;
  fill(requests: readonly FillRequest[]): Promise<Answers<FillResult>>;

  claim(order: ClaimOrder): Promise<ClaimedReply>;
  renewClaims(requests: readonly ClaimRenewal[]): Promise<Answers<ClaimRenewalResult>>;
  settle(requests: readonly SettleRequest[]): Promise<Answers<SettleResult>>;

  read(order: ReadOrder): Promise<ReadReply>;
  barrier(order: BarrierOrder): Promise<BarrierReply>;
  cursor(order: CursorOrder): Promise<CursorReply>;
  trim(order: TrimOrder): Promise<TrimReply>;

  gaps(query: GapQuery): Promise<GapsReply>;
  manualItems(query: ManualQuery): Promise<ManualItemsReply>;
  manual(order: ManualOrder): Promise<ManualReply>;
  streams(query: StreamQuery): Promise<StreamsReply>;

  subscribe(listener: SequenceListener): () => void;

  /** Where a store can take part in the caller's own transaction (PostgreSQL): the same step, inside it (N2, N5). */
  commitIn?(transaction: unknown, request: CommitRequest): Promise<Reply & { readonly result: CommitResult }>;
  doneIn?(transaction: unknown, order: Extract<CursorOrder, { act: 'done' }>): Promise<CursorReply>;
}
