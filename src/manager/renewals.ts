// Renewal of everything this process holds: one agenda, one call for what is due together (A5), and what each answer
// means for its hold (S15).
//
// At `renewAt` of the ttl, counted back from the end the store named, a hold is due. Its renewal may leave up to 10 % of
// the ttl (at most 1 s) earlier: half of that is jitter, and what else can leave by then goes along. The hold is then
// looked at again when the answer is overdue, when its retry is due, or at its deadline, whichever is first:
//
//   renewed                    → the deadline moves on, from the send time
//   maxRenewals, maxHold       → renewal stops; the signal aborts at the deadline with that code
//   notHeld                    → a definite no: lost at once
//   an error, or no answer     → the deadline stays; tried again after a pause, under the same request id, until then
import type { Clock } from '../domain/clock.js';
import type { LeaseError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import type { RenewRequest } from '../domain/requests.js';
import { backoffMs } from '../domain/trust-window.js';
import type { Failed, RenewResult } from '../stores/store.js';
import { Agenda } from './agenda.js';
import type { Announcer } from './announcer.js';
import type { Hold } from './held-lease.js';
import { lostByAnswer } from './loss.js';
import type { StoreLink } from './store-link.js';

const EARLY_MAX_MS = 1_000;
/** Of how early a renewal may leave; the rest is for going along with others. */
const JITTER_SHARE = 0.5;
const LONGEST_PAUSE_MS = 1_000;

export class Renewals {
  readonly #clock: Clock;
  readonly #link: StoreLink;
  readonly #announcer: Announcer;
  readonly #agenda: Agenda<Hold>;
  #isStopped = false;

  constructor(clock: Clock, link: StoreLink, announcer: Announcer) {
    this.#clock = clock;
    this.#link = link;
    this.#announcer = announcer;
    this.#agenda = new Agenda(clock, (due, now) => this.#look(due, now));
  }

  /** Puts the hold where its next moment is. */
  schedule(hold: Hold): void {
    if (hold.state !== 'held') return this.#agenda.remove(hold);
    const due = hold.renewalDue(this.#clock.monotonic());
    const isTrying = hold.attempt !== undefined && (hold.attempt.isInFlight || due < Infinity);
    const next = isTrying ? (hold.attempt?.until ?? 0) : due - this.#clock.random() * JITTER_SHARE * hold.earlyMs;
    this.#agenda.put(hold, this.#isStopped ? hold.deadline : Math.min(next, hold.deadline));
  }

  forget(hold: Hold): void {
    this.#agenda.remove(hold);
  }

  /** Shutting down: nothing is renewed any more, deadlines still count. */
  stop(): void {
    this.#isStopped = true;
  }

  #look(due: Hold[], now: number): void {
    const together: Hold[] = [];
    const soon = this.#isStopped ? [] : this.#agenda.takeUntil(now + EARLY_MAX_MS);
    for (const hold of due.concat(soon)) {
      if (hold.state !== 'held') continue; // let go by who heard of another's loss a moment ago
      if (now >= hold.deadline) hold.lose(hold.lossByDeadline());
      else if (this.#isDue(hold, now)) together.push(hold);
      else this.schedule(hold);
    }
    for (let i = 0; i < together.length; i += LIMITS.batchItems) {
      this.#send(together.slice(i, i + LIMITS.batchItems), now);
    }
  }

  #isDue(hold: Hold, now: number): boolean {
    const { attempt } = hold;
    if (attempt?.isInFlight && now >= attempt.until) this.failed(hold, undefined);
    if (this.#isStopped || attempt?.isInFlight) return false;
    const due = hold.renewalDue(now);
    return due < Infinity && (attempt ? attempt.until <= now : due - hold.earlyMs <= now);
  }

  #send(holds: readonly Hold[], sentAt: number): void {
    const sentWall = this.#clock.wall();
    const requests = holds.map((hold): RenewRequest => {
      hold.attempt ??= {
        requestId: this.#clock.randomText(),
        until: 0,
        isInFlight: false,
        failures: 0,
        answer: undefined,
      };
      // The ttl goes along: the row's may have become another (renewed by id, or a reply that was lost), and an answer
      // for less than this hold reckons with would be due again at once.
      const ttlMs = hold.askedTtlMs ?? hold.lease.ttlMs;
      return { id: hold.id, epoch: hold.epoch, requestId: hold.attempt.requestId, ttlMs, callerWall: sentWall };
    });
    const answer = this.#link.renewTogether(requests).then(
      ({ results, now }) => {
        for (const [i, hold] of holds.entries()) {
          const [request, result] = [requests[i] as RenewRequest, results[i] as RenewResult | Failed];
          if (result.outcome === 'failed') thisFailed(hold, result.error);
          else this.answered(hold, request, { sentAt, sentWall }, now, result);
        }
      },
      (error: unknown) => {
        for (const hold of holds) thisFailed(hold, error as LeaseError);
      },
    );
    // A copy that was given up on says nothing about the one that is on its way now.
    const thisFailed = (hold: Hold, error: LeaseError): void => {
      if (hold.attempt?.isInFlight && hold.attempt.answer === answer) this.failed(hold, error);
    };
    for (const hold of holds) {
      if (!hold.attempt) continue;
      hold.attempt.until = hold.answerDue(sentAt);
      hold.attempt.isInFlight = true;
      hold.attempt.answer = answer;
      this.schedule(hold);
    }
  }

  /** What one answer means for its hold. Also for renewals asked for by hand. */
  answered(
    hold: Hold,
    request: RenewRequest,
    sent: { readonly sentAt: number; readonly sentWall: number },
    storeNow: number,
    result: RenewResult | Failed,
  ): void {
    if (result.outcome === 'failed') return this.failed(hold, result.error);
    if (hold.state !== 'held') return;
    if (request.epoch !== hold.epoch) return this.#overtaken(hold, request);
    if (this.#clock.monotonic() >= hold.deadline) return hold.lose(hold.lossByDeadline());
    if (result.outcome === 'notHeld') {
      const mayBeOwn = result.status === 'active' && (result.epoch ?? 0) > hold.epoch;
      if (hold.upgrading && mayBeOwn) {
        hold.upgrading.ask();
        return this.#tryAgain(hold);
      }
      this.#announcer.renewalFailed(hold.lease, result, undefined);
      return hold.lose(lostByAnswer(hold.lease, result));
    }
    const isAnother = hold.attempt?.isInFlight === true && hold.attempt.requestId !== request.requestId;
    if (!isAnother) hold.attempt = undefined; // one that is still on its way is waited for by a release (S15)
    if (result.outcome === 'renewed') {
      const { remainingMs, expiresAt, renewals } = result;
      const ttl = request.ttlMs === undefined ? {} : { ttlMs: request.ttlMs };
      hold.confirm({ ...sent, remainingMs }, { expiresAt, renewals, renewedAt: storeNow, ...ttl });
      this.#announcer.renewed(hold.lease);
    } else {
      const bound = result.outcome === 'maxHold' ? 'MAX_HOLD' : 'MAX_RENEWALS';
      hold.stopCause ??= bound;
      hold.confirm({ ...sent, remainingMs: result.remainingMs }, {});
      this.#announcer.renewalEnded(hold.lease, bound);
    }
  }

  /** Asked for before an upgrade, answered after it: it says nothing about the epoch there is now. */
  #overtaken(hold: Hold, { requestId }: RenewRequest): void {
    if (hold.attempt?.requestId !== requestId) return;
    hold.attempt = undefined;
    this.schedule(hold);
  }

  /** No answer, or an error: neither yes nor no. The deadline stays where it was. */
  failed(hold: Hold, error: LeaseError | undefined): void {
    if (hold.state !== 'held') return;
    this.#announcer.renewalFailed(hold.lease, undefined, error);
    this.#tryAgain(hold);
  }

  /** After a pause that doubles, so that two attempts fit before the deadline (S14) and a sick store is not hurried. */
  #tryAgain(hold: Hold): void {
    const { attempt } = hold;
    if (attempt) {
      const pause = Math.min(backoffMs(hold.lease.ttlMs) * 2 ** attempt.failures, LONGEST_PAUSE_MS);
      attempt.failures += 1;
      attempt.isInFlight = false;
      attempt.until = this.#clock.monotonic() + pause;
    }
    this.schedule(hold);
  }
}
