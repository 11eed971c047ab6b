// The held lease: one grant in the hands of this process, and how long it may be trusted (S7).
//
//   held ──deadline | a definite no──▶ lost      the signal aborts, once; nothing brings it back
//   held ──release | delegate sent──▶ left       over by the holder's own will; the signal stays quiet
//   held, in doubt: wall time ran ahead of monotonic time (suspend). Not held until the store says yes; no means lost.
//
// The deadline is send time + what remained when the store decided − margin, on the monotonic clock. Every question
// compares the clock at the call, so a stalled event loop hides nothing; the agenda's timer only aborts the signal.
// What has to be done about a hold (renewing, letting go) is done by its keeper, outside this file.
import type { Duration } from '../domain/duration.js';
import { LeaseError } from '../domain/errors.js';
import { isoTime, toRecord, type Lease, type LeaseRecord } from '../domain/lease.js';
import { LIMITS } from '../domain/limits.js';
import type { Part, Resources } from '../domain/part.js';
import { isInDoubt, marginMs, trustedUntil } from '../domain/trust-window.js';
import type { Dated } from './agenda.js';
import type { AcquireOptions, HeldLease, Released, Renewed, Wait } from './face.js';
import type { Answer, Attempt, Keeper, Upgrading } from './keeper.js';
import { lostByDeadline, noLongerHeld, type StopCause } from './loss.js';
import type { Origin } from './origin.js';
import type { HoldTerms } from './plan.js';

const EARLY_SHARE = 0.1;
const EARLY_MAX_MS = 1_000;
/** What was handed over is renewed soon, and not for a hold of a moment. */
const HANDED_OVER_RENEWED_MS = 100;

export class Hold implements HeldLease, Dated {
  at = 0;
  slot = -1;
  readonly terms: HoldTerms;
  readonly #keeper: Keeper;
  #lease: Lease;
  #state: 'held' | 'lost' | 'left' = 'held';
  #deadline = 0;
  #answeredAt = 0;
  #answeredWall = 0;
  #renewDue = Infinity;
  #isHandedOver = false;
  #progressAt: number;
  #controller: AbortController | undefined;
  #reason: LeaseError | undefined;
  #released: Promise<Released> | undefined;
  /** Why renewal stopped before its time; the signal then aborts at the deadline with that code. */
  stopCause: StopCause | undefined;
  attempt: Attempt | undefined;
  /** The ttl last asked for by hand, answered or not: what renews by itself meanwhile must not undo it. */
  askedTtlMs: number | undefined;
  /** Renewals by hand that are in flight. */
  renewing: Promise<void> | undefined;
  /** How long a release waits for guarded transactions at most; a shutdown sets it (A9). */
  pinnedUntil = Infinity;
  /** Handed to another owner: whatever is there now is not this handle's. */
  isDelegated = false;
  /** An upgrade is on its way: a newer epoch may be this hold's own. */
  upgrading: Upgrading | undefined;
  /** The lease this one was taken through, if it was (Q4). */
  parent: Hold | undefined;

  constructor(keeper: Keeper, lease: Lease, terms: HoldTerms, answer: Answer) {
    this.#keeper = keeper;
    this.#lease = lease;
    this.terms = terms;
    this.#progressAt = answer.isHandedOver ? keeper.clock.monotonic() : answer.sentAt;
    this.#trust(answer);
  }

