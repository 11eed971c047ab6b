// The tail of a namespace: its newest lease rows, which the indexes of ids and names do not hold yet (docs/decisions/0012).
// A connection keeps their ids and first names in memory, read from the file: what it appends itself it adds, what others
// appended it reads as soon as it sees that they wrote. Ids and names of a row never change, so what is remembered says
// where to look; how a row stands is always read from the row itself.
//
//   appended ──▶ in the tail ──(the tail is longer than it may be)──▶ id indexed, and the name if the row still stands
import { isAbove } from '../../domain/resource-name.js';
import { SPAN } from './schema.js';
import type { FileSpace } from './spaces.js';
import type { Statements } from './statements.js';

/** In rows of the journal. Who opens a file reads its tail once; a step that makes it longer indexes a stretch of it. */
export interface TailBounds {
  readonly most: number;
  readonly stretch: number;
}
export const TAIL_BOUNDS: TailBounds = { most: 2_048, stretch: 512 };

export type TailColumns = [row: number, id: string, name: string, state: number];

const NONE: readonly number[] = [];

/** Rows are known here by their arrival, which is the number within the namespace. */
export class Tail {
  /** In order of arrival. */
  readonly #ids = new Map<string, number>();
  /** Only what may stand. */
  readonly #names = new Map<string, number[]>();
  #seen = 0;

  /** Somebody else has written, or this connection is new. */
  catchUp(sql: Statements, ns: number, indexedTo: number): void {
    this.dropThrough(indexedTo);
    const base = ns * SPAN;
    const found = sql.tailRows.all(base + Math.max(this.#seen, indexedTo), base + SPAN);
    for (const [row, id, name, state] of found) this.add(row - base, id, name, state > 0);
  }

  add(arrival: number, id: string, name: string, stands: boolean): void {
    this.#seen = arrival;
    this.#ids.delete(id); // an id that was forgotten and came back takes its place at the end
    this.#ids.set(id, arrival);
    if (!stands) return;
    const same = this.#names.get(name);
    if (same) same.push(arrival);
    else this.#names.set(name, [arrival]);
  }

  /** The row is over, which is for good. */
  over(arrival: number, name: string): void {
    const here = this.#names.get(name);
    if (!here?.includes(arrival)) return;
    if (here.length === 1) this.#names.delete(name);
    else
      this.#names.set(
        name,
        here.filter((one) => one !== arrival),
      );
  }

  arrivalOf(id: string): number | undefined {
    return this.#ids.get(id);
  }

  /** Rows that have this first name and may stand. */
  named(name: string): readonly number[] {
    return this.#names.get(name) ?? NONE;
  }

  below(name: string): readonly number[] {
    const found: number[] = [];
    for (const [lower, here] of this.#names) if (isAbove(name, lower)) found.push(...here);
    return found;
  }

  dropThrough(arrival: number): void {
    for (const [id, one] of this.#ids) {
      if (one > arrival) break;
      this.#ids.delete(id);
    }
    for (const [name, here] of this.#names) {
      for (const one of here) if (one <= arrival) this.over(one, name);
    }
  }
}

/** At the end of a step: no more than the step has appended, or a stretch (S18). */
export function indexTail(sql: Statements, space: FileSpace, bounds: TailBounds): void {
  const tooMany = space.arrival - space.indexedTo - bounds.most;
  if (tooMany > 0) indexThrough(sql, space, space.indexedTo + Math.max(tooMany, bounds.stretch));
}

export function indexThrough(sql: Statements, space: FileSpace, arrival: number): void {
  const base = space.id * SPAN;
  const through = Math.min(arrival, space.arrival);
  sql.indexIds.run(base + space.indexedTo, base + through);
  if (sql.indexNames.run(base + space.indexedTo, base + through).changes > 0) space.hasFirstNames = true;
  sql.saveIndexedTo.run(through, space.id);
  space.indexedTo = through;
  space.highestId = (sql.highestId.get(space.id) as string | undefined) ?? '';
  space.tail.dropThrough(through);
}
