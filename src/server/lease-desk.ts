// Leases for clients that come by HTTP: asked for, waited for and changed for somebody on another machine. Nothing is held
// or renewed here: the client is the holder, and what it was granted lives by its ttl. Everything is asked with
// `remote: true`, so that an embedded store's restart does not end it (S13).
//
// A wait is one waiter of the manager's wait room: one timer and one subscription for all of them (S18). It ends when it is
// granted, refused or over, when its client goes away, or when the server drains; whatever is then still on its way is
// ended by id (S9).
import { checkRenew } from '../domain/check-request.js';
import type { Clock } from '../domain/clock.js';
import { parseDuration, type Duration } from '../domain/duration.js';
import { invalid, LeaseError } from '../domain/errors.js';
import type { Lease } from '../domain/lease.js';
import { LIMITS } from '../domain/limits.js';
import { asExclusive, type Resources } from '../domain/part.js';
import type { AcquireRequest, ChangeRequest, EndRequest } from '../domain/requests.js';
import { defaultRequestTimeoutMs } from '../domain/trust-window.js';
import { Announcer } from '../manager/announcer.js';
import { Cleanups } from '../manager/cleanups.js';
import type { AcquireOptions, Wait } from '../manager/face.js';
import type { Observer } from '../manager/observer.js';
import { parseWait, planOf, type Defaults } from '../manager/plan.js';
import { acquisitionResult, nameOf, notInTime, pinned } from '../manager/refusals.js';
import { StoreLink } from '../manager/store-link.js';
import { WaitRoom } from '../manager/wait-room.js';
import type { Outcome, WaitTerms } from '../manager/wait-outcome.js';
import type { ChangeResult, EndResult, NotHeld, RenewResult, Reply, Store } from '../stores/store.js';
import { withStatus } from './problem.js';

const CALL_TIMEOUT_MS = 10_000;
const RENEW_AT = 0.6;

export interface DeskOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly observer: Observer;
  /** Of the store. */
  readonly minTtlMs: number;
}

export interface Granted {
  readonly lease: Lease;
  readonly remainingMs: number;
  readonly now: number;
}

/** Who touches which grant. `requestId` makes a repeat safe (S5). */
export interface Authority {
  readonly id: string;
  readonly epoch: number;
  readonly requestId?: string | undefined;
}

export interface AcquireOrder {
  readonly resources: Resources;
  readonly options: Omit<AcquireOptions, 'metadata'> & { readonly owner: string };
  /** As it is kept: checked, and wrapped with the token of its caller (W3). */
  readonly metadata: unknown;
  readonly holding: readonly string[];
}

/** What a wait depends on from outside. */
export interface Stay {
  readonly signal: AbortSignal;
  /** Where waiting is counted: given the way to end this one, answers what to call when it is over. */
  readonly enter?: ((stop: (why: LeaseError) => void) => () => void) | undefined;
}

export interface UpgradeOrder extends Authority {
  readonly wait: Wait | undefined;
  readonly holding: readonly string[];
}

export class LeaseDesk {
  readonly #clock: Clock;
  readonly #link: StoreLink;
  readonly #observer: Observer;
  readonly #cleanups: Cleanups;
  readonly #room: WaitRoom;
  readonly #minTtlMs: number;
  #isClosed = false;

  constructor({ store, clock, observer, minTtlMs }: DeskOptions) {
    this.#clock = clock;
    this.#observer = observer;
    this.#minTtlMs = minTtlMs;
    this.#link = new StoreLink(store, clock, observer, 'turn');
    this.#cleanups = new Cleanups(clock, this.#link);
    this.#room = new WaitRoom(clock, this.#link, new Announcer(observer, this.#link), this.#cleanups);
  }

  /** Requests that have not been answered yet. */
  get waiting(): number {
    return this.#room.size;
  }

