// One request for a lease on its way to an answer (A1, Q1, S8, S9, S15).
//
//   asking ──granted──▶ done                                      asking ──refused, ended, deadlock──▶ done
//     ▲  └─queued──▶ waiting ──woken | refresh due | the way may be free──▶ asking
//     └── no answer, or a store error: asked again under the same id, which answers the present state
//   asking | waiting ──handed over by whoever let go──▶ done, or asking where that cannot be trusted for long enough
//   asking | waiting ──signal | wait over | shutting down──▶ done, and the id is ended in the background
//
// The same request, unchanged, is the first try, the ticket's refresh and its claim. Whatever is still on its way when
// the waiter is done is ended by id: a ticket leaves the queue, a grant is released, an acquire that has not arrived yet
// is refused when it does (S8). A ticket that died while this process slept is replaced by a new one, at the end of the
// queue.
import type { Placed } from '../domain/bag.js';
import { LeaseError } from '../domain/errors.js';
import type { StoreRefusal } from '../domain/decide.js';
import type { Lease } from '../domain/lease.js';
import { TICKET_REFRESH_MS } from '../domain/limits.js';
import type { AcquireRequest } from '../domain/requests.js';
import type { WaitStep } from '../domain/wait-graph.js';
import type { AcquireResult, HandedOver } from '../stores/store.js';
import type { Dated } from './agenda.js';
import type { Answer } from './keeper.js';
import { onAbort } from './on-abort.js';
import { aborted, deadlocked, endedElsewhere, heldBySelf, notInTime } from './refusals.js';
import { leaseOf, type Outcome, type Room, type WaitTerms } from './wait-outcome.js';

const ASKS_WITHOUT_WAIT = 2;
const RENAMES = 3;
const RETRY_MS = 50;
const LONGEST_RETRY_MS = 2_000;
/** Asked no oftener than this when the way may be free, and only by those near the front. */
const SOONEST_CLAIM_MS = 10;
const FRONT_PLACES = 64;
/** Of what was handed over this must be left to believe in: time for two attempts to renew. */
const LEAST_LEFT_MS = 2_000;

export class Waiter implements Dated, Placed {
  at = 0;
  slot = -1;
  place = -1;
  request: AcquireRequest;
  readonly terms: WaitTerms;
  /** Called once, by the room. */
  readonly tell: (outcome: Outcome, waiter: Waiter) => void;
  readonly startedAt: number;
  readonly #room: Room;
  readonly #forgetSignal: (() => void) | undefined;
  #state: 'asking' | 'waiting' | 'done' = 'asking';
  #asked = 0;
  /** Asks under this id whose answer has not come: any of them may still be granted. */
  #unanswered = 0;
  #failures = 0;
  #renames = 0;
  #nextAt = 0;
  #hasJoined = false;
  #isWoken = false;
  #refusal: StoreRefusal | undefined;
  /** For how long its ticket lives, by the last answer that said so. */
  #ticket: Answer | undefined;
  /** What the store said last, where that was no answer. */
  #error: LeaseError | undefined;
  /** By an earlier copy of the question; taken when nothing better has come by the time that is known. */
  #spare: (Outcome & { readonly outcome: 'granted' }) | undefined;

