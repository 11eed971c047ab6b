// From the log into the archive and then out of the store (H4), in the order of the log, a bounded step at a time. A row is
// removed only when it stands in the archive: every removal names the last position that does.
//
// Rows from before a pause of the history (`keep_history` off and on again) are seen only by a reader that goes backward.
// They are looked for first, so that they too are archived before they are removed.
import type { Clock } from '../domain/clock.js';
import type { LogRow } from '../domain/events.js';
import { LIMITS } from '../domain/limits.js';
import type { Store } from '../stores/store.js';
import type { HistoryArchive } from './history-archive.js';
import type { Turn } from './turn.js';

const LIMIT = LIMITS.rowsPerStep;

interface Page {
  readonly rows: readonly LogRow[];
  readonly now: number;
  readonly more: boolean;
  /** Where the log ends, if it has no rows. */
  readonly next: string;
}

export interface ArchivingOptions {
  readonly store: Store;
  readonly archive: HistoryArchive;
  readonly turn: Turn;
  readonly clock: Clock;
  readonly olderThanMs: number;
}

export class Archiving {
  readonly #options: ArchivingOptions;
  /** Where the pages behind the forward reader end; the last of them is the oldest. */
  #behind: string[] | undefined;

  constructor(options: ArchivingOptions) {
    this.#options = options;
  }

  /** The next rows that are old enough, archived and removed. Answers whether there is more to do. */
  async step(): Promise<boolean> {
    const { store, archive, turn, olderThanMs } = this.#options;
    this.#behind ??= await this.#lookBehind();
    const { rows, now, more, next } = await this.#nextPage(this.#behind.at(-1));
    const firstToStay = rows.findIndex((row) => row.at >= now - olderThanMs);
    const old = firstToStay === -1 ? rows : rows.slice(0, firstToStay);
    turn.throwIfOver();
    if (old.length > 0) await archive.append(old);
    if (firstToStay === -1) this.#behind.pop();
    // An empty log has ended ids to forget all the same; up to its end there is nothing to lose.
    const upTo = archive.lastId ?? (rows.length === 0 ? next : undefined);
    if (upTo === undefined) return false;
    turn.throwIfOver();
    const pruned = await store.prune({ olderThanMs, upTo, limit: LIMIT });
    return pruned.more || (more && firstToStay === -1);
  }

  async #nextPage(behind: string | undefined): Promise<Page> {
    const { store, archive } = this.#options;
    const { lastId } = archive;
    if (behind !== undefined) {
      const page = await store.events({ backward: true, before: behind, limit: LIMIT });
      const rows = page.outcome === 'rows' ? page.rows.toReversed() : [];
      const archived = rows.findIndex((row) => row.id === lastId);
      return { rows: rows.slice(archived + 1), now: page.now, more: true, next: behind };
    }
    const page = await store.events({ after: lastId, limit: LIMIT });
    if (page.outcome === 'rows') return page;
    const fromOldest = await store.events({ after: page.oldest, limit: LIMIT });
    if (fromOldest.outcome === 'rows') return fromOldest;
    return { rows: [], now: page.now, more: true, next: fromOldest.oldest }; // pruned by somebody between the two
  }

  /** The pages before the place where a forward reader begins, as far back as the archive does not reach. */
  async #lookBehind(): Promise<string[]> {
    const { store, archive, turn, clock } = this.#options;
    const { lastId } = archive;
    const first = await store.events({ after: lastId, limit: 1 });
    if (first.outcome === 'rows' && lastId !== undefined) return [];
    let before = first.outcome === 'lost' ? first.oldest : (first.rows[0]?.id ?? first.next);
    const pages: string[] = [];
    for (;;) {
      turn.throwIfOver(); // the bound of this loop
      const page = await store.events({ backward: true, before, limit: LIMIT });
      if (page.outcome === 'lost' || page.rows.length === 0) return pages;
      pages.push(before);
      if (!page.more || page.rows.some((row) => row.id === lastId)) return pages;
      before = page.next;
      await new Promise<void>((resolve) => {
        clock.soon(resolve);
      });
    }
  }
}
