// What a holder does to its lease: renew by hand, release, delegate, downgrade (A6, Q5). Each carries id, epoch
// and one request id under which it is repeated while its answer is unknown (S5, S15).
//
// Letting go: the handle is over before anything is sent; a renewal in flight is waited for first, so that the two never
// overlap. A release whose answer does not come is repeated in the background until the lease cannot be alive any more.
import { checkOwner } from '../domain/check-request.js';
import { parseDuration, type Duration } from '../domain/duration.js';
import { invalid, LeaseError } from '../domain/errors.js';
import { isoTime, toEndedRecord, toRecord, type Lease } from '../domain/lease.js';
import { LIMITS } from '../domain/limits.js';
import type { ChangeRequest, EndRequest, RenewRequest } from '../domain/requests.js';
import { backoffMs, checkTiming } from '../domain/trust-window.js';
import type { EndResult, NotHeld } from '../stores/store.js';
import type { Answered } from '../stores/batching.js';
import { askUntilAnswered, pause } from './ask-until-answered.js';
import { writeDocument } from './delegation.js';
import type { Released, Renewed } from './face.js';
import type { Hold } from './held-lease.js';
import type { Upgrading } from './keeper.js';
import type { LeaseManager } from './lease-manager.js';
import { lostByAnswer } from './loss.js';
import { nameOf, pinned } from './refusals.js';
import type { Renewals } from './renewals.js';
import { noUpgrade } from './upgrade.js';

/** How often a release looks whether the guarded transactions are over: soon at first, they are short. */
const PINNED_PAUSE_MS = 2;
const LONGEST_PINNED_PAUSE_MS = 50;

export class Changes {
  readonly #manager: LeaseManager;
  readonly #renewals: Renewals;
  /** Renewals by hand that are not answered. */
  readonly #byHand = new WeakMap<Hold, Set<RenewRequest>>();

  constructor(manager: LeaseManager, renewals: Renewals) {
    this.#manager = manager;
    this.#renewals = renewals;
  }

  async renew(hold: Hold, ttl?: Duration): Promise<Renewed> {
    const ttlMs = ttl === undefined ? undefined : this.#checkTtl(hold, ttl);
    hold.throwIfLost();
    hold.askedTtlMs = ttlMs ?? hold.askedTtlMs;
    const { clock, link } = this.#manager;
    const sent = { sentAt: clock.monotonic(), sentWall: clock.wall() };
    const request: RenewRequest = {
      id: hold.id,
      epoch: hold.epoch,
      requestId: clock.randomText(),
      ttlMs,
      callerWall: sent.sentWall,
    };
    const asked = link.renew(request).then((answer) => {
      this.#renewals.answered(hold, request, sent, answer.now, answer.result);
      return answer;
    });
    this.#noteRenewing(hold, request, asked);
    const { result, now } = await link.sentWithin(hold.terms.requestTimeoutMs, 'renew', request, asked);
    if (result.outcome === 'notHeld') {
      hold.throwIfLost();
      throw new LeaseError('STORE_UNAVAILABLE', `${nameOf(hold.parts)} was being upgraded meanwhile: renew again`);
    }
    if (result.outcome === 'renewed') {
      hold.throwIfLost();
      return { expiresAt: isoTime(result.expiresAt), storeNow: isoTime(now), renewals: result.renewals };
    }
    const [code, bound] =
      result.outcome === 'maxHold'
        ? (['MAX_HOLD', 'maxHold is reached'] as const)
        : (['MAX_RENEWALS', 'maxRenewals are used up'] as const);
    throw new LeaseError(code, `${bound} for ${nameOf(hold.parts)}: it ends in ${Math.round(result.remainingMs)} ms`, {
      details: { remainingMs: result.remainingMs },
    });
  }

