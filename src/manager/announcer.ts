// What the manager says about a lease, in the words of the event log (H2, H3). Stored rows are written by the store; these
// are the same facts told in this process, once each, and only gathered when somebody listens.
import type { StoreRefusal } from '../domain/decide.js';
import type { LeaseError } from '../domain/errors.js';
import type { EventFacts, EventType } from '../domain/events.js';
import type { Lease } from '../domain/lease.js';
import type { Part } from '../domain/part.js';
import type { WaitStep } from '../domain/wait-graph.js';
import type { NotHeld } from '../stores/store.js';
import type { Observer } from './observer.js';
import type { StoreLink } from './store-link.js';

type More = Partial<Pick<EventFacts, 'from' | 'to' | 'actor' | 'reason' | 'error'>> & { data?: EventFacts['data'] };

/** Someone who asks, before there is a lease. */
export interface Asker {
  readonly id: string;
  readonly owner: string;
  readonly parts: readonly Part[];
}

export class Announcer {
  readonly observer: Observer;
  readonly #link: StoreLink;

  constructor(observer: Observer, link: StoreLink) {
    this.observer = observer;
    this.#link = link;
  }

  acquired(lease: Lease, waitedMs: number): void {
    this.observer.acquisition('success', waitedMs);
    if (!this.observer.wants('lease.acquired')) return;
    const data = { ttlMs: lease.ttlMs, expiresAt: lease.expiresAt, waitedMs: Math.round(waitedMs) };
    this.#say('lease.acquired', lease, { to: 'active', data });
  }

  queued(asker: Asker, place: number): void {
    this.#say('lease.queued', asker, { to: 'pending', data: { place } });
  }

  refused(asker: Asker, refusal: StoreRefusal): void {
    if (!this.observer.wants('lease.refused')) return;
    const [holder] = refusal.holders;
    const { reason, holderCount, queueLength, retryAfterMs } = refusal;
    const data = { until: holder?.expiresAt, holderCount, queueLength, retryAfterMs, by: holder?.owner };
    this.#say('lease.refused', { ...asker, owner: holder?.owner ?? asker.owner }, { reason, data, actor: asker.owner });
  }

  failed(asker: Asker, reason: 'timeout' | 'cancelled' | 'revoked' | 'died'): void {
    this.#say('lease.failed', asker, { from: 'pending', to: 'failed', reason });
  }

  deadlock(asker: Asker, cycle: readonly WaitStep[]): void {
    this.#say('deadlock.detected', asker, { from: 'pending', to: 'failed', reason: 'deadlock', data: { cycle } });
  }

  renewed(lease: Lease): void {
    this.observer.renewals('success', 1);
    if (!this.observer.wants('lease.renewed')) return;
    const { expiresAt, renewals } = lease;
    this.#say('lease.renewed', lease, { from: 'active', to: 'active', data: { expiresAt, renewals } });
  }

  /** maxRenewals or maxHold is reached: no renewal, and no loss yet. */
  renewalEnded(lease: Lease, bound: 'MAX_RENEWALS' | 'MAX_HOLD'): void {
    this.observer.renewals('limit', 1);
    const error = bound === 'MAX_HOLD' ? 'maxHold is reached' : 'maxRenewals are used up';
    this.#say('lease.renewal_failed', lease, { error, data: { code: bound } });
  }

  /** `answer` is a definite no, `error` what went wrong otherwise; neither: the answer did not come in time. */
  renewalFailed(lease: Lease, answer: NotHeld | undefined, error: LeaseError | undefined): void {
    this.observer.renewals(answer ? 'lost' : 'error', 1);
    const current = answer?.epoch;
    if (current !== undefined) this.observer.conflict();
    const stale = current === undefined ? {} : { current, attempted: lease.epoch };
    const text = error?.message ?? (answer ? `the lease is ${answer.status}` : 'no answer in time');
    this.#say('lease.renewal_failed', lease, { error: text, data: { ...stale, code: error?.code } });
  }

  released(lease: Lease): void {
    this.#say('lease.released', lease, { from: 'active', to: 'released' });
  }

  lost(lease: Lease, reason: LeaseError): void {
    const how = typeof reason.details['how'] === 'string' ? reason.details['how'] : 'expired';
    const lostAt = how === 'expired' ? lease.expiresAt : this.#link.now();
    this.#say('lease.lost', lease, { from: 'active', reason: reason.code, data: { how, lostAt } });
  }

  changed(
    type: 'lease.delegated' | 'lease.upgraded' | 'lease.downgraded',
    lease: Lease,
    data: EventFacts['data'],
  ): void {
    this.#say(type, lease, { from: 'active', to: 'active', data });
  }

  revoked(lease: Lease, actor: string): void {
    const { reason } = lease;
    this.#say('lease.revoked', lease, {
      from: 'active',
      to: 'revoked',
      actor,
      ...(reason === undefined ? {} : { reason }),
    });
  }

  /** A guard refused a write of this lease. Only a newer epoch makes it a conflict: the holder may just have been late. */
  guardRejected(lease: Lease, guard: string, error: LeaseError): void {
    this.observer.guardRejection?.(guard);
    if (error.code !== 'STALE_EPOCH') return;
    this.observer.conflict();
    const { current, attempted } = error.details;
    this.#say('guard.rejected', lease, { reason: error.code, data: { guard, current, attempted } });
  }

  holdEnded(lease: Lease, heldMs: number): void {
    this.observer.holdEnded(lease.parts, heldMs, lease.id);
  }

  #say(type: EventType, about: Asker & { readonly epoch?: number }, more: More): void {
    if (!this.observer.wants(type)) return;
    const names = about.parts.map((part) => part.name);
    this.observer.announce({
      type,
      at: this.#link.now(),
      resource: names[0],
      resources: names.length > 1 ? names : undefined,
      leaseId: about.id,
      owner: about.owner,
      epoch: about.epoch === 0 ? undefined : about.epoch,
      data: {},
      ...more,
    });
  }
}
