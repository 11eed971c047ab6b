// Writes, one at a time. S20: the event loop never waits for the file's lock. A write that finds it taken goes into a
// line and is tried again from a timer, first come first served, until its patience ends.
//
//   free ──run──▶ BEGIN IMMEDIATE ok → act → COMMIT → answer
//                 └─ busy ──▶ queued ──timer──▶ tried again … ──patience over──▶ STORE_UNAVAILABLE
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import { isBusy, translateError } from './translate-error.js';
import type { KeptSnapshot } from './kept-snapshot.js';
import type { LoopTurns } from '../protocol/loop-turns.js';
import type { Statements } from './statements.js';

export type How = 'plain' | 'durable';

const PATIENCE_MS = 5_000;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 16;

interface Waiting {
  readonly since: number;
  attempt(): 'done' | 'busy';
  giveUp(error: LeaseError): void;
}

export interface WriteLaneParts {
  readonly sql: Statements;
  readonly clock: Clock;
  /** For its messages. */
  readonly path: string;
  readonly turns: LoopTurns;
  readonly snapshot: KeptSnapshot;
  /** What was read inside the transaction is not so any more. */
  readonly onRollback: () => void;
}

export class WriteLane {
  readonly #sql: Statements;
  readonly #clock: Clock;
  readonly #path: string;
  readonly #onRollback: () => void;
  readonly #turns: LoopTurns;
  readonly #snapshot: KeptSnapshot;
  #line: Waiting[] = [];
  #pauseMs = FIRST_PAUSE_MS;

  constructor({ sql, clock, path, turns, snapshot, onRollback }: WriteLaneParts) {
    this.#sql = sql;
    this.#clock = clock;
    this.#path = path;
    this.#turns = turns;
    this.#snapshot = snapshot;
    this.#onRollback = onRollback;
  }

  /** Runs `act` inside one write transaction. What it throws is thrown here and leaves the file as it was. A `durable` one
   *  is on the disk before it is answered, whatever `synchronous` the file is opened with. */
  run<T>(act: () => T, how: How = 'plain'): T | Promise<T> {
    if (this.#line.length === 0) {
      const answer = this.#try(act, how);
      if (answer !== BUSY) return answer;
    }
    return new Promise<T>((resolve, reject) => {
      this.#line.push({
        since: this.#clock.monotonic(),
        attempt: () => {
          try {
            const answer = this.#try(act, how);
            if (answer === BUSY) return 'busy';
            resolve(answer);
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
          return 'done';
        },
        giveUp: reject,
      });
      if (this.#line.length === 1) this.#later();
    });
  }

  #try<T>(act: () => T, how: How): T | typeof BUSY {
    try {
      this.#sql.setDurable(how === 'durable');
      this.#begin();
    } catch (error) {
      if (isBusy(error)) return BUSY;
      throw translateError(error, this.#path);
    }
    try {
      const answer = act();
      this.#snapshot.keep();
      this.#sql.commit.run();
      return answer;
    } catch (error) {
      this.#undo();
      if (isBusy(error)) return BUSY;
      throw translateError(error, this.#path);
    }
  }

  #begin(): void {
    try {
      this.#sql.begin.run();
    } catch (error) {
      if (!isBusy(error) || !this.#snapshot.refused()) throw error;
      this.#sql.begin.run();
    }
  }

  #undo(): void {
    this.#onRollback();
    this.#snapshot.end();
    try {
      this.#sql.rollback.run();
    } catch {
      // SQLite has rolled back by itself (full disk, I/O error): there is no transaction left to end.
    }
  }

  #later(): void {
    const pause = this.#pauseMs * (0.5 + this.#clock.random());
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    this.#clock.after(pause, () => this.#drain(), true);
  }

  /** First come first served. One attempt that finds the lock taken speaks for all; the loop goes round in between. */
  #drain(): void {
    for (let next = this.#line[0]; next; next = this.#line[0]) {
      if (next.attempt() === 'busy') {
        this.#giveUpOn((waiting) => this.#clock.monotonic() - waiting.since >= PATIENCE_MS, this.#tooLong());
        if (this.#line.length > 0) this.#later();
        return;
      }
      this.#pauseMs = FIRST_PAUSE_MS;
      this.#line.shift();
      if (this.#line.length > 0 && this.#turns.isLong()) {
        this.#clock.soon(() => this.#drain());
        return;
      }
    }
  }

  #giveUpOn(isOver: (waiting: Waiting) => boolean, error: LeaseError): void {
    const over = this.#line.filter(isOver);
    this.#line = this.#line.filter((waiting) => !over.includes(waiting));
    for (const waiting of over) waiting.giveUp(error);
  }

  #tooLong(): LeaseError {
    return new LeaseError(
      'STORE_UNAVAILABLE',
      `${this.#path} has been locked by another process for ${PATIENCE_MS} ms: look for one that is stopped inside a write`,
      { details: { path: this.#path, waitedMs: PATIENCE_MS } },
    );
  }

  close(): void {
    this.#giveUpOn(() => true, new LeaseError('SHUTTING_DOWN', 'the store was closed before this write got its turn'));
  }
}

const BUSY = Symbol('busy');
