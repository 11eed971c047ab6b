// Whether somebody still looks after a live lease. No holder renews later than at 0.8 of its ttl (S14), and an attempt lasts as
// long as a request may: silent for longer than that, its renewal is overdue.
import type { Lease } from '../domain/lease.js';
import { defaultRequestTimeoutMs } from '../domain/trust-window.js';

const LATEST_RENEWAL = 0.8;

export function isOverdue({ renewedAt, ttlMs }: Pick<Lease, 'renewedAt' | 'ttlMs'>, now: number): boolean {
  return now - renewedAt > LATEST_RENEWAL * ttlMs + defaultRequestTimeoutMs(ttlMs);
}
