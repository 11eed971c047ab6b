// The store port (contract, section 14): what every store implements. Each method is one atomic step and one round
// trip. Expected outcomes are variants of a result; failures are `LeaseError`s: thrown when the whole call failed,
// `{ outcome: 'failed', error }` when one item of a list did (S21).
//
// Every reply carries the store clock, the incarnation of its data and the version of its settings (S13, O4).
// Sequences are a second interface beside this one, with replies of its own: sequence-store.ts.
import type { StoreRefusal } from '../domain/decide.js';
import type { LeaseError } from '../domain/errors.js';
import type { LogRow } from '../domain/events.js';
import type { LeaseStatus } from '../domain/expiry.js';
import type { Lease } from '../domain/lease.js';
import type {
  AcquireRequest,
  ChangeRequest,
  EndRequest,
  EventQuery,
  ListFilter,
  RenewRequest,
  RevokeOrder,
} from '../domain/requests.js';
import type { Settings } from '../domain/settings.js';
import type { WaitGraph, WaitStep } from '../domain/wait-graph.js';
import type { SequenceStore } from './sequence-store.js';
import type { StoreHealth } from './store-health.js';

export interface Reply {
  /** Store clock, whole milliseconds, as of the decision. */
  readonly now: number;
  readonly incarnation: string;
  readonly settingsVersion: number;
}
export interface Answers<R> extends Reply {
  readonly results: readonly (R | Failed)[];
}
/** One bad item; its neighbours are not affected. */
export interface Failed {
  readonly outcome: 'failed';
  readonly error: LeaseError;
}

export type AcquireResult =
  | { readonly outcome: 'granted'; readonly lease: Lease; readonly remainingMs: number; readonly again: boolean }
  | {
      readonly outcome: 'queued';
      readonly place: number;
      readonly ticketLeftMs: number;
      readonly refusal: StoreRefusal;
    }
  | { readonly outcome: 'refused'; readonly refusal: StoreRefusal }
  | { readonly outcome: 'ended'; readonly status: LeaseStatus; readonly reason?: string | undefined }
  | { readonly outcome: 'deadlock'; readonly cycle: readonly WaitStep[] }
  | { readonly outcome: 'mismatch' }
  | { readonly outcome: 'tooOld' };

export type NotHeld = {
  readonly outcome: 'notHeld';
  /** How the id stands: 'unknown' when the store has not seen it or has forgotten it. */
  readonly status: LeaseStatus | 'unknown';
  /** The epoch the lease has now, where it is another one. */
  readonly epoch?: number | undefined;
};

export type RenewResult =
  | { readonly outcome: 'renewed'; readonly remainingMs: number; readonly expiresAt: number; readonly renewals: number }
  | NotHeld
  | { readonly outcome: 'maxRenewals'; readonly remainingMs: number }
  | { readonly outcome: 'maxHold'; readonly remainingMs: number };

export type EndResult =
  | {
      readonly outcome: 'released';
      readonly again: boolean;
      readonly blockedMs: number;
      /** The lease this release took for the first in line (Q1), who is told. */
      readonly handedTo?: HandedTo | undefined;
    }
  | { readonly outcome: 'left' }
  | { readonly outcome: 'stale'; readonly epoch: number }
  | { readonly outcome: 'expired' }
  | { readonly outcome: 'revoked' }
  | { readonly outcome: 'noted' }
  | { readonly outcome: 'pinned' };

export type ChangeResult =
  | { readonly outcome: 'changed'; readonly lease: Lease; readonly remainingMs: number; readonly again: boolean }
  | NotHeld
  | { readonly outcome: 'pinned' };

export interface Revoked extends Reply {
  /** What this call ended, at most 1,000. */
  readonly ended: readonly Lease[];
  /** The epoch the revocation drew; absent when nothing matched. */
  readonly epoch?: number | undefined;
  readonly more: boolean;
}
export interface FailedTicket extends Reply {
  /** 'gone': the cycle no longer stands, nothing was changed. */
  readonly outcome: 'failed' | 'gone';
}
export interface Swept extends Reply {
  readonly leases: number;
  readonly tickets: number;
  readonly overrunMaxMs: number;
  readonly more: boolean;
  /** When the next thing expires, or earlier; never later. */
  readonly nextAt?: number | undefined;
}
export type Events = Reply &
  (
    | { readonly outcome: 'rows'; readonly rows: readonly LogRow[]; readonly next: string; readonly more: boolean }
    | { readonly outcome: 'lost'; readonly oldest: string }
  );
