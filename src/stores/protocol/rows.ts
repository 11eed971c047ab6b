// What the lease protocol needs of a store that runs it in this process: rows by id, by name and by time, one log, and
// the counters of the namespace. The memory store keeps them in a Map, SQLite in its file; the protocol does not know.
//
// A step is one call of the port at one `now`. Everything a step changes becomes visible together (S6); the rows a
// `Rows` hands out are the step's own copies, and only `add` and `save` write them back.
import type { EventFacts, StoredType } from '../../domain/events.js';
import type { LeaseRow } from '../../domain/lease.js';
import type { Part } from '../../domain/part.js';
import type { RevokeOrder } from '../../domain/requests.js';
import type { Settings } from '../../domain/settings.js';
import type { HandedOver } from '../store.js';

/** The counters of one namespace. The protocol draws from them; the store keeps them. */
export interface Space {
  /** S2: the highest epoch drawn. */
  epoch: number;
  /** Grows with every ticket: who came first. */
  arrival: number;
  /** Tickets written as pending, dead ones included. */
  tickets: number;
  settings: Settings;
  settingsVersion: number;
}

export type LogEntry = Omit<EventFacts, 'type' | 'at'> & { readonly type: StoredType };

/** What changed in a row, so that a store may write less than the whole of it. `renewed`: when it was renewed and until when, the
 *  count, the skew and the request; a renewal that changes the ttl is `whole`. */
export type Changed = 'ended' | 'renewed' | 'whole';

export interface Rows {
  find(id: string): LeaseRow | undefined;
  /** `find` and `overlapping` at once: the question every acquire begins with. */
  lookUp(
    id: string,
    parts: readonly Part[],
  ): { readonly known: LeaseRow | undefined; readonly overlapping: LeaseRow[] };
  /** Every row that is active, pending or may still block, and has a name that overlaps one of these parts. */
  overlapping(parts: readonly Part[]): LeaseRow[];
  /** Rows as above that a revocation is aimed at and acts on (`isRevocable`), in order of id, at most `limit`. */
  matching(order: RevokeOrder, now: number, limit: number): LeaseRow[];
  /** Active or pending rows with `expiresAt` ≤ now, in order of expiry, then arrival. */
  due(now: number, limit: number): LeaseRow[];
  /** The pending ones among them alone. */
  deadTickets(now: number, limit: number): LeaseRow[];
  /** Pending rows in order of arrival. */
  waiting(limit: number): LeaseRow[];
  add(row: LeaseRow): void;
  save(row: LeaseRow, changed: Changed): void;
  log(entry: LogEntry): void;
}

export interface Step {
  readonly now: number;
  /** The machine's wall clock: for skew, never for a decision. */
  readonly wall: number;
  readonly rows: Rows;
  readonly space: Space;
  /** Parts this step made free, for the wake-up that follows it (Q3). */
  readonly freed: Part[];
  /** Tickets to wake whatever their place: victims of a deadlock. */
  readonly wake: string[];
  /** Where a release may claim for the first in line; left out where it only wakes. */
  readonly handing?: Handing | undefined;
}

export interface Handing {
  /** Whether this ticket, which could be claimed for, is. */
  isMeant(ticket: LeaseRow): boolean;
  readonly done: HandedOver[];
}
