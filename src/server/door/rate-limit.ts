// How often a caller may ask (W5): a bucket for each, filled at a steady rate up to what a burst may take; an empty one refuses
// and says when to come back. Buckets that are full again are forgotten, so there are never more than callers of the last
// moments, and never more than a bound.
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';

interface Bucket {
  left: number;
  at: number;
}

const MOST_BUCKETS = 10_000;
/** For each one that is added when there are that many. */
const LOOKED_AT = 16;

export class RateLimit {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #burst: number;
  /** In the order they were added. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock, ratePerSecond: number, burst: number) {
    this.#clock = clock;
    this.#perMs = ratePerSecond / 1_000;
    this.#burst = burst;
  }

  /** Takes one, or answers the refusal. */
  take(key: string): LeaseError | undefined {
    const now = this.#clock.monotonic();
    const known = this.#buckets.get(key);
    const bucket = known ?? { left: this.#burst, at: now };
    bucket.left = Math.min(this.#burst, bucket.left + (now - bucket.at) * this.#perMs);
    bucket.at = now;
    if (!known) this.#add(key, bucket, now);
    if (bucket.left >= 1) {
      bucket.left -= 1;
      return undefined;
    }
    const retryAfterMs = Math.ceil((1 - bucket.left) / this.#perMs);
    return new LeaseError('RATE_LIMITED', 'too many requests in a short time: wait a moment', {
      details: { retryAfterMs },
    });
  }

  #add(key: string, bucket: Bucket, now: number): void {
    if (this.#buckets.size >= MOST_BUCKETS) this.#forget(now);
    this.#buckets.set(key, bucket);
  }

  /** Of those that were added first, the ones that are full again; where none of them is, the first. */
  #forget(now: number): void {
    const before = this.#buckets.size;
    let looked = 0;
    for (const [key, { left, at }] of this.#buckets) {
      looked += 1;
      if (looked > LOOKED_AT) break;
      if (left + (now - at) * this.#perMs >= this.#burst) this.#buckets.delete(key);
    }
    const [first] = this.#buckets.keys();
    if (this.#buckets.size === before && first !== undefined) this.#buckets.delete(first);
  }
}