  constructor(room: Room, request: AcquireRequest, terms: WaitTerms, tell: (outcome: Outcome, waiter: Waiter) => void) {
    this.#room = room;
    this.request = request;
    this.terms = terms;
    this.tell = tell;
    this.startedAt = room.monotonic();
    const { signal } = terms;
    if (!signal) return;
    this.#forgetSignal = onAbort(signal, () => {
      this.stop(aborted(this.request.parts, signal.reason), 'cancelled');
    });
  }

  get isDone(): boolean {
    return this.#state === 'done';
  }
  get isWaiting(): boolean {
    return this.#state === 'waiting';
  }
  /** One question in all: if that one never left, the store knows nothing of this. */
  get hasAskedOnce(): boolean {
    return this.#asked === 1;
  }
  get hasTicket(): boolean {
    return this.#hasJoined;
  }

  ask(): void {
    this.#state = 'asking';
    this.#isWoken = false;
    this.#asked += 1;
    const asked = this.#asked;
    const sentAt = asked === 1 ? this.startedAt : this.#room.monotonic();
    const sent = { sentAt, sentWall: this.#room.wall() };
    this.#nextAt = sent.sentAt + this.terms.requestTimeoutMs;
    const { request } = this;
    this.#unanswered += 1;
    this.#room.send(request).then(
      ({ result }) => {
        if (request !== this.request) return;
        this.#unanswered -= 1;
        this.#answered(result, sent, asked === this.#asked);
      },
      (error: unknown) => {
        if (asked === this.#asked) this.#failed(error as LeaseError);
      },
    );
    this.#schedule();
  }

  /** A wake-up: a hint that the turn may have come (Q3). */
  wake(): void {
    if (this.#state === 'waiting') this.ask();
    else this.#isWoken = true;
  }

  /** Whoever let go claimed for this one (Q1). What it was given lives as long as its ticket would have, so it is trusted as from the
   *  answer that spoke of the ticket (S7), however late the news; and no longer than the news says itself, if the store's clock was set
   *  forward in between. Without such an answer, or enough time left by it, the store is asked. */
  handedOver(handed: HandedOver): void {
    if (this.#state === 'done') return;
    if (!this.#ticket) return this.wake();
    const livesMs = this.#room.monotonic() - this.#ticket.sentAt + handed.expiresAt - handed.acquiredAt;
    const answer = { ...this.#ticket, remainingMs: Math.min(this.#ticket.remainingMs, livesMs) };
    const lease = leaseOf(this.request, handed);
    if (this.#room.leftOf(lease, answer) < LEAST_LEFT_MS) return this.wake();
    this.#finish({ outcome: 'granted', lease, answer });
  }

  /** The moment it asked to be looked at has come. */
  look(now: number): void {
    if (this.#state === 'done') return;
    const isOver = now >= this.#endsAt();
    if (isOver && this.#takeSpare()) return;
    if (isOver) return this.stop(this.#whyNot(), 'timeout');
    if (now < this.#nextAt) return this.#schedule();
    if (this.#state === 'waiting') return this.ask();
    const silentAt = this.#room.leftAt(this.request) + this.terms.requestTimeoutMs;
    if (now >= silentAt) return this.#failed(undefined);
    this.#nextAt = Math.min(silentAt, now + this.terms.requestTimeoutMs); // one copy in the line is enough
    this.#schedule();
  }

  /** True when a refresh that leaves now would save one of its own a little later. */
  isDueBy(until: number): boolean {
    return this.#state === 'waiting' && this.#hasJoined && this.#nextAt <= until;
  }

  stop(error: LeaseError, why: 'timeout' | 'cancelled'): void {
    if (this.#state === 'done') return;
    this.#finish({ outcome: 'error', error });
    this.#room.endLater(this, why);
  }

  #answered(result: AcquireResult, sent: Omit<Answer, 'remainingMs'>, isLatest: boolean): void {
    if (this.#state === 'done') return; // ended by id already, whatever this says
    this.#failures = 0;
    this.#error = undefined;
    switch (result.outcome) {
      case 'granted':
        return this.#granted(result.lease, { ...sent, remainingMs: result.remainingMs }, isLatest);
      case 'queued':
        return this.#queued(result, sent);
      case 'refused':
        if (this.terms.waitMs === 0) return this.#decline({ outcome: 'refused', refusal: result.refusal });
        return this.#fail(heldBySelf(this.request.parts, result.refusal));
      case 'deadlock':
        return this.#fail(deadlocked(this.request.parts, result.cycle), result.cycle);
      case 'ended':
        if (result.status === 'expired') return this.#askUnderNewId(); // granted, but the answer never came
        if (result.reason === 'died') {
          this.#room.died(this);
          return this.#askUnderNewId();
        }
        return this.#fail(endedElsewhere(this.request.parts, result.status, result.reason));
      case 'tooOld':
        // The store does not know the id: a copy that is still on its way may find a clock that takes it after all.
        if (this.#unanswered > 0) this.#room.endLater(this, 'cancelled');
        return this.#askUnderNewId();
      case 'mismatch':
        return this.#fail(new LeaseError('INVALID_ARGUMENT', 'this id was used for another request: make a new one'));
    }
  }

  /** Its deadline counts from when the question was sent (S7). Where a later one was sent too, and by this one there is no time
   *  for two renewals, the answer to that one may say the same with more: this one is kept until that is known. */
  #granted(lease: Lease, answer: Answer, isLatest: boolean): void {
    const isUpgrade = this.request.upgrades !== undefined; // a lease that is held already, for as long as it is
    const leftMs = this.#room.leftOf(lease, answer);
    const enoughMs = isLatest ? 0 : 2 * this.terms.requestTimeoutMs;
    const grant = { outcome: 'granted', lease, answer } as const;
    if (isUpgrade || leftMs > enoughMs) return this.#finish(grant);
    if (!isLatest) {
      if (leftMs > this.#spareMs()) this.#spare = grant;
      return this.wake();
    }
    this.#room.endLater(this, 'cancelled');
    this.#askUnderNewId();
  }

  #queued(result: AcquireResult & { outcome: 'queued' }, sent: Omit<Answer, 'remainingMs'>): void {
    this.#refusal = result.refusal;
    this.#ticket = { ...sent, remainingMs: Math.min(result.ticketLeftMs, this.request.ttlMs), isHandedOver: true };
    if (!this.#hasJoined) {
      this.#hasJoined = true;
      this.#room.joined(this, result.place);
    }
    this.#state = 'waiting';
    if (this.#isWoken) return this.ask();
    const mayBeFree = Math.max(result.refusal.retryAfterMs + 1, SOONEST_CLAIM_MS);
    const isNear = result.place <= FRONT_PLACES;
    this.#nextAt = this.#room.monotonic() + Math.min(TICKET_REFRESH_MS, isNear ? mayBeFree : Infinity);
    this.#schedule();
  }

  /** Too late, too old, or dead in the queue: begun anew, as often as is reasonable without waiting. */
  #askUnderNewId(): void {
    this.#renames += 1;
    if (this.#renames > RENAMES && this.terms.waitMs === 0) return this.#giveUp(undefined);
    this.request = this.#room.renamed(this);
    this.#unanswered = 0;
    this.#spare = undefined;
    this.#ticket = undefined;
    this.#hasJoined = false;
    if (this.#renames <= RENAMES) return this.ask();
    this.#state = 'waiting';
    this.#nextAt = this.#room.monotonic() + RETRY_MS;
    this.#schedule();
  }

  /** No answer, or an error: unknown (S15). Asked again under the same id while there is time. */
  #failed(error: LeaseError | undefined): void {
    if (this.#state === 'done' || this.#takeSpare()) return;
    this.#error = error;
    const isOut = this.terms.waitMs === 0 && this.#asked >= ASKS_WITHOUT_WAIT;
    if (error?.retryable === false || isOut) return this.#giveUp(error);
    this.#state = 'waiting';
    this.#nextAt = this.#room.monotonic() + Math.min(RETRY_MS * 2 ** this.#failures, LONGEST_RETRY_MS);
    this.#failures += 1;
    this.#schedule();
  }

  /** Nobody stood in the way of one who only heard of the store's own troubles. */
  #whyNot(): LeaseError {
    if (this.#error && !this.#refusal) return this.#error;
    return notInTime(this.request.parts, this.terms.waitMs, this.#refusal, this.#error);
  }

  #giveUp(error: LeaseError | undefined): void {
    const silent = new LeaseError(
      'STORE_UNAVAILABLE',
      `the store gave no answer in time to a request for ${this.request.parts[0]?.name ?? ''}: look at the store`,
      { details: { timedOut: true } },
    );
    this.stop(error ?? silent, 'cancelled');
  }

  #fail(error: LeaseError, cycle?: readonly WaitStep[]): void {
    this.#decline({ outcome: 'error', error, ...(cycle === undefined ? {} : { cycle }) });
  }

  /** The store said no. A copy of the question that is still on its way might yet be told yes: it is ended by id. */
  #decline(outcome: Outcome): void {
    this.#finish(outcome);
    if (this.#unanswered > 0) this.#room.endLater(this, 'cancelled');
  }

  #spareMs(): number {
    return this.#spare ? this.#room.leftOf(this.#spare.lease, this.#spare.answer) : 0;
  }

  #takeSpare(): boolean {
    if (!this.#spare || this.#spareMs() <= 0) return false;
    this.#finish(this.#spare);
    return true;
  }

  #finish(outcome: Outcome): void {
    this.#state = 'done';
    this.#forgetSignal?.();
    this.#room.done(this, outcome);
  }

  /** The first question is always given time to be answered, however short the wait. */
  #endsAt(): number {
    const { waitMs, requestTimeoutMs, spentMs = 0 } = this.terms;
    if (waitMs === 0) return Infinity;
    const isFirst = this.#asked <= 1 && this.#state === 'asking';
    return this.startedAt + Math.max(waitMs - spentMs, isFirst ? requestTimeoutMs : 0);
  }

  #schedule(): void {
    this.#room.lookAt(this, Math.min(this.#nextAt, this.#endsAt()));
  }
}
