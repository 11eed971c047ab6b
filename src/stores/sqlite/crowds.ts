// What stands on names that somebody waits for, kept from one step to the next. Every step of a line asks who stands there, and to
// read its rows each time costs more than all the rest of it. What is kept is true for as long as nobody else writes to the
// file: then the namespace is loaded anew, with no crowds (spaces.ts), as it is after a rollback. This process's own writes are
// followed, one by one.
//
//   more than one row found on a name ──▶ kept ──(each write: put in, or taken out when it is over)──▶ forgotten
import type { LeaseRow } from '../../domain/lease.js';
import { encodeState } from './row-codec.js';
import { STATE } from './schema.js';

/** One row is no crowd. */
const FEW = 1;
/** Of all names together. */
const MOST_ROWS = 20_000;

export type Crowd = Map<string, LeaseRow>;

/** By first name. Rows that only have the name among others are not here: who asks has made sure that there are none. */
export class Crowds {
  readonly #byName = new Map<string, Crowd>();
  #rows = 0;

  on(name: string): Crowd | undefined {
    return this.#byName.get(name);
  }

  /** `found`: everything that stands on the name. */
  keep(name: string, found: Crowd): void {
    if (found.size <= FEW || found.size > MOST_ROWS || this.#byName.has(name)) return;
    if (this.#rows + found.size > MOST_ROWS) this.clear();
    this.#byName.set(name, found);
    this.#rows += found.size;
  }

  /** The row was written. */
  follow(row: LeaseRow): void {
    if (this.#byName.size === 0) return;
    if (encodeState(row) === STATE.over) {
      this.drop(row);
      return;
    }
    const crowd = this.#byName.get(row.parts[0]?.name ?? '');
    if (!crowd) return;
    if (!crowd.has(row.id)) this.#rows += 1;
    crowd.set(row.id, row);
    if (this.#rows > MOST_ROWS) this.clear();
  }

  /** The row stands no longer. */
  drop(row: LeaseRow): void {
    const name = row.parts[0]?.name ?? '';
    const crowd = this.#byName.get(name);
    if (!crowd?.delete(row.id)) return;
    this.#rows -= 1;
    if (crowd.size === 0) this.#byName.delete(name);
  }

  clear(): void {
    this.#byName.clear();
    this.#rows = 0;
  }
}
