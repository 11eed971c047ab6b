// Follows the event log of a namespace and keeps its totals (O2), a bounded step at a time.
//
//   unknown ──a checkpoint is there, or this process counted one──▶ following ──its position is gone──▶ unknown
//
// A base is counted once and written down as a checkpoint; everybody else takes it from there. Whoever follows folds the same
// rows in the same order, so that what two servers show is the same. A checkpoint of another base replaces what is known:
// the totals go on from it, folded up to the end of the log before anybody sees them.
import type { LogRow } from '../domain/events.js';
import type { Lease } from '../domain/lease.js';
import { LIMITS } from '../domain/limits.js';
import type { EventQuery, ListFilter } from '../domain/requests.js';
import { countStanding } from './count-standing.js';
import { addRow, copyTotals, noTotals, type LogTotals } from './log-totals.js';
import { readCheckpoint, writeCheckpoint } from './totals-text.js';

/** As much of a store as following takes. */
export interface FollowedStore {
  events(
    query: EventQuery,
  ): Promise<
    | { readonly outcome: 'rows'; readonly rows: readonly LogRow[]; readonly next: string; readonly more: boolean }
    | { readonly outcome: 'lost'; readonly oldest: string }
  >;
  list(
    filter: ListFilter,
  ): Promise<{ readonly now: number; readonly items: readonly Lease[]; readonly cursor?: string | undefined }>;
}

/** Where a checkpoint is kept. */
export interface Note {
  read(): Promise<unknown>;
  write(value: Readonly<Record<string, unknown>>): Promise<void>;
}

export interface FollowerOptions {
  readonly store: FollowedStore;
  readonly note: Note;
  /** A name nobody else makes. */
  readonly newBase: () => string;
}

interface Place {
  readonly base: string;
  position: string;
  totals: LogTotals;
}

const PAGE = LIMITS.rowsPerStep;
/** Rows of one step: what is left is read by the next. */
const MAX_PAGES = 50;
/** What fits into one page can be counted at once, and is, so that no mistake stays. */
const COUNTED_AT_ONCE = PAGE - 1;

export class LogFollower {
  readonly #options: FollowerOptions;
  #place: Place | undefined;
  #isLost = false;
  #working: Promise<void> = Promise.resolve();
  #nextCatchUp: Promise<void> | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** Undefined until there is a base. */
  get totals(): LogTotals | undefined {
    return this.#place?.totals;
  }
  get base(): string | undefined {
    return this.#place?.base;
  }
  /** A base must be counted: by one process, in its turn. */
  get needsBase(): boolean {
    return this.#place === undefined || this.#isLost;
  }

  /** Reads on, up to the end of the log or as far as one step goes. */
  catchUp(): Promise<void> {
    // Whoever comes before it begins shares it, so that a long count gathers no line of scrapes behind it.
    this.#nextCatchUp ??= this.#oneByOne(async () => {
      this.#nextCatchUp = undefined;
      if (this.needsBase) await this.#adopt();
      if (this.#place && !this.#isLost) this.#isLost = !(await this.#fold(this.#place));
    });
    return this.#nextCatchUp;
  }

  /** Looks whether somebody counted another base meanwhile. */
  lookAtNote(): Promise<void> {
    return this.#oneByOne(() => this.#adopt());
  }

  /** In this process's turn: counts a base where there is none, checks small figures, writes the checkpoint. */
  keep(): Promise<void> {
    return this.#oneByOne(async () => {
      await this.#adopt();
      if (this.#place && !this.#isLost) this.#isLost = !(await this.#fold(this.#place));
      if (this.needsBase) await this.#countBase();
      else await this.#checkSmall();
      if (this.#place) await this.#options.note.write(writeCheckpoint(this.#place));
    });
  }

  async #adopt(): Promise<void> {
    const found = readCheckpoint(await this.#options.note.read());
    if (!found || found.base === this.#place?.base) return;
    const place: Place = { ...found };
    if (!(await this.#fold(place))) {
      this.#place ??= place; // its totals are worth carrying on; the log it belongs to is gone
      this.#isLost = true;
      return;
    }
    this.#place = place;
    this.#isLost = false;
  }

  /** False when the position is gone. What was folded before that stays. */
  async #fold(place: Place): Promise<boolean> {
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const answer = await this.#options.store.events({ after: place.position, limit: PAGE });
      if (answer.outcome === 'lost') return false;
      for (const row of answer.rows) addRow(place.totals, row);
      place.position = answer.next;
      if (!answer.more) return true;
    }
    return true;
  }

  /** Totals go on from what is known; what happened while nobody could read it is not among them. */
  async #countBase(): Promise<void> {
    const { store, newBase } = this.#options;
    const totals = this.#place ? copyTotals(this.#place.totals) : noTotals();
    const { active, pending, countedAt, position } = await countStanding(store, (row) => addRow(totals, row));
    Object.assign(totals, { active, pending, countedAt });
    this.#place = { base: newBase(), position, totals };
    this.#isLost = false;
  }

  async #checkSmall(): Promise<void> {
    const place = this.#place;
    if (!place || Math.max(place.totals.active, place.totals.pending) > COUNTED_AT_ONCE) return;
    const { store, newBase } = this.#options;
    const active = await store.list({ status: 'active', limit: PAGE });
    const pending = await store.list({ status: 'pending', limit: PAGE });
    if (active.cursor !== undefined || pending.cursor !== undefined) return;
    const since = await store.events({ after: place.position, limit: 1 });
    if (since.outcome === 'lost' || since.rows.length > 0) return; // something moved: the next turn looks again
    const [isActive, isPending] = [active.items.length, pending.items.length];
    if (isActive === place.totals.active && isPending === place.totals.pending) return;
    const totals = copyTotals(place.totals);
    Object.assign(totals, { active: isActive, pending: isPending, countedAt: active.now });
    this.#place = { base: newBase(), position: place.position, totals };
  }

  /** Steps never overlap: each sees the place the one before it came to. */
  #oneByOne(step: () => Promise<void>): Promise<void> {
    const mine = this.#working.then(step);
    this.#working = mine.catch(() => undefined);
    return mine;
  }
}
