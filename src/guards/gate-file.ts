// The SQLite file of a fileGate: opened on first use, one write transaction a step, the lock waited for off the event loop.
// Whoever is stopped or hangs inside a step holds the lock, and nobody passes: that is what the lock is for.
//
// The lock is that of a file and not of a path. A file that was removed and made anew has two: each step looks, with the lock
// in hand, whether it has the one that stands at the path, and else opens that one and begins again.
import type Sqlite from 'better-sqlite3';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../domain/clock.js';
import { LeaseError } from '../domain/errors.js';
import type { CheckedWrite } from './fence.js';
import { explainFile } from './file-error.js';
import { GATE_NAME } from './file-target.js';
import { enterSqlite } from './sqlite-fence.js';

type Database = Sqlite.Database;

/** Waited for on the event loop (S20), and then in turns off it. */
const BUSY_TIMEOUT_MS = 2;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 50;
const PATIENCE_MS = 10_000;
/** How often a file may be gone again by the time it is open: the first time it is made, the second it is there. */
const MOST_OPENINGS = 5;

interface OpenFile {
  readonly db: Database;
  readonly identity: string;
}

export class GateFile {
  readonly #path: string;
  readonly #clock: Clock;
  #file: OpenFile | undefined;

  constructor(folder: string, clock: Clock) {
    this.#path = join(folder, GATE_NAME);
    this.#clock = clock;
  }

  /** Admits and writes down, durably. Nothing is written when it stands there already. */
  note(writes: readonly CheckedWrite[]): Promise<void> {
    return this.#step((db) => enterSqlite(db, writes));
  }

  /** Admits again, and acts before anybody newer can be admitted. */
  hold(writes: readonly CheckedWrite[], act: () => void): Promise<void> {
    return this.#step((db) => {
      enterSqlite(db, writes);
      act();
    });
  }

  close(): void {
    this.#file?.db.close();
    this.#file = undefined;
  }

  async #step(act: (db: Database) => void): Promise<void> {
    const until = this.#clock.monotonic() + PATIENCE_MS;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        const { default: Driver } = await import('better-sqlite3'); // here and not before: other guards do without it
        this.#stepAtPath(Driver, act);
        return;
      } catch (error) {
        if (!isBusy(error)) throw explainFile(error, `writing through the gate ${this.#path}`, this.#path);
        if (this.#clock.monotonic() + pauseMs >= until) throw locked(this.#path, error);
      }
      await this.#pause(pauseMs);
    }
  }

  /** Without a turn of the event loop in between: nobody else of this process closes or opens the file meanwhile. */
  #stepAtPath(Driver: typeof Sqlite, act: (db: Database) => void): void {
    for (let isAgain = false; ; isAgain = true) {
      const { db, identity } = (this.#file ??= openFile(Driver, this.#path));
      const step = (): void => {
        if (identityOf(this.#path) !== identity) throw replaced(this.#path);
        act(db);
      };
      try {
        db.transaction(step).immediate();
        return;
      } catch (error) {
        if (!isReplaced(error)) throw error;
        this.close();
        if (isAgain) throw replaced(this.#path, error);
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(ms, resolve, true);
    });
  }
}

/** What stood at the path before and after is what was opened. */
function openFile(Driver: typeof Sqlite, path: string): OpenFile {
  for (let i = 0; i < MOST_OPENINGS; i += 1) {
    const before = identityOf(path);
    const db = new Driver(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      db.pragma('synchronous = EXTRA'); // in rollback mode: also the removal of the journal, which is the commit
      const identity = identityOf(path);
      if (identity !== undefined && identity === before) return { db, identity };
    } catch (error) {
      db.close();
      throw error;
    }
    db.close();
  }
  throw replaced(path);
}

/** No other file has it for as long as this one is open, also when it is removed. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

function replaced(path: string, cause?: unknown): LeaseError {
  const message = `${path} was removed or replaced while it was asked: leave the gate where it is, and write again`;
  return new LeaseError('STORE_UNAVAILABLE', message, { cause, details: { path, isReplaced: true } });
}

function isReplaced(error: unknown): boolean {
  const isOwn = error instanceof LeaseError && error.details['isReplaced'] === true;
  return isOwn || driverCode(error) === 'SQLITE_READONLY_DBMOVED'; // SQLite looks for itself before it changes a page
}

function isBusy(error: unknown): boolean {
  return driverCode(error).startsWith('SQLITE_BUSY');
}

function driverCode(error: unknown): string {
  const cause: unknown = error instanceof LeaseError ? error.cause : error;
  const code: unknown = (cause as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}

function locked(path: string, cause: unknown): LeaseError {
  const message = `${path} is locked by another writer for more than ${PATIENCE_MS} ms: look for a process that is stopped inside a write`;
  return new LeaseError('STORE_UNAVAILABLE', message, { cause, details: { path } });
}
