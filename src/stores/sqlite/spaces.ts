// The namespaces of a file and their counters. While history is on, the last log row of a namespace carries its counters
// (S2: the epoch; the number of tickets; the log number, which also orders arrivals; the time), so that a step writes no
// page for them. The row in `space` is the floor below that, written whenever there is no log row to carry them.
import type { Database } from 'better-sqlite3';
import { DEFAULT_SETTINGS, type Settings } from '../../domain/settings.js';
import type { LeaseRow } from '../../domain/lease.js';
import type { Space } from '../protocol/rows.js';
import { LeaseError } from '../../domain/errors.js';
import { Crowds } from './crowds.js';
import { MOST_NAMESPACES, SPAN } from './schema.js';
import type { Statements } from './statements.js';
import { Tail } from './tail.js';

/** `arrival` is the number of the last row, less the namespace's own span: it orders tickets and log rows alike. */
export interface FileSpace extends Space {
  readonly id: number;
  readonly name: string;
  /** The highest `now` written in this namespace (S13). */
  writtenAt: number;
  prunedThrough: number;
  /** Rows up to this number are in `due`, or are over. */
  sweptTo: number;
  /** Rows up to this number are in the indexes of ids and names; those past it are in `tail`. */
  indexedTo: number;
  readonly tail: Tail;
  /** No indexed id is above this one (ids begin with time, so new ones are), and whether any name may be indexed. */
  highestId: string;
  hasFirstNames: boolean;
  /** Whether any standing row may be a subtree or have more than one name. */
  hasOtherNames: boolean;
  /** Leases this connection granted and nobody else can have touched: gone as soon as somebody else writes. */
  readonly recent: Map<string, LeaseRow>;
  /** Likewise, what stands where somebody waits. */
  readonly crowds: Crowds;
}

interface SpaceRow {
  id: number;
  seq: number;
  epoch: number;
  tickets: number;
  written_at: number;
  settings: string;
  settings_version: number;
  pruned_through: number;
  swept_to: number;
  indexed_to: number;
}

export class Spaces {
  readonly #sql: Statements;
  readonly #cache = new Map<string, FileSpace>();
  /** What others write adds to a tail and changes nothing in it that is not read again: it outlives the cache. */
  readonly #tails = new Map<string, Tail>();
  #version: unknown;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** The namespace as the file has it now. Kept between calls for as long as nobody else has written: the file is asked,
   *  unless it `isUnchanged` for certain since the last time. */
  load(name: string, isUnchanged = false): FileSpace | undefined {
    if (!isUnchanged) this.#forgetWhatOthersWrote();
    const known = this.#cache.get(name);
    if (known) return known;
    const row = this.#sql.space.get(name) as SpaceRow | undefined;
    if (!row) return undefined;
    const space = this.#withLastLog(name, row);
    this.#cache.set(name, space);
    return space;
  }

  #forgetWhatOthersWrote(): void {
    const version = this.#sql.dataVersion.get();
    if (version === this.#version) return;
    this.#cache.clear();
    this.#version = version;
  }

  create(name: string, now: number, firstEpoch: number): FileSpace {
    this.#sql.addSpace.run(name, firstEpoch, now);
    const space = this.load(name) as FileSpace;
    if (space.id <= MOST_NAMESPACES) return space;
    throw new LeaseError('RATE_LIMITED', `a file holds at most ${MOST_NAMESPACES} namespaces: use another file`);
  }

  /** Writes the counters into the namespace's own row. */
  save(space: FileSpace): void {
    const changed = Object.entries(space.settings).filter(
      ([key, value]) => value !== DEFAULT_SETTINGS[key as keyof Settings],
    );
    this.#sql.saveSpace.run(
      space.arrival,
      space.epoch,
      space.tickets,
      space.writtenAt,
      JSON.stringify(Object.fromEntries(changed)),
      space.settingsVersion,
      space.prunedThrough,
      space.sweptTo,
      space.id,
    );
  }

  /** After a rollback nothing remembered is true any more. */
  forget(): void {
    this.#cache.clear();
    this.#tails.clear();
  }

  #withLastLog(name: string, row: SpaceRow): FileSpace {
    const [from, to] = [row.id * SPAN, (row.id + 1) * SPAN];
    const last = this.#sql.lastLog.get(from + row.seq, to) as
      { row: number; at: number; counter: number; tickets: number | null } | undefined;
    const lastRow = this.#sql.lastRow.get(from, to) as number | undefined;
    const tail = this.#tails.get(name) ?? new Tail();
    this.#tails.set(name, tail);
    tail.catchUp(this.#sql, row.id, row.indexed_to);
    return {
      id: row.id,
      name,
      epoch: last?.counter ?? row.epoch,
      arrival: Math.max((lastRow ?? 0) % SPAN, row.seq),
      tickets: last ? (last.tickets ?? 0) : row.tickets,
      writtenAt: Math.max(row.written_at, last?.at ?? 0),
      settings: { ...DEFAULT_SETTINGS, ...(JSON.parse(row.settings) as Partial<Settings>) },
      settingsVersion: row.settings_version,
      prunedThrough: row.pruned_through,
      sweptTo: row.swept_to,
      indexedTo: row.indexed_to,
      tail,
      highestId: (this.#sql.highestId.get(row.id) as string | undefined) ?? '',
      hasFirstNames: this.#sql.anyFirstName.get(row.id) !== undefined,
      recent: new Map(),
      crowds: new Crowds(),
      hasOtherNames: this.#sql.anyOtherName.get(row.id) !== undefined,
    };
  }
}

/** A namespace nobody has written to yet, as a read sees it: id 0 has no rows. Reading it writes nothing. */
export function emptySpace(name: string, firstEpoch: number): FileSpace {
  return {
    id: 0,
    name,
    epoch: firstEpoch,
    arrival: 0,
    tickets: 0,
    writtenAt: 0,
    settings: DEFAULT_SETTINGS,
    settingsVersion: 1,
    prunedThrough: 0,
    sweptTo: 0,
    indexedTo: 0,
    tail: new Tail(),
    highestId: '',
    hasFirstNames: false,
    hasOtherNames: false,
    recent: new Map(),
    crowds: new Crowds(),
  };
}

/** Every namespace there is, for what concerns the whole file. */
export function allNamespaces(db: Database): string[] {
  return db.prepare('SELECT name FROM space ORDER BY id').pluck().all() as string[];
}
