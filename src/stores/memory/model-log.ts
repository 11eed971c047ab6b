// The model's event log: an array, its first part cut off by pruning. A row's key is its ordinal, padded so that text
// order is log order; a position names store, namespace and incarnation as well (H1).
import type { LogRow } from '../../domain/events.js';
import { formatPosition, parsePosition } from '../../domain/position.js';
import { matchesQuery } from '../../domain/event-query.js';
import type { EventQuery } from '../../domain/requests.js';
import type { LogEntry } from '../protocol/rows.js';

const START = '0';

export type LogAnswer =
  { outcome: 'rows'; rows: LogRow[]; next: string; more: boolean } | { outcome: 'lost'; oldest: string };

interface Kept {
  readonly key: string;
  readonly row: LogRow;
}

export class ModelLog {
  #rows: Kept[] = [];
  #count = 0;
  #prunedThrough = START;
  readonly #home: { store: string; namespace: string; incarnation: string };

  constructor(home: { store: string; namespace: string; incarnation: string }) {
    this.#home = home;
  }

  write(entry: LogEntry, at: number, wallAt: number): void {
    this.#count += 1;
    const key = String(this.#count).padStart(16, '0');
    const row: LogRow = { ...entry, id: this.#position(key), at, wallAt, namespace: this.#home.namespace };
    this.#rows.push({ key, row });
  }

  read(query: EventQuery): LogAnswer {
    const asked = query.backward ? query.before : query.after;
    const from = asked === undefined ? (query.backward ? undefined : this.#prunedThrough) : this.#keyOf(asked);
    const isLost = asked !== undefined && (from === undefined || (!query.backward && from < this.#prunedThrough));
    if (isLost) return { outcome: 'lost', oldest: this.#position(this.#prunedThrough) };
    const kept = query.backward
      ? this.#rows.filter(({ key }) => from === undefined || key < from).reverse()
      : this.#rows.slice(this.#rows.findLastIndex(({ key }) => key <= (from ?? START)) + 1); // few are new to who follows
    const wanted = kept.filter(({ row }) => matchesQuery(row, query));
    const rows = wanted.slice(0, query.limit);
    const more = wanted.length > rows.length;
    const end = more ? rows.at(-1)?.key : (kept.at(-1)?.key ?? from);
    return {
      outcome: 'rows',
      rows: rows.map(({ row }) => ({ ...row, data: structuredClone(row.data) })),
      next: this.#position(end ?? START),
      more,
    };
  }

  /** H1: nothing was logged for a while. Whoever read before that is told that rows are lost. */
  resume(): void {
    this.#count += 1;
    this.#prunedThrough = String(this.#count).padStart(16, '0');
  }

  prune(before: number, upTo: string | undefined, limit: number): { events: number; more: boolean } {
    const last = upTo === undefined ? undefined : (this.#keyOf(upTo) ?? START);
    const old = this.#rows.filter(({ key, row }) => row.at < before && (last === undefined || key <= last));
    const gone = old.slice(0, limit);
    const lastGone = gone.at(-1)?.key ?? START;
    if (lastGone > this.#prunedThrough) this.#prunedThrough = lastGone;
    this.#rows = this.#rows.slice(gone.length);
    return { events: gone.length, more: old.length > gone.length };
  }

  #position(key: string): string {
    return formatPosition({ ...this.#home, key });
  }

  #keyOf(text: string): string | undefined {
    const position = parsePosition(text);
    const { store, namespace, incarnation } = this.#home;
    const here = position?.store === store && position.namespace === namespace && position.incarnation === incarnation;
    return here && Number(position.key) <= this.#count ? position.key : undefined;
  }
}
