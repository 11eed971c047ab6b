// The SQLite file of a fileGate: opened on first use, one write transaction a step, the lock waited for off the event loop.
// Whoever is stopped or hangs inside a step holds the lock, and nobody passes: that is what the lock is for.
import type { Database } from 'better-sqlite3';
import { join } from 'node:path';
import type { Clock } from '../domain/clock.js';
import { LeaseError } from '../domain/errors.js';
import type { CheckedWrite } from './fence.js';
import { GATE_NAME } from './file-target.js';
import { enterSqlite } from './sqlite-fence.js';

/** Waited for on the event loop (S20), and then in turns off it. */
const BUSY_TIMEOUT_MS = 2;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 50;
const PATIENCE_MS = 10_000;

export class GateFile {
  readonly #path: string;
  readonly #clock: Clock;
  #opening: Promise<Database> | undefined;
  #db: Database | undefined;

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
    this.#db?.close();
    this.#db = undefined;
    this.#opening = undefined;
  }

  async #step(act: (db: Database) => void): Promise<void> {
    const until = this.#clock.monotonic() + PATIENCE_MS;
    const db = await this.#open();
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        db.transaction(act).immediate(db);
        return;
      } catch (error) {
        if (!isBusy(error)) throw translated(error, this.#path);
        if (this.#clock.monotonic() + pauseMs >= until) throw locked(this.#path, error);
      }
      await this.#pause(pauseMs);
    }
  }

  async #open(): Promise<Database> {
    this.#opening ??= openFile(this.#path).then((db) => (this.#db = db));
    try {
      return await this.#opening;
    } catch (error) {
      this.#opening = undefined;
      throw translated(error, this.#path);
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(ms, resolve, true);
    });
  }
}

/** The native module is loaded here and not before: other guards do without it. */
async function openFile(path: string): Promise<Database> {
  const { default: Driver } = await import('better-sqlite3');
  const db = new Driver(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    db.pragma('synchronous = EXTRA'); // in rollback mode: also the removal of the journal, which is the commit
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function isBusy(error: unknown): boolean {
  const cause: unknown = error instanceof LeaseError ? error.cause : error;
  const code: unknown = (cause as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && code.startsWith('SQLITE_BUSY');
}

function locked(path: string, cause: unknown): LeaseError {
  const message = `${path} is locked by another writer for more than ${PATIENCE_MS} ms: look for a process that is stopped inside a write`;
  return new LeaseError('STORE_UNAVAILABLE', message, { cause, details: { path } });
}

function translated(error: unknown, path: string): unknown {
  if (error instanceof LeaseError) return error;
  const code: unknown = (error as { code?: unknown } | null | undefined)?.code;
  const isFull = code === 'SQLITE_FULL' || code === 'ENOSPC';
  const said = error instanceof Error ? error.message : String(error);
  return new LeaseError('STORE_UNAVAILABLE', `writing through the gate ${path} failed: ${said}`, {
    cause: error,
    retryable: isFull,
    details: { path, driverCode: code },
  });
}
