// Q1 in the specification of the linearizability check: a release claims for who waits, if that one would be granted now. What it gives
// lives no longer than the ticket would have, until its owner asks again or renews.
import type { HandedTo } from '../../stores/store.js';
import { freeAt, highestOn, isFree, obstacles } from './history-linear-rules.js';
import { livesAt, withEntry, withEpoch, type Entry, type State } from './history-linear-state.js';

/** The state after a release that was answered so. */
export function handed(state: State, { id, epoch }: HandedTo, now: number): State | undefined {
  const ticket = state.entries.get(id);
  if (ticket?.status !== 'waiting' || !ticket.mayBeHanded || livesAt(ticket, now) === 'no') return undefined;
  if (!isFree(obstacles(state, ticket, now, 'sure')) || epoch <= highestOn(state, ticket.parts)) return undefined;
  return withEpoch(withEntry(state, { ...handedEntry(ticket, now), epoch }), ticket.parts, epoch);
}

function handedEntry(ticket: Entry, now: number): Entry {
  const full = now + ticket.ttlMs;
  const [lo, hi] = [Math.min(full, ticket.lo), ticket.openMs === undefined ? Math.min(full, ticket.hi) : full];
  return { ...ticket, status: 'held', lo, hi, openMs: undefined, livesAsTicket: lo < full };
}

/** What a release that nobody heard the answer of may have done beside. */
export function handedUnheard(state: State): State[] {
  return [...state.entries.values()].flatMap((ticket) => {
    if (ticket.status !== 'waiting' || !ticket.mayBeHanded || livesAt(ticket, state.now) === 'no') return [];
    const now = freeAt(state, ticket);
    if (now === undefined) return [];
    const lease = { ...handedEntry(ticket, now), epoch: undefined, above: highestOn(state, ticket.parts) };
    return [withEntry({ ...state, now }, { ...lease, openMs: ticket.ttlMs })];
  });
}