  get id(): string {
    return this.#lease.id;
  }
  get resources(): readonly string[] {
    return this.#lease.parts.map((part) => part.name);
  }
  get parts(): readonly Part[] {
    return this.#lease.parts;
  }
  get owner(): string {
    return this.#lease.owner;
  }
  get epoch(): number {
    return this.#lease.epoch;
  }
  get expiresAt(): string {
    return isoTime(this.#lease.expiresAt);
  }
  get isHeld(): boolean {
    return this.standing() === 'held';
  }
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  remainingMs(): number {
    return this.isHeld ? this.#deadline - this.#keeper.clock.monotonic() : 0;
  }

  throwIfLost(): void {
    const standing = this.standing();
    if (standing === 'held') return;
    throw this.#reason ?? (standing === 'lost' ? this.lossByDeadline() : noLongerHeld(this.#lease, standing));
  }

  progress(): void {
    const wasOverdue = this.isOverdue(this.#keeper.clock.monotonic());
    this.#progressAt = this.#keeper.clock.monotonic();
    if (wasOverdue && this.#state === 'held') this.#keeper.lookAgain(this);
  }

  async renew(ttl?: Duration): Promise<Renewed> {
    return this.#keeper.renew(this, ttl);
  }

  async tryRenew(ttl?: Duration): Promise<boolean> {
    try {
      await this.#keeper.renew(this, ttl);
      return true;
    } catch (error) {
      if (error instanceof LeaseError && error.code === 'INVALID_ARGUMENT') throw error;
      const isPassing = error instanceof LeaseError && (error.retryable || error.code === 'STORE_UNAVAILABLE');
      return isPassing && this.isHeld;
    }
  }

  release(): Promise<Released> {
    return (this.#released ??= this.#keeper.release(this));
  }

  abandon(): void {
    if (this.#state !== 'held') return;
    this.stopCause ??= 'abandoned';
    this.#keeper.lookAgain(this);
  }

  async delegate(toOwner: string): Promise<string> {
    return this.#keeper.delegate(this, toOwner);
  }
  async upgrade(options: { wait?: Wait; signal?: AbortSignal } = {}): Promise<void> {
    return this.#keeper.upgrade(this, options);
  }
  async downgrade(): Promise<void> {
    return this.#keeper.downgrade(this);
  }
  async acquire(more: Resources, options: AcquireOptions = {}): Promise<HeldLease> {
    return this.#keeper.acquireMore(this, more, options);
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }
  toJSON(): LeaseRecord {
    return toRecord(this.#lease);
  }

  /** The ids a request nested in this lease says it holds: this one and those it was taken through, innermost first. Not
   *  those of siblings: two tasks that nest in one lease exclude each other like any others. */
  nest(): string[] {
    const above = this.parent?.nest() ?? [];
    return (this.#state === 'held' ? [this.id, ...above] : above).slice(0, LIMITS.heldByOneRequest);
  }

  // ── for the keeper ──────────────────────────────────────────────────────────────────────────────────────────────

  get lease(): Lease {
    return this.#lease;
  }
  get origin(): Origin | undefined {
    return this.#keeper.origin;
  }
  get state(): 'held' | 'lost' | 'left' {
    return this.#state;
  }
  get deadline(): number {
    return this.#deadline;
  }
  get lossReason(): LeaseError | undefined {
    return this.#reason;
  }

  /** How it stands this very moment. Doubt makes the keeper ask. */
  standing(): 'held' | 'inDoubt' | 'lost' | 'left' {
    if (this.#state !== 'held') return this.#state;
    const { clock } = this.#keeper;
    const now = clock.monotonic();
    if (now >= this.#deadline) return 'lost';
    if (!isInDoubt(clock.wall() - this.#answeredWall, now - this.#answeredAt, this.#lease.ttlMs)) return 'held';
    this.#keeper.askNow(this);
    return 'inDoubt';
  }

  /** When renewal is due; Infinity when nobody will renew any more. */
  renewalDue(now: number): number {
    if (!this.terms.isAuto || this.isOverdue(now)) return Infinity;
    // Whoever abandons a lease lets its ttl lapse, not what is left of a ticket.
    const isToLapse = this.stopCause === 'abandoned' && this.#isHandedOver;
    return this.stopCause === undefined || isToLapse ? this.#renewDue : Infinity;
  }

  /** How much earlier than due a renewal may leave. */
  get earlyMs(): number {
    return this.#isHandedOver ? 0 : Math.min(this.#lease.ttlMs * EARLY_SHARE, EARLY_MAX_MS);
  }

  /** How long the answer to a renewal is waited for: two attempts fit (S14), also where less than the ttl remains from the beginning. */
  answerDue(sentAt: number): number {
    const { requestTimeoutMs } = this.terms;
    if (!this.#isHandedOver) return sentAt + requestTimeoutMs;
    return sentAt + Math.min(requestTimeoutMs, (this.#deadline - sentAt) / 2);
  }

  /** `progressWithin`: the worker has not been heard of for too long. */
  isOverdue(now: number): boolean {
    const { progressWithinMs } = this.terms;
    return progressWithinMs !== undefined && now - this.#progressAt > progressWithinMs;
  }

  /** The store said yes: what changed of the lease, and, where it said so, how long it may be trusted. */
  confirm(answer: Answer | undefined, changes: Partial<Lease>): void {
    if (answer && answer.sentAt < this.#answeredAt) return; // an older answer that comes late says nothing new
    this.#lease = { ...this.#lease, ...changes };
    if (!answer) return;
    this.#trust(answer);
    if (this.#state === 'held') this.#keeper.lookAgain(this);
  }

  lose(reason: LeaseError): void {
    if (this.#state !== 'held') return;
    this.#state = 'lost';
    this.#reason = reason;
    this.#keeper.lost(this);
    this.#controller?.abort(reason);
  }

  /** Let go by its holder; one whose deadline has come before its timer ran is lost first, and told as lost (S15). */
  leave(): void {
    if (this.#state === 'held' && this.#keeper.clock.monotonic() >= this.#deadline) this.lose(this.lossByDeadline());
    if (this.#state !== 'held') return;
    this.#state = 'left';
    this.#keeper.left(this);
  }

  /** Let go over its holder's head (shutdown): the work is told by its signal before the lease is given back. */
  dismiss(reason: LeaseError): void {
    if (this.#state !== 'held') return;
    this.leave();
    if (this.state === 'lost') return;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }

  lossByDeadline(): LeaseError {
    const overdue = this.isOverdue(this.#keeper.clock.monotonic()) ? 'no_progress' : undefined;
    return lostByDeadline(this.#lease, this.stopCause ?? overdue);
  }

  #trust({ sentAt, sentWall, remainingMs, isHandedOver = false }: Answer): void {
    // A newer answer always counts, also where it shortens: an earlier deadline was counted on a clock that may have slept.
    this.#deadline = trustedUntil(sentAt, remainingMs, this.#lease.ttlMs);
    this.#answeredAt = sentAt;
    this.#answeredWall = sentWall;
    // Counted back from the deadline, so that two attempts fit, whatever is left: less than the ttl (an upgrade, a lease taken over), or
    // more (S4), where the margin is that of what is left.
    const { ttlMs } = this.#lease;
    this.#renewDue = this.#deadline + marginMs(ttlMs) - ttlMs * (1 - this.terms.renewAt);
    this.#isHandedOver = isHandedOver;
    if (!isHandedOver) return;
    this.#renewDue = this.#keeper.clock.monotonic() + HANDED_OVER_RENEWED_MS;
  }
}
