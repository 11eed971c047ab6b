// How long numbers in the hands of this process may be trusted (S7).
//
//   held ──deadline──▶ overdue                        the signal aborts, once
//   held ──a definite no──▶ lost                      likewise
//   held ──commit | release answered──▶ settled       the signal stays quiet
//
// The deadline is send time + what remained when the store decided − margin, on the monotonic clock; every question
// compares the clock at the call. Answers may overtake each other: the question that was asked last decides, and an earlier one only where
// its answer is of a longer life, which is a renewal that took its time.
import type { Clock, TimerHandle } from '../domain/clock.js';
import { LeaseError } from '../domain/errors.js';
import { isoTime } from '../domain/lease.js';
import { isInDoubt, trustedUntil } from '../domain/trust-window.js';

/** Of the request that was answered. */
export interface Sent {
  readonly sentAt: number;
  readonly sentWall: number;
}
/** What the store said of the lease. */
export interface Life {
  readonly expiresAt: number;
  readonly remainingMs: number;
}
/** Whose it is, for those who are told that it is over. */
export interface NumberFacts {
  readonly stream: string;
  readonly operationId: string;
  readonly number: number;
  readonly epoch: number;
}

/** Who is asked and told about it. */
interface Keeper {
  /** Asks the store how things stand, and confirms what it says. */
  ask(): void;
  /** It is held no longer. */
  over(): void;
}

export class NumberTrust {
  readonly #clock: Clock;
  readonly #facts: NumberFacts;
  readonly #keeper: Keeper;
  #ttlMs: number;
  #expiresAt: number;
  #deadline: number;
  #sent: Sent;
  #state: 'held' | 'overdue' | 'lost' | 'settled' = 'held';
  #controller: AbortController | undefined;
  #timer: TimerHandle | undefined;
  #reason: LeaseError | undefined;

  constructor(clock: Clock, facts: NumberFacts, ttlMs: number, life: Life, sent: Sent, keeper: Keeper) {
    this.#clock = clock;
    this.#facts = facts;
    this.#keeper = keeper;
    this.#ttlMs = ttlMs;
    this.#expiresAt = life.expiresAt;
    this.#sent = sent;
    this.#deadline = trustedUntil(sent.sentAt, life.remainingMs, ttlMs);
  }

  get ttlMs(): number {
    return this.#ttlMs;
  }
  get expiresAt(): string {
    return isoTime(this.#expiresAt);
  }
  /** Monotonic. */
  get deadline(): number {
    return this.#deadline;
  }
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      this.#arm();
    }
    return this.#controller.signal;
  }

  /** 0 when it may not be trusted: past the deadline, settled, or after a suspend until the store has been asked. */
  remainingMs(): number {
    if (this.#state !== 'held') return 0;
    const leftMs = this.#deadline - this.#clock.monotonic();
    if (leftMs <= 0) this.overrun();
    const { sentAt, sentWall } = this.#sent;
    if (!isInDoubt(this.#clock.wall() - sentWall, this.#clock.monotonic() - sentAt, this.#ttlMs))
      return Math.max(0, leftMs);
    this.#keeper.ask();
    return 0;
  }
  throwIfLost(): void {
    if (this.remainingMs() > 0) return;
    throw this.#reason ?? (this.#state === 'settled' ? this.#isOver() : this.#overdue({ inDoubt: true }));
  }
  /** Doubt is no end: what is asked of the store then answers it. */
  throwIfOver(): void {
    this.remainingMs();
    if (this.#state === 'held') return;
    throw this.#reason ?? this.#isOver();
  }
  /** Whether this error is its own deadline. */
  isOverdueBy(error: unknown): boolean {
    return this.#state === 'overdue' && error === this.#reason;
  }

  confirm(sent: Sent, { expiresAt, remainingMs }: Life, ttlMs = this.#ttlMs): void {
    const isNews = sent.sentAt >= this.#sent.sentAt || expiresAt > this.#expiresAt;
    if (this.#state !== 'held' || !isNews) return;
    this.#ttlMs = ttlMs;
    this.#expiresAt = expiresAt;
    this.#sent = sent;
    this.#deadline = trustedUntil(sent.sentAt, remainingMs, ttlMs);
    this.#arm();
  }
  settle(): void {
    this.#state = 'settled';
    this.#timer?.cancel();
    this.#keeper.over();
  }
  overrun(): void {
    this.lose(this.#overdue(), 'overdue');
  }
  lose(error: LeaseError, state: 'overdue' | 'lost' = 'lost'): void {
    if (this.#state !== 'held') return;
    this.#state = state;
    this.#reason = error;
    this.#timer?.cancel();
    this.#controller?.abort(error);
    this.#keeper.over();
  }

  /** The timer is there only for who looks at the signal. */
  #arm(): void {
    this.#timer?.cancel();
    if (!this.#controller) return;
    if (this.#reason) this.#controller.abort(this.#reason);
    if (this.#state !== 'held') return;
    this.#timer = this.#clock.after(Math.max(0, this.#deadline - this.#clock.monotonic()), () => this.overrun());
  }

  #overdue(more: { inDoubt?: true } = {}): LeaseError {
    const { number, stream } = this.#facts;
    return new LeaseError('LEASE_LOST', `the lease of number ${number} of ${stream} can no longer be trusted`, {
      details: { ...this.#facts, expiresAt: this.expiresAt, ...more },
    });
  }
  #isOver(): LeaseError {
    const { number, stream, operationId } = this.#facts;
    return new LeaseError('NOT_HELD', `number ${number} of ${stream} is settled`, { details: { stream, operationId } });
  }
}