export interface Pruned extends Reply {
  readonly events: number;
  readonly ids: number;
  readonly more: boolean;
}
export interface PruneOrder {
  /** Log rows older than this go; ended ids follow when S8 and their block allow. */
  readonly olderThanMs: number;
  /** With an archive: nothing past this position goes. */
  readonly upTo?: string | undefined;
  readonly limit: number;
}
export interface SettingsReply extends Reply {
  readonly settings: Settings;
}
export interface TimeReply extends Reply {
  /** The namespace's epoch: the highest drawn so far. */
  readonly epoch: number;
}
export interface Listed extends Reply {
  readonly items: readonly Lease[];
  readonly cursor?: string | undefined;
}
export interface Shown extends Reply {
  readonly holders: readonly Lease[];
  readonly queue: readonly Lease[];
  /** How many there are, told by a server that leaves out of the lists what its caller may not see (W3). Else: all of them. */
  readonly holderCount?: number;
  readonly queueLength?: number;
  /** How long a block (Q6) still keeps everybody out; 0 when none does. */
  readonly blockedMs: number;
  /** Newest first. */
  readonly history: readonly LogRow[];
}
export interface StoreInfo extends Reply {
  readonly kind: string;
  readonly capabilities: Capabilities;
  /** One line of facts for `health` and `doctor`: versions, paths, modes. */
  readonly details: Readonly<Record<string, unknown>>;
}
export interface Capabilities {
  readonly minTtlMs: number;
  readonly clockGrainMs: number;
  /** Wake-ups arrive without polling by the caller. */
  readonly push: boolean;
  readonly guards: readonly string[];
  readonly roundTrips: number;
  readonly durability: string;
}

export interface HandedTo {
  readonly id: string;
  readonly epoch: number;
}

/** A ticket that became a lease because somebody let go of what it waited for, and claimed for it. */
export interface HandedOver extends HandedTo {
  readonly acquiredAt: number;
  /** When the ticket would have died, unless that is later than its ttl allows. */
  readonly expiresAt: number;
  readonly skewMs: number;
}

/** Hints, never truth (Q3): each may be lost, repeated or needless. */
export interface StoreListener {
  wake?(ticketIds: readonly string[]): void;
  /** No hint: it was so. But it may be late or lost, and the next refresh says it too. Without this function, `wake` is called. */
  handedOver?(lease: HandedOver): void;
  changed?(): void;
  down?(error: LeaseError): void;
  up?(): void;
}

export interface CallsAtOnce {
  readonly calls: number;
  /** So many items are worth a call of their own. */
  readonly enough: number;
}

export interface Store {
  readonly kind: string;
  readonly namespace: string;
  /** The same store for another namespace, over the same connection. Closing any closes all. */
  within(namespace: string): Store;
  /** Streams of numbers, where the store keeps them (contract, section 7). */
  readonly sequences?: SequenceStore | undefined;
  /** Where calls of one kind are through faster beside each other than in turn. Left out: one at a time. */
  readonly callsAtOnce?: CallsAtOnce | undefined;
  /** The one owner that is let act over this connection (W3); left out where any may. */
  readonly actsAs?: string | undefined;

  acquire(requests: readonly AcquireRequest[]): Promise<Answers<AcquireResult>>;
  renew(requests: readonly RenewRequest[]): Promise<Answers<RenewResult>>;
  end(requests: readonly EndRequest[]): Promise<Answers<EndResult>>;
  change(requests: readonly ChangeRequest[]): Promise<Answers<ChangeResult>>;

  revoke(order: RevokeOrder): Promise<Revoked>;
  /** Fails the youngest ticket of a cycle, after checking that the whole cycle still stands. */
  failTicket(order: { readonly id: string; readonly cycle: readonly string[] }): Promise<FailedTicket>;
  sweep(order: { readonly limit: number }): Promise<Swept>;
  events(query: EventQuery): Promise<Events>;
  prune(order: PruneOrder): Promise<Pruned>;
  settings(): Promise<SettingsReply>;
  setSettings(changes: Readonly<Record<string, unknown>>): Promise<SettingsReply>;
  waitGraph(): Promise<Reply & WaitGraph>;

  get(ids: readonly string[]): Promise<Reply & { readonly items: readonly (Lease | undefined)[] }>;
  list(filter: ListFilter): Promise<Listed>;
  /** With the newest `historyLimit` rows of its log; 0 for none, which is cheaper. */
  show(resource: string, historyLimit: number): Promise<Shown>;

  info(): Promise<StoreInfo>;
  /** The server or file behind the store, for `doctor`; left out where there is nothing to say. */
  health?(): Promise<StoreHealth>;
  time(): Promise<TimeReply>;
  /** Brings the schema up to date, or with `dryRun` says what it would do. */
  migrate(order: {
    readonly dryRun: boolean;
  }): Promise<{ readonly applied: readonly string[]; readonly pending: readonly string[] }>;
  backup(path: string): Promise<void>;
  subscribe(listener: StoreListener): () => void;
  close(): Promise<void>;
}
