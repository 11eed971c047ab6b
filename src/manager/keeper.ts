// What a held lease and those who look after it know of each other: the keeper's side, and what is under way for a hold.
import type { Clock } from '../domain/clock.js';
import type { Duration } from '../domain/duration.js';
import type { Resources } from '../domain/part.js';
import type { AcquireOptions, HeldLease, Released, Renewed, Wait } from './face.js';
import type { Hold } from './held-lease.js';
import type { Origin } from './origin.js';

/** Who looks after a hold: the manager's parts, wired in lease-manager.ts. */
export interface Keeper {
  readonly clock: Clock;
  /** For guards (origin.ts). */
  readonly origin?: Origin;
  lost(hold: Hold): void;
  left(hold: Hold): void;
  /** In doubt: ask the store now. */
  askNow(hold: Hold): void;
  /** The moment to look at this hold again may have changed. */
  lookAgain(hold: Hold): void;
  renew(hold: Hold, ttl?: Duration): Promise<Renewed>;
  release(hold: Hold): Promise<Released>;
  delegate(hold: Hold, toOwner: string): Promise<string>;
  upgrade(hold: Hold, options: { wait?: Wait; signal?: AbortSignal }): Promise<void>;
  downgrade(hold: Hold): Promise<void>;
  acquireMore(hold: Hold, more: Resources, options: AcquireOptions): Promise<HeldLease>;
}

/** A renewal under way: repeated under the same request id until it is answered (S5, S15). */
export interface Attempt {
  readonly requestId: string;
  /** When to stop waiting for the answer in flight, or, with none in flight, when to try again. */
  until: number;
  isInFlight: boolean;
  failures: number;
  answer: Promise<unknown> | undefined;
}

/** An upgrade that is asked for, until it is known for certain whether it was granted. */
export interface Upgrading {
  readonly settled: Promise<void>;
  /** Its caller was told no; what is left is that its ticket be gone. */
  isAnswered: boolean;
  cancel(): void;
  /** A newer epoch was met: ask whether it is this one. */
  ask(): void;
}

export interface Answer {
  readonly sentAt: number;
  readonly sentWall: number;
  readonly remainingMs: number;
  /** What remains is what a ticket had left (Q1): it is renewed soon. */
  readonly isHandedOver?: boolean;
}
