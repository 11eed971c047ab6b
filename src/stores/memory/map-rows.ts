// The rows of the model: a Map by id, looked through from end to end. Slow and obviously right; it is what the indexes
// of a real store are compared with.
import { anyOverlap } from '../../domain/conflict.js';
import type { LeaseRow } from '../../domain/lease.js';
import type { Part } from '../../domain/part.js';
import type { RevokeOrder, RevokeTarget } from '../../domain/requests.js';
import { isAbove } from '../../domain/resource-name.js';
import { isRevocable } from '../protocol/govern.js';
import type { LogEntry, Rows } from '../protocol/rows.js';

export class MapRows implements Rows {
  readonly #rows = new Map<string, LeaseRow>();
  /** What is active, pending or may still block: the only rows most questions are about. */
  readonly #standing = new Map<string, LeaseRow>();
  readonly #write: (entry: LogEntry) => void;

  constructor(write: (entry: LogEntry) => void) {
    this.#write = write;
  }

  find(id: string): LeaseRow | undefined {
    return this.#rows.get(id);
  }

  lookUp(id: string, parts: readonly Part[]): { known: LeaseRow | undefined; overlapping: LeaseRow[] } {
    return { known: this.find(id), overlapping: this.overlapping(parts) };
  }

  overlapping(parts: readonly Part[]): LeaseRow[] {
    return [...this.#standing.values()].filter((row) => anyOverlap(row.parts, parts));
  }

  matching(order: RevokeOrder, now: number, limit: number): LeaseRow[] {
    const rows = [...this.#standing.values()];
    return sortById(rows.filter((row) => isTarget(row, order.target) && isRevocable(row, order, now))).slice(0, limit);
  }

  due(now: number, limit: number): LeaseRow[] {
    const lapsed = [...this.#standing.values()].filter(
      (row) => (row.status === 'active' || row.status === 'pending') && row.expiresAt <= now,
    );
    return lapsed.sort((a, b) => a.expiresAt - b.expiresAt || a.arrival - b.arrival).slice(0, limit);
  }

  deadTickets(now: number, limit: number): LeaseRow[] {
    const tickets = [...this.#standing.values()].filter((row) => row.status === 'pending' && row.expiresAt <= now);
    return tickets.sort((a, b) => a.expiresAt - b.expiresAt).slice(0, limit);
  }

  waiting(limit: number): LeaseRow[] {
    const pending = [...this.#standing.values()].filter((row) => row.status === 'pending');
    return pending.sort((a, b) => a.arrival - b.arrival).slice(0, limit);
  }

  add(row: LeaseRow): void {
    this.#rows.set(row.id, row);
    this.save(row);
  }

  save(row: LeaseRow): void {
    const stands = row.status === 'active' || row.status === 'pending' || row.blockedUntil > 0 || row.keepOutUntil > 0;
    if (stands) this.#standing.set(row.id, row);
    else this.#standing.delete(row.id);
  }

  log(entry: LogEntry): void {
    this.#write(entry);
  }

  standing(): LeaseRow[] {
    return [...this.#standing.values()];
  }

  /** Forgets ended ids and the blocks that are over. */
  forget(isOver: (row: LeaseRow) => boolean, limit: number): { ids: number; more: boolean } {
    const over = [...this.#rows.values()].filter(isOver).sort((a, b) => a.arrival - b.arrival);
    for (const row of over.slice(0, limit)) {
      this.#rows.delete(row.id);
      this.#standing.delete(row.id);
    }
    return { ids: Math.min(over.length, limit), more: over.length > limit };
  }
}

function sortById(rows: LeaseRow[]): LeaseRow[] {
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}

function isTarget(row: LeaseRow, target: RevokeTarget): boolean {
  if ('leaseId' in target) return row.id === target.leaseId;
  if ('owner' in target) return row.owner === target.owner;
  if ('resource' in target) return row.parts.some((part) => part.name === target.resource);
  return row.parts.some((part) => part.name === target.under || isAbove(target.under, part.name));
}
