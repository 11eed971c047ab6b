// Whether the holder of a lease looks alive, judged by what the store knows: when it renewed last, how often it usually does, and
// how long its lease lasts. A guess, and told as one; the bound is the command's (`holdfast revoke`).
import type { LeaseRecord } from '../api/types.js';
import { spanText } from '../ui/time-text.js';

type Facts = Pick<LeaseRecord, 'acquiredAt' | 'renewedAt' | 'expiresAt' | 'renewals' | 'ttlMs'>;

export interface SignsOfLife {
  /** `new`: too young to tell. */
  readonly is: 'alive' | 'new' | 'overdue' | 'over';
  readonly text: string;
}

/** Programs renew at 60 % of the ttl: past this share of it something is late. */
const SILENT_AFTER = 0.7;
/** Renewals come a little early or late. */
const RHYTHM_SLACK = 1.6;
const GRAIN_MS = 1_000;

export function signsOfLife(lease: Facts, now: number): SignsOfLife {
  const { renewals, ttlMs } = lease;
  const silentMs = Math.max(0, now - Date.parse(lease.renewedAt));
  if (now >= Date.parse(lease.expiresAt))
    return { is: 'over', text: `Silent for ${spanText(silentMs)}: it has run out` };
  const isSilent = silentMs > SILENT_AFTER * ttlMs;
  if (renewals === 0) {
    const text = `Taken ${spanText(silentMs)} ago for ${spanText(ttlMs)} and never renewed`;
    return isSilent ? { is: 'overdue', text: `${text}: overdue` } : { is: 'new', text: `${text}: too early to tell` };
  }
  const everyMs = (Date.parse(lease.renewedAt) - Date.parse(lease.acquiredAt)) / renewals;
  const text = `Renewed ${spanText(silentMs)} ago, usually every ${spanText(everyMs)}`;
  const isLate = isSilent || silentMs > RHYTHM_SLACK * everyMs + GRAIN_MS;
  return isLate ? { is: 'overdue', text: `${text}: overdue` } : { is: 'alive', text: `${text}: looks alive` };
}