  async release(hold: Hold): Promise<Released> {
    const leaving = this.#leave(hold);
    if (leaving) await leaving;
    const { lease, lossReason } = hold;
    const how = lossReason?.details['how'];
    if (hold.isDelegated || how === 'superseded') return { outcome: 'superseded' }; // the record is another holder's
    if (hold.state === 'lost' && how !== 'expired') return endedBefore(lease, how);
    const { clock, link, cleanups } = this.#manager;
    const request = { id: hold.id, epoch: hold.epoch, requestId: clock.randomText(), why: 'released' } as const;
    if (hold.upgrading) this.#endAlso(hold, hold.upgrading, request);
    try {
      let answer = await this.#end(hold, request);
      if (answer.result.outcome === 'pinned') answer = await this.#endUnpinned(hold, request, answer);
      return this.#released(lease, answer.result, answer.now);
    } catch {
      const later = cleanups.end(request, link.lifeMs(lease), hold.terms.requestTimeoutMs);
      const answer = await link
        .sentWithin(hold.terms.requestTimeoutMs, 'release', request, later)
        .catch(() => undefined);
      return answer ? this.#released(lease, answer, link.now()) : { outcome: 'unknown', record: toRecord(lease) };
    }
  }

  #end(hold: Hold, request: EndRequest): Promise<Answered<EndResult>> {
    const { link } = this.#manager;
    return link.sentWithin(hold.terms.requestTimeoutMs, 'release', request, link.end(request));
  }

  /** G1: a guarded transaction of this lease is still open. It is waited for, as long as the lease may be trusted; when this
   *  process shuts down, for a moment only (A9). */
  async #endUnpinned(hold: Hold, request: EndRequest, pinned: Answered<EndResult>): Promise<Answered<EndResult>> {
    const { clock, cleanups } = this.#manager;
    let answer = pinned;
    let pauseMs = PINNED_PAUSE_MS;
    const mayWait = (): boolean => clock.monotonic() + pauseMs < Math.min(hold.deadline, hold.pinnedUntil);
    while (answer.result.outcome === 'pinned' && mayWait()) {
      await pause(clock, pauseMs);
      if (cleanups.isStopped) break;
      answer = await this.#end(hold, request);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PINNED_PAUSE_MS);
    }
    return answer;
  }

  /** Not known yet whether its upgrade went through: if it did, what it made is ended too (S9). */
  #endAlso(hold: Hold, { settled }: Upgrading, request: EndRequest): void {
    const { clock, cleanups, link } = this.#manager;
    const ending = settled.then(() => {
      const { epoch, lease, terms } = hold;
      if (epoch === request.epoch) return undefined;
      const end = { ...request, epoch, requestId: clock.randomText() };
      return cleanups.end(end, link.lifeMs(lease), terms.requestTimeoutMs);
    });
    ending.catch(() => undefined); // a cleanup does not fail
  }

  async delegate(hold: Hold, toOwner: string): Promise<string> {
    checkOwner(toOwner, 'the owner to delegate to');
    if (toOwner === hold.owner) throw invalid(`delegate to another owner than ${hold.owner}, which holds it already`);
    if (hold.upgrading) await noUpgrade(this.#manager, hold);
    hold.throwIfLost();
    hold.isDelegated = true;
    await this.#leave(hold);
    const lease = await this.#change(hold, { kind: 'delegate', toOwner }).catch((error: unknown) => {
      hold.isDelegated = false; // by all that is known: release() asks, and a lease that did move on says `stale`
      throw error;
    });
    const fromOwner = hold.owner;
    this.#manager.announcer.changed('lease.delegated', lease, { fromOwner, fromEpoch: hold.epoch, resumed: false });
    return writeDocument(this.#manager.link.store, lease, hold.terms);
  }

  async downgrade(hold: Hold): Promise<void> {
    if (hold.upgrading) await noUpgrade(this.#manager, hold);
    hold.throwIfLost();
    const { parts } = await this.#change(hold, { kind: 'downgrade' });
    if (hold.state !== 'held') return;
    hold.confirm(undefined, { parts }); // it prolongs nothing: the deadline stays where the last renewal put it
    this.#manager.announcer.changed('lease.downgraded', hold.lease, {});
  }

  /** Repeated under one request id until answered or the deadline has passed. */
  async #change(hold: Hold, what: { kind: 'delegate'; toOwner: string } | { kind: 'downgrade' }): Promise<Lease> {
    const { clock } = this.#manager;
    const request: ChangeRequest = { ...what, id: hold.id, epoch: hold.epoch, requestId: clock.randomText() };
    const { result } = await askUntilAnswered(this.#manager, request, {
      timeoutMs: hold.terms.requestTimeoutMs,
      pauseMs: backoffMs(hold.lease.ttlMs),
      mayRetry: (pauseMs) => clock.monotonic() + pauseMs < hold.deadline,
      onLaterAnswer: (later) => {
        if (later.outcome === 'notHeld') loseUnlessOvertaken(hold, request, later);
      },
    });
    if (result.outcome === 'changed') return result.lease;
    if (result.outcome === 'pinned') throw pinned(hold.parts);
    loseUnlessOvertaken(hold, request, result);
    throw hold.lossReason ?? lostByAnswer(hold.lease, result);
  }

  /** Over for its holder. What is in flight, if anything is, is answered or given up on before anything else is sent. */
  #leave(hold: Hold): Promise<void> | undefined {
    hold.leave();
    for (const request of this.#byHand.get(hold) ?? []) this.#manager.link.withdraw(request); // it must not leave after the release
    const { attempt, renewing, upgrading, terms } = hold;
    upgrading?.cancel();
    const renewal = attempt?.isInFlight ? attempt.answer : undefined;
    if (!renewal && !renewing && !upgrading) return undefined;
    return this.#settle([renewal, renewing, upgrading?.settled], terms.requestTimeoutMs);
  }

  async #settle(inFlight: readonly (Promise<unknown> | undefined)[], timeoutMs: number): Promise<void> {
    for (const one of inFlight) {
      if (one) await this.#manager.link.within(timeoutMs, 'renew', one).catch(() => undefined);
    }
  }

  #released(lease: Lease, result: EndResult, now: number): Released {
    const { announcer } = this.#manager;
    if (result.outcome === 'stale') {
      announcer.observer.conflict();
      return { outcome: 'superseded' };
    }
    if (result.outcome === 'released') {
      announcer.released(lease);
      return { outcome: 'released', record: toEndedRecord(lease, 'released', now) };
    }
    if (result.outcome === 'pinned') return { outcome: 'unknown', record: toRecord(lease) };
    const status = result.outcome === 'revoked' ? 'revoked' : 'expired';
    return { outcome: 'already_ended', record: toEndedRecord(lease, status, lease.endedAt) };
  }

  #noteRenewing(hold: Hold, request: RenewRequest, asked: Promise<unknown>): void {
    const requests = this.#byHand.get(hold) ?? new Set();
    this.#byHand.set(hold, requests.add(request));
    const renewing = Promise.allSettled([hold.renewing, asked]).then(() => {
      requests.delete(request);
      if (hold.renewing === renewing) hold.renewing = undefined;
    });
    hold.renewing = renewing;
  }

  #checkTtl(hold: Hold, ttl: Duration): number {
    const minMs = Math.max(LIMITS.minTtlManualMs, this.#manager.defaults.minTtlMs);
    const ttlMs = parseDuration(ttl, { name: 'ttl', minMs, maxMs: LIMITS.ttlMs });
    if (hold.terms.isAuto) checkTiming({ ttlMs, ...hold.terms }, Math.max(LIMITS.minTtlAutoMs, minMs));
    return ttlMs;
  }
}

/** What this process last knew of it, with the end it was told of; nothing where the store does not know the id. */
function endedBefore(lease: Lease, how: unknown): Released {
  if (how !== 'revoked' && how !== 'released' && how !== 'failed') return { outcome: 'already_ended' };
  return { outcome: 'already_ended', record: toEndedRecord(lease, how, lease.endedAt) };
}

/** S15: a definite no ends the hold, whichever copy of the question it answers; unless it is about an older epoch. */
function loseUnlessOvertaken(hold: Hold, request: ChangeRequest, result: NotHeld): void {
  const isOvertaken = request.epoch !== hold.epoch || hold.upgrading !== undefined;
  if (!isOvertaken) hold.lose(lostByAnswer(hold.lease, result));
}
