// What a user of the manager types against: options, the held lease, refusals and results. Types only; the words are
// those of the contract, section 1, and stay the same in HTTP, the command and events.
import type { RefusalReason } from '../domain/decide.js';
import type { Duration } from '../domain/duration.js';
import type { LeaseRecord } from '../domain/lease.js';
import type { Mode, Part, Resources, Scope } from '../domain/part.js';

/** 0 = do not wait. */
// eslint-disable-next-line @typescript-eslint/no-redundant-type-constituents -- the word is there for the reader
export type Wait = Duration | 'forever';

/** An expected "no", as a value, with its facts. */
export interface Refusal {
  readonly reason: RefusalReason;
  /** At most 20, oldest epoch first. */
  readonly holders: readonly LeaseRecord[];
  readonly holderCount: number;
  /** Live tickets ahead that count against this request. */
  readonly queueLength: number;
  /** Time to the earliest end of anything in the way. */
  readonly retryAfterMs: number;
}

export interface AcquireOptions {
  owner?: string;
  /** How long the lease lives without a renewal. */
  // eslint-disable-next-line @typescript-eslint/no-redundant-type-constituents -- the word is there for the reader
  ttl?: Duration | 'adaptive';
  wait?: Wait;
  mode?: Mode;
  limit?: number;
  scope?: Scope;
  /** −100 to 100; each step is worth half a minute of waiting. */
  priority?: number;
  maxRenewals?: number;
  maxHold?: Duration;
  /** Stays taken this long after the grant, also when released earlier. */
  minHold?: Duration;
  /** Stays taken this long after an expiry or a revocation. */
  lockDelay?: Duration;
  /** Without `lease.progress()` within it renewal stops, so that a hung worker lets go. */
  progressWithin?: Duration;
  /** Replace this owner's own live lease or block with exactly these parts. */
  reclaim?: boolean;
  renew?: 'auto' | 'manual';
  operationId?: string;
  metadata?: unknown;
  signal?: AbortSignal;
}

export interface Renewed {
  expiresAt: string;
  storeNow: string;
  renewals: number;
}

export interface Released {
  outcome: 'released' | 'already_ended' | 'superseded' | 'unknown';
  record?: LeaseRecord;
}

export type TryResult = { ok: true; lease: HeldLease } | { ok: false; refusal: Refusal };

export interface HeldLease extends AsyncDisposable {
  readonly id: string;
  readonly resources: readonly string[];
  readonly parts: readonly Part[];
  readonly owner: string;
  readonly epoch: number;
  /** Store clock, as of the last answer. */
  readonly expiresAt: string;
  /** Compares the clock at the call: false as soon as the trust window is over or in doubt. */
  readonly isHeld: boolean;
  /** Aborts once, when the lease is lost; never on `release()`. `signal.reason` is the LeaseError that says why. */
  readonly signal: AbortSignal;
  /** How long this handle may still be trusted. */
  remainingMs(): number;
  throwIfLost(): void;
  /** Tells that work goes on (`progressWithin`). */
  progress(): void;
  renew(ttl?: Duration): Promise<Renewed>;
  /** False: stop work. */
  tryRenew(ttl?: Duration): Promise<boolean>;
  /** Never throws for a lease that is gone. */
  release(): Promise<Released>;
  /** Stops renewing and lets the lease lapse. */
  abandon(): void;
  /** From the moment it is sent this handle is over. The answer goes to `leases.resume()`. */
  delegate(toOwner: string): Promise<string>;
  upgrade(options?: { wait?: Wait; signal?: AbortSignal }): Promise<void>;
  downgrade(): Promise<void>;
  /** A further lease that is known to be waited for while this one is held: deadlocks are found (Q4). */
  acquire(more: Resources, options?: AcquireOptions): Promise<HeldLease>;
  toJSON(): LeaseRecord;
}