  async acquire({ resources, options, metadata, holding }: AcquireOrder, stay: Stay): Promise<Granted> {
    const settings = await this.#link.settings();
    const plan = planOf(resources, { ...options, renew: 'manual' }, this.#defaults(options.owner), settings);
    const { owner, parts, ttlMs, waitMs, priority, reclaim, maxRenewals, maxHoldMs, minHoldMs, lockDelayMs } = plan;
    const { operationId } = plan;
    const request = this.#room.named({
      ...{ owner, parts, ttlMs, priority, join: waitMs > 0, holding, reclaim, maxRenewals, maxHoldMs, minHoldMs },
      ...{ lockDelayMs, operationId, metadata, remote: true },
    });
    const { requestTimeoutMs } = plan.terms;
    // Nothing of the above is kept while it waits.
    return this.#wait(request, { waitMs, requestTimeoutMs, signal: stay.signal }, stay).then(({ outcome, asked }) =>
      this.#granted(outcome, asked, waitMs),
    );
  }

  /** Q5. Only the answer about the ticket's end is final: 'stale' means that the upgrade went through after all. */
  async upgrade({ id, epoch, wait, holding }: UpgradeOrder, stay: Stay): Promise<Granted> {
    const settings = await this.#link.settings();
    const wanted = wait === undefined ? settings.acquisition_timeout_ms : parseWait(wait);
    const waitMs = settings.blocking_mode_enabled ? wanted : 0;
    const lease = await this.live({ id, epoch });
    if (lease.parts.every((part) => part.mode === 'exclusive'))
      throw invalid(`the lease on ${nameOf(lease.parts)} is exclusive already: nothing to upgrade`);
    const { owner, ttlMs, maxRenewals } = lease;
    const request = this.#room.named({
      ...{ owner, parts: asExclusive(lease.parts), ttlMs, priority: 0, join: waitMs > 0, holding },
      ...{ upgrades: { id, epoch }, reclaim: false, maxRenewals, minHoldMs: 0, lockDelayMs: 0, remote: true },
    });
    const requestTimeoutMs = defaultRequestTimeoutMs(ttlMs);
    const { outcome, asked } = await this.#wait(request, { waitMs, requestTimeoutMs, signal: stay.signal }, stay);
    if (outcome.outcome === 'granted') return this.#granted(outcome, asked, waitMs);
    const end = { id: asked.id, requestId: this.#clock.randomText(), why: 'cancelled' } as const;
    const ended = await this.#cleanups.end(end, ttlMs, requestTimeoutMs);
    if (ended?.outcome !== 'stale') return this.#granted(outcome, asked, waitMs);
    const upgraded = await this.live({ id, epoch: ended.epoch });
    return { lease: upgraded, remainingMs: upgraded.expiresAt - this.#link.now(), now: this.#link.now() };
  }

  async renew({
    id,
    epoch,
    requestId,
    ttl,
  }: Authority & { readonly ttl?: Duration | undefined }): Promise<
    Extract<RenewResult, { outcome: 'renewed' }> & { readonly now: number }
  > {
    const bounds = { name: 'ttl', minMs: Math.max(LIMITS.minTtlManualMs, this.#minTtlMs), maxMs: LIMITS.ttlMs };
    const request = {
      ...{ id, epoch, requestId: requestId ?? this.#clock.randomText(), callerWall: this.#clock.wall() },
      ttlMs: ttl === undefined ? undefined : parseDuration(ttl, bounds),
    };
    checkRenew(request);
    const { result, now } = await this.#answered('renew', this.#link.renew(request));
    if (result.outcome === 'renewed') {
      this.#observer.renewals('success', 1);
      return { ...result, now };
    }
    if (result.outcome === 'notHeld') {
      this.#observer.renewals('lost', 1);
      throw this.#notHeld({ id, epoch }, result, 'Renewal failed');
    }
    this.#observer.renewals('limit', 1);
    const { remainingMs } = result;
    const [code, bound] =
      result.outcome === 'maxHold'
        ? (['MAX_HOLD', 'maxHold is reached'] as const)
        : (['MAX_RENEWALS', 'maxRenewals are used up'] as const);
    throw new LeaseError(code, `${bound}: it ends in ${Math.round(remainingMs)} ms`, { details: { remainingMs } });
  }

  /** Never an error for a lease that is gone. */
  async release({ id, epoch, requestId }: Authority): Promise<EndResult> {
    const request: EndRequest = { id, epoch, requestId: requestId ?? this.#clock.randomText(), why: 'released' };
    const { result } = await this.#answered('release', this.#link.end(request));
    if (result.outcome === 'stale') this.#observer.conflict();
    return result;
  }

  /** A grant whose answer could not be delivered: nobody knows of it, so it is ended (S9). Cancelled, not released: no work was
   *  done that `minHold` could stand for (Q6). What somebody was given by a later epoch is not touched. */
  takeBack({ id, ttlMs }: Lease): void {
    const end = { id, requestId: this.#clock.randomText(), why: 'cancelled' } as const;
    this.#cleanups.end(end, ttlMs, defaultRequestTimeoutMs(ttlMs)).catch(() => undefined); // it lapses by its ttl
  }

  async change(request: Exclude<ChangeRequest, { kind: 'resume' }>): Promise<Granted> {
    const { result, now } = await this.#answered(request.kind, this.#link.change(request));
    return { ...this.#changed(request, result), now };
  }

  /** The lease as it stands, live and of this epoch, or why not. */
  async live(authority: Authority): Promise<Lease> {
    const { items } = await this.ask('get', (store) => store.get([authority.id]));
    const [lease] = items;
    if (lease?.status === 'active' && lease.epoch === authority.epoch) return lease;
    const isNewer = lease?.status === 'active';
    const found = { outcome: 'notHeld', status: lease?.status ?? 'unknown' } as const;
    throw this.#notHeld(authority, { ...found, epoch: isNewer ? lease.epoch : undefined }, 'Not held');
  }

  /** Any other call of the port, timed and bounded. */
  ask<T extends Reply>(operation: string, act: (store: Store) => Promise<T>): Promise<T> {
    return this.#link.within(CALL_TIMEOUT_MS, operation, this.#link.call(operation, act));
  }

  newRequestId(): string {
    return this.#clock.randomText();
  }

  /** Everybody who waits is told to come back, and nobody new is let in. */
  drain(): void {
    this.#isClosed = true;
    this.#room.stopAll(() => draining());
  }

  /** After the last answer: tickets that were left are ended, or lapse by themselves. */
  async close(withinMs: number): Promise<void> {
    this.drain();
    await this.#cleanups.settled(withinMs);
    this.#cleanups.stop();
    this.#room.close();
  }

  #wait(
    request: AcquireRequest,
    terms: WaitTerms,
    { signal, enter }: Stay,
  ): Promise<{ outcome: Outcome; asked: AcquireRequest }> {
    if (this.#isClosed) throw draining();
    if (signal.aborted) throw gone();
    return new Promise((resolve) => {
      const leave = enter?.((why) => waiter.stop(why, 'cancelled'));
      const waiter = this.#room.wait(request, terms, (outcome, { startedAt, request: asked }) => {
        leave?.();
        this.#observer.acquisition(acquisitionResult(outcome), this.#clock.monotonic() - startedAt);
        resolve({ outcome, asked });
      });
    });
  }

  #granted(outcome: Outcome, { parts }: AcquireRequest, waitMs: number): Granted {
    if (outcome.outcome === 'error') throw outcome.error;
    if (outcome.outcome === 'refused') throw notInTime(parts, waitMs, outcome.refusal);
    return { lease: outcome.lease, remainingMs: outcome.answer.remainingMs, now: this.#link.now() };
  }

  #changed({ id, epoch }: Authority, result: ChangeResult): Omit<Granted, 'now'> {
    if (result.outcome === 'changed') return result;
    if (result.outcome === 'notHeld') throw this.#notHeld({ id, epoch }, result, 'Nothing was changed');
    throw pinned([]);
  }

  #notHeld({ id, epoch }: Authority, { status, epoch: current }: NotHeld, what: string): LeaseError {
    if (current !== undefined) {
      this.#observer.conflict();
      const text = `${what}: stale epoch (current: ${current}, attempted: ${epoch})`;
      return new LeaseError('STALE_EPOCH', text, { details: { leaseId: id, current, attempted: epoch } });
    }
    const details = { leaseId: id, status };
    if (status === 'unknown') return withStatus(404, 'NOT_HELD', `${what}: there is no lease ${id}`, details);
    return new LeaseError('NOT_HELD', `${what}: the lease is ${status}`, { details });
  }

  #answered<T>(what: string, answer: Promise<T>): Promise<T> {
    return this.#link.within(CALL_TIMEOUT_MS, what, answer);
  }

  #defaults(owner: string): Defaults {
    const adaptiveTtlMs = (): number => {
      throw invalid("ttl 'adaptive' is for leases that a library renews: give a duration");
    };
    return { owner, renewAt: RENEW_AT, minTtlMs: this.#minTtlMs, adaptiveTtlMs };
  }
}

function draining(): LeaseError {
  return new LeaseError('SHUTTING_DOWN', 'this server is shutting down: ask another one, or again in a moment');
}
function gone(): LeaseError {
  return new LeaseError('ACQUIRE_ABORTED', 'the client went away before it was answered');
}
