// Writes that follow each other within one turn of the loop share a read transaction (docs/decisions/0018).
//
// A write takes four file locks for its snapshot and two for the right to write. A statement that was begun and not finished
// keeps the snapshot: COMMIT then gives back only the right to write, and the next BEGIN IMMEDIATE takes only that. If
// nobody else has written meanwhile the snapshot is the newest there is; if somebody has, SQLite refuses the BEGIN, the
// snapshot is let go and the write begins as any other.
//
//   none ──second write of a turn──▶ kept ──turn over | a read | refused | rolled back | close──▶ none
//
// Kept, it holds up the checkpointer like any reader, so it never outlives its turn.
import type { Database, Statement } from 'better-sqlite3';
import type { LoopTurns } from '../protocol/loop-turns.js';

/** After somebody else was first, so many writes go without: among many writers every kept snapshot would be refused. */
const WRITES_WITHOUT = 64;

export class KeptSnapshot {
  readonly #turns: LoopTurns;
  /** Two rows, of which one is ever read. */
  readonly #rows: Statement;
  #unfinished: IterableIterator<unknown> | undefined;
  #turn = -1;
  #without = 0;

  constructor(db: Database, turns: LoopTurns) {
    this.#turns = turns;
    this.#rows = db.prepare('SELECT 1 UNION ALL SELECT rootpage FROM sqlite_schema');
    db.unsafeMode(); // the driver's own rule: no write while a statement is unfinished
    turns.onEnd(() => this.end());
  }

  /** Inside a write transaction: nobody else has written since the one before it. */
  get isKept(): boolean {
    return this.#unfinished !== undefined;
  }

  /** Inside a write transaction, before its COMMIT. */
  keep(): void {
    if (this.#unfinished) return;
    if (this.#without > 0) {
      this.#without -= 1;
      return;
    }
    const isFirst = this.#turn !== this.#turns.current();
    this.#turn = this.#turns.current();
    if (isFirst) return;
    this.#unfinished = this.#rows.iterate();
    this.#unfinished.next();
  }

  /** True when there was one. */
  end(): boolean {
    if (!this.#unfinished) return false;
    this.#unfinished.return?.();
    this.#unfinished = undefined;
    return true;
  }

  /** Somebody else has written since. */
  refused(): boolean {
    if (!this.end()) return false;
    this.#without = WRITES_WITHOUT;
    return true;
  }
}
