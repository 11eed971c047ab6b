// Rows that one script handed out, as the protocol's reads want them: what follows from a snapshot is worked out here, so that
// a long look keeps the server from nobody (S18).
import { anyOverlap } from '../../domain/conflict.js';
import type { LeaseRow } from '../../domain/lease.js';
import type { Part } from '../../domain/part.js';
import { decodeRow } from './row-text.js';

export class Snapshot {
  readonly #rows = new Map<string, LeaseRow>();
  readonly #standing: LeaseRow[];
  readonly #queue: readonly string[];

  constructor(texts: readonly string[], queue: readonly string[], now: number) {
    for (const text of texts) {
      const row = decodeRow(text);
      this.#rows.set(row.id, row);
    }
    this.#queue = queue;
    this.#standing = [...this.#rows.values()].filter((row) => stands(row, now));
  }

  find(id: string): LeaseRow | undefined {
    return this.#rows.get(id);
  }
  overlapping(parts: readonly Part[]): LeaseRow[] {
    return this.#standing.filter((row) => anyOverlap(row.parts, parts));
  }
  waiting(limit: number): LeaseRow[] {
    return this.#queue.slice(0, limit).flatMap((id) => this.#rows.get(id) ?? []);
  }
}

function stands(row: LeaseRow, now: number): boolean {
  return row.status === 'active' || row.status === 'pending' || row.blockedUntil > now || row.keepOutUntil > now;
}
