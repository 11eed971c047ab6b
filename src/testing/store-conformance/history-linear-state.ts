// The state of the sequential specification (history-linear-spec.ts): what one group of names looks like between two
// operations. It is a value: every step makes a new one, so that a search can go back.
//
// An operation nobody heard the answer of took effect at an unknown moment. What follows from that moment is a range
// here: a lease that was granted, or renewed, so lives until some time between `lo` and `hi`, and its epoch may be unknown
// until an answer names it. Whatever is possible is allowed: the check never complains of what a correct store may do.
import type { Part } from '../../domain/part.js';

export type EntryStatus = 'waiting' | 'held' | 'released' | 'revoked' | 'failed' | 'noted';

export interface Entry {
  readonly id: string;
  readonly status: EntryStatus;
  readonly owner: string;
  readonly parts: readonly Part[];
  /** Unknown while nobody was told it; `above`: it is higher than this. */
  readonly epoch?: number | undefined;
  readonly above: number;
  /** The epoch of the grant itself is the present one: a cancel, which names none, may end it. */
  readonly isFirstEpoch: boolean;
  readonly ttlMs: number;
  /** It lives until a moment of this range; at `hi` it is surely over, before `lo` it surely lives. */
  readonly lo: number;
  readonly hi: number;
  /** The last renewal or grant happened at an unknown moment: the next answer bounds it to its `now` plus this. */
  readonly openMs?: number | undefined;
  readonly renewals?: number | undefined;
  /** A ticket that others may claim for (Q1), on the usual terms. */
  readonly mayBeHanded?: boolean | undefined;
  /** It was handed over with less than its ttl: asked for again, it is renewed once. */
  readonly livesAsTicket?: boolean | undefined;
  /** Place in the queue: by rank, then by arrival. */
  readonly rank: number;
  readonly arrival: number;
  /** An upgrade's own id is spent on another lease. */
  readonly spentOn?: string | undefined;
}

export interface State {
  /** The store clock: no later operation decides at an earlier time (S13, S16). */
  readonly now: number;
  readonly arrivals: number;
  readonly entries: ReadonlyMap<string, Entry>;
  /** The highest epoch drawn on each name, by scope and name. */
  readonly highest: ReadonlyMap<string, number>;
}

export const EMPTY: State = { now: 0, arrivals: 0, entries: new Map(), highest: new Map() };

export function withEntry(state: State, entry: Entry): State {
  return { ...state, entries: new Map(state.entries).set(entry.id, entry) };
}

/** An id that was ended before the store had seen it. */
export function noted(state: State, id: string): State {
  const nothing = { owner: '', parts: [], above: 0, isFirstEpoch: true, ttlMs: 0, lo: 0, hi: 0, rank: 0, arrival: 0 };
  return withEntry(state, { id, status: 'noted', ...nothing });
}

export function withEpoch(state: State, parts: readonly Part[], epoch: number): State {
  const highest = new Map(state.highest);
  for (const { scope, name } of parts) {
    const key = `${scope} ${name}`;
    highest.set(key, Math.max(highest.get(key) ?? 0, epoch));
  }
  return { ...state, highest };
}

/** The clock moves on to the time of an answer: what was open until then is bounded by it. */
export function atTime(state: State, now: number): State {
  let entries: Map<string, Entry> | undefined;
  for (const entry of state.entries.values()) {
    if (entry.openMs === undefined) continue;
    entries ??= new Map(state.entries);
    entries.set(entry.id, { ...entry, hi: Math.max(entry.lo, now + entry.openMs), openMs: undefined });
  }
  if (!entries && state.now === now) return state;
  return { ...state, now, entries: entries ?? state.entries };
}

export type Certainty = 'yes' | 'no' | 'maybe';

/** Whether a lease or a ticket lives at `now`. */
export function livesAt({ lo, hi, openMs }: Entry, now: number): Certainty {
  if (now < lo) return 'yes';
  return openMs === undefined && now >= hi ? 'no' : 'maybe';
}

const texts = new WeakMap<Entry, string>();

/** The same state has the same text, whichever way it was reached. */
export function stateText({ now, entries, highest }: State): string {
  const lines = [...entries.values()].map(entryText).sort();
  return `${now} ${lines.join(' ')} ${[...highest].sort().join(' ')}`;
}

function entryText(entry: Entry): string {
  const known = texts.get(entry);
  if (known !== undefined) return known;
  const { id, status, owner, epoch, above, isFirstEpoch, ttlMs, lo, hi, openMs, renewals, rank, arrival, parts } =
    entry;
  const modes = parts.map(({ mode }) => mode[0]).join('');
  const place = status === 'waiting' ? `${rank}/${arrival}` : '';
  const told = epoch === undefined ? `above ${above}` : String(epoch);
  const rest = [ttlMs, lo, hi, openMs, renewals, place, modes, entry.spentOn, entry.mayBeHanded, entry.livesAsTicket];
  const text = [id, status, owner, told, isFirstEpoch, ...rest].join(':');
  texts.set(entry, text);
  return text;
}
