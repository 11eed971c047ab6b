// Age is not deadlock (Q4): leases held for longer than `max_lock_age_seconds` are reported, each once by this process.
// With `max_lock_age_action` set to revoke, one that nobody renews any more is revoked as well; one that is renewed is
// somebody's work, however old, and stays.
import type { Lease } from '../domain/lease.js';
import { LIMITS } from '../domain/limits.js';
import type { Settings } from '../domain/settings.js';
import { backoffMs, defaultRequestTimeoutMs } from '../domain/trust-window.js';
import { pause } from './service.js';
import type { Turn, Work } from './turn.js';
import type { ServiceContext } from './turn-service.js';

/** S14: no holder renews later than at this share of its ttl. */
const LATEST_RENEWAL = 0.8;
const MAX_PAGES = 10;
const PAGE_PAUSE_MS = 10;
const MAX_REPORTED = 10_000;

/** A holder renews at 0.8 of its ttl at the latest and then has two attempts. Silent for longer than that: it stopped. */
export function renewalsStopped(lease: Pick<Lease, 'renewedAt' | 'ttlMs'>, now: number): boolean {
  const { renewedAt, ttlMs } = lease;
  const attemptsMs = 2 * defaultRequestTimeoutMs(ttlMs) + backoffMs(ttlMs);
  return now - renewedAt > ttlMs * LATEST_RENEWAL + attemptsMs;
}

export class OldLeases {
  readonly #context: ServiceContext;
  /** `id epoch` of what was reported, oldest first. */
  readonly #reported = new Set<string>();
  /** Where the last turn ended, when there was more. */
  #lookedTo: string | undefined;

  constructor(context: ServiceContext) {
    this.#context = context;
  }

  /** To report the first 10,000 is enough. One that is to be revoked may be behind them: the next turn goes on from there. */
  async look({ signal }: Turn, settings: Settings): Promise<Work> {
    const { store, clock } = this.#context;
    const olderThanMs = Math.ceil(settings.max_lock_age_seconds * 1_000);
    const mayRevoke = settings.max_lock_age_action === 'revoke';
    let cursor = mayRevoke ? this.#lookedTo : undefined;
    const isFirst = cursor === undefined;
    this.#lookedTo = undefined;
    for (let page = 0; page < MAX_PAGES && !signal.aborted; page += 1) {
      if (page > 0) await pause(clock, PAGE_PAUSE_MS, signal);
      const listed = await store.list({ status: 'active', olderThanMs, limit: LIMITS.rowsPerStep, cursor });
      for (const lease of listed.items) {
        if (isFirst) this.#report(lease, listed.now);
        if (mayRevoke && renewalsStopped(lease, listed.now) && !signal.aborted) await this.#revoke(lease);
      }
      if (signal.aborted) break; // the rest of this page is for the next turn
      cursor = listed.cursor;
      if (cursor === undefined) return 'done';
    }
    this.#lookedTo = cursor;
    return mayRevoke || signal.aborted ? 'more' : 'done';
  }

  #report(lease: Lease, now: number): void {
    const key = `${lease.id} ${lease.epoch}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    for (const oldest of this.#reported) {
      if (this.#reported.size <= MAX_REPORTED) break;
      this.#reported.delete(oldest);
    }
    const facts = { ...factsOf(lease), ageMs: now - lease.acquiredAt, silentMs: now - lease.renewedAt };
    this.#context.logger.warn(facts, 'a lease is older than max_lock_age_seconds');
  }

  async #revoke(lease: Lease): Promise<void> {
    const { store, owner, logger } = this.#context;
    const { ended } = await store.revoke({
      target: { leaseId: lease.id },
      upToEpoch: lease.epoch,
      reason: 'older than max_lock_age_seconds, and its renewals stopped',
      actor: owner,
      keepOutMs: 0,
    });
    if (ended.length > 0) logger.warn(factsOf(lease), 'an old lease whose renewals stopped was revoked');
  }
}

function factsOf(lease: Lease): object {
  return { leaseId: lease.id, owner: lease.owner, resource: lease.parts[0]?.name, epoch: lease.epoch };
}
