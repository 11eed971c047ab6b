// What stood when a row was written: the leases and tickets of a history, row by row, found by name. Whoever overlaps
// a part is looked up in an index of names, so a check costs what overlaps and not what exists.
import type { LogRow } from '../../domain/events.js';
import type { Part } from '../../domain/part.js';
import { rankOf, type Place } from '../../domain/queue-order.js';
import { namesAbove } from '../../domain/resource-name.js';
import { numberIn, partsOf, transitionOf, type Lives } from './history-rows.js';

interface Entry {
  readonly id: string;
  readonly parts: readonly Part[];
  /** The row that put it there. */
  readonly row: number;
}
export interface StandingLease extends Entry {
  /** Set once the log ended it: an end may lie after the row of a later grant, and then both live at once. */
  endedAt?: number;
}
export interface StandingTicket extends Entry, Place {}

export class Standing {
  readonly #lives: Lives;
  readonly #leases = new NameIndex<StandingLease>();
  readonly #tickets = new NameIndex<StandingTicket>();

  constructor(lives: Lives) {
    this.#lives = lives;
  }

  /** Leases that live at `at` and whose names overlap these. What ended before is forgotten on the way. */
  leases(parts: readonly Part[], at: number): StandingLease[] {
    const near = this.#leases.overlapping(parts);
    for (const { id, endedAt } of near) if (endedAt !== undefined && endedAt <= at) this.#leases.remove(id);
    return near.filter((lease) => this.#isLive(lease, at));
  }
  lease(id: string, at: number): StandingLease | undefined {
    const lease = this.#leases.get(id);
    return lease && this.#isLive(lease, at) ? lease : undefined;
  }
  #isLive({ id, endedAt }: StandingLease, at: number): boolean {
    return at < (endedAt ?? this.#lives.leaseUntil.get(id) ?? 0);
  }
  tickets(parts: readonly Part[], at: number): StandingTicket[] {
    return this.#tickets.overlapping(parts).filter(({ id }) => at < (this.#lives.ticketUntil.get(id) ?? 0));
  }
  ticket(id: string): StandingTicket | undefined {
    return this.#tickets.get(id);
  }

  apply(row: LogRow, index: number): void {
    const change = transitionOf(row);
    if (change === undefined) return;
    const { kind, id } = change;
    if (kind === 'queued') {
      const rank = rankOf(row.at, numberIn(row, 'priority') ?? 0);
      this.#tickets.add({ id, parts: partsOf(row), row: index, rank, arrival: index });
    }
    if (kind === 'granted' || kind === 'ticketEnded') this.#tickets.remove(id);
    if (kind === 'upgraded') this.#tickets.remove(change.ticketId);
    if (kind === 'leaseEnded') {
      const lease = this.#leases.get(id);
      if (lease) lease.endedAt = numberIn(row, 'expiresAt') ?? row.at;
    }
    if (!changesParts(row)) return;
    this.#leases.remove(id);
    this.#leases.add({ id, parts: partsOf(row), row: index });
  }
}

/** Rows after which the lease stands on the parts the row names. */
export function changesParts({ type }: LogRow): boolean {
  return type === 'lease.acquired' || type === 'lease.upgraded' || type === 'lease.downgraded';
}

/** Entries by name: those that are on a name, and those that are somewhere below it. */
class NameIndex<E extends Entry> {
  readonly #entries = new Map<string, E>();
  readonly #on = new Map<string, Set<E>>();
  readonly #below = new Map<string, Set<E>>();

  get(id: string): E | undefined {
    return this.#entries.get(id);
  }

  add(entry: E): void {
    this.#entries.set(entry.id, entry);
    for (const { name } of entry.parts) {
      put(this.#on, name, entry);
      for (const above of namesAbove(name)) put(this.#below, above, entry);
    }
  }

  remove(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#entries.delete(id);
    for (const { name } of entry.parts) {
      take(this.#on, name, entry);
      for (const above of namesAbove(name)) take(this.#below, above, entry);
    }
  }

  overlapping(parts: readonly Part[]): E[] {
    const found = new Set<E>();
    for (const { name, scope } of parts) {
      for (const entry of this.#on.get(name) ?? []) found.add(entry);
      if (scope === 'subtree') for (const entry of this.#below.get(name) ?? []) found.add(entry);
      for (const above of namesAbove(name)) {
        for (const entry of this.#on.get(above) ?? []) if (isSubtree(entry, above)) found.add(entry);
      }
    }
    return [...found];
  }
}

function isSubtree(entry: Entry, name: string): boolean {
  return entry.parts.some((part) => part.name === name && part.scope === 'subtree');
}

function put<E>(index: Map<string, Set<E>>, name: string, entry: E): void {
  const there = index.get(name);
  if (there) there.add(entry);
  else index.set(name, new Set([entry]));
}

function take<E>(index: Map<string, Set<E>>, name: string, entry: E): void {
  const there = index.get(name);
  there?.delete(entry);
  if (there?.size === 0) index.delete(name);
}
