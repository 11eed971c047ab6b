// One open file: the connection and everything that belongs to it, shared by the stores of its namespaces.
// A step is one BEGIN IMMEDIATE: the lock first, then the clock and the rows are read (S16), then the protocol acts.
import { statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import type { Space, Step } from '../protocol/rows.js';
import { Checkpointer } from './checkpointer.js';
import { firstEpoch, nowBy, type Anchor } from './file-clock.js';
import { SqlList } from './sql-list.js';
import { SqlLog } from './sql-log.js';
import { SqlRows } from './sql-rows.js';
import { emptySpace, Spaces, type FileSpace } from './spaces.js';
import { Statements } from './statements.js';
import { indexTail, type TailBounds } from './tail.js';
import { translateError } from './translate-error.js';
import { KeptSnapshot } from './kept-snapshot.js';
import { LoopTurns } from '../protocol/loop-turns.js';
import { WriteLane, type How } from './write-lane.js';

/** Many short processes together make a long WAL, though none of them ever starts a worker: each folds it in as it goes. */
const LONG_WAL_BYTES = 4 * 1024 * 1024;

function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

export interface FileStep extends Step {
  readonly space: FileSpace & Space;
}
/** A namespace as a read finds it. */
export interface Look {
  readonly now: number;
  readonly space: FileSpace;
  readonly rows: SqlRows;
}

export class SqliteFile {
  readonly path: string;
  readonly db: Database;
  readonly clock: Clock;
  readonly anchor: Anchor;
  readonly spaces: Spaces;
  readonly log: SqlLog;
  readonly listing: SqlList;
  readonly sql: Statements;
  readonly checkpointer: Checkpointer;
  readonly #lane: WriteLane;
  readonly #turns: LoopTurns;
  readonly #snapshot: KeptSnapshot;
  readonly #tailBounds: TailBounds;
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(path: string, db: Database, clock: Clock, anchor: Anchor, tailBounds: TailBounds) {
    this.path = path;
    this.db = db;
    this.clock = clock;
    this.anchor = anchor;
    this.#tailBounds = tailBounds;
    this.sql = new Statements(db);
    this.spaces = new Spaces(this.sql);
    this.log = new SqlLog(db);
    this.listing = new SqlList(db);
    this.checkpointer = new Checkpointer(path);
    this.#turns = new LoopTurns(clock);
    this.#snapshot = new KeptSnapshot(db, this.#turns);
    const { sql } = this;
    const onRollback = (): void => this.spaces.forget();
    this.#lane = new WriteLane({ sql, clock, path, turns: this.#turns, snapshot: this.#snapshot, onRollback });
  }

  /** One write transaction. `act` sees the namespace as it is with the lock held. Nearly always it is done when this returns:
   *  then no promise is made. */
  write<T>(namespace: string, act: (step: FileStep) => T, how?: How): T | Promise<T> {
    this.checkOpen();
    if (this.#turns.isLong()) return this.#breathe().then(() => this.#write(namespace, act, how));
    return this.#write(namespace, act, how);
  }

  #write<T>(namespace: string, act: (step: FileStep) => T, how?: How): T | Promise<T> {
    const written = this.#lane.run(() => {
      const { clock, spaces } = this;
      const machineNow = nowBy(this.anchor, clock);
      const wall = clock.wall();
      const space =
        spaces.load(namespace, this.#snapshot.isKept) ?? spaces.create(namespace, machineNow, firstEpoch(this.anchor));
      const now = Math.max(machineNow, space.writtenAt);
      space.writtenAt = now;
      const rows = new SqlRows(this.sql, space, now, wall, true);
      const result = act({ now, wall, rows, space, freed: [], wake: [] });
      rows.flush();
      indexTail(this.sql, space, this.#tailBounds);
      if (!space.settings.keep_history) spaces.save(space);
      return result;
    }, how);
    if (written instanceof Promise) return written.then((answer) => this.#committed(answer, how));
    return this.#committed(written, how);
  }

  #committed<T>(answer: T, how: How | undefined): T {
    this.checkpointer.committed(how === 'durable');
    return answer;
  }

  /** A read that gives way to the loop first, like a write. */
  async readInTurn<T>(namespace: string, act: (look: Look) => T): Promise<T> {
    this.checkOpen();
    if (this.#turns.isLong()) await this.#breathe();
    return this.read(namespace, act);
  }

  async #breathe(): Promise<void> {
    await this.#turns.next();
    this.checkOpen();
  }

  /** One read transaction: every statement of `act` sees the same snapshot. */
  read<T>(namespace: string, act: (look: Look) => T): T {
    this.checkOpen();
    this.#snapshot.end();
    try {
      this.sql.beginRead.run();
      try {
        const machineNow = nowBy(this.anchor, this.clock);
        const space = this.spaces.load(namespace) ?? emptySpace(namespace, firstEpoch(this.anchor));
        const now = Math.max(machineNow, space.writtenAt);
        const rows = new SqlRows(this.sql, space, now, this.clock.wall(), false);
        return act({ now, space, rows });
      } finally {
        if (this.db.inTransaction) this.sql.commit.run();
      }
    } catch (error) {
      throw translateError(error, this.path);
    }
  }

  /** Another one whenever somebody else has written. */
  dataVersion(): unknown {
    this.#snapshot.end();
    return this.sql.dataVersion.get();
  }

  checkOpen(): void {
    if (this.#isClosed) throw new LeaseError('SHUTTING_DOWN', 'the store is closed: connect again');
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    this.#lane.close();
    this.#snapshot.end();
    await this.checkpointer.stop();
    try {
      if (walBytes(this.path) > LONG_WAL_BYTES) this.db.pragma('wal_checkpoint(PASSIVE)');
      this.db.pragma('optimize');
    } catch {
      // Statistics for the planner are a courtesy: a file that is locked or full just now does without.
    }
    this.db.close();
  }
}
