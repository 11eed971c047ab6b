// The reads, each bounded in rows and in time. One that fails is written down as unread and the others go on: a doctor that
// falls silent when the store does is of no use.
import type { Clock } from '../domain/clock.js';
import type { LogRow } from '../domain/events.js';
import type { Lease } from '../domain/lease.js';
import { LIMITS } from '../domain/limits.js';
import type { StreamFigures } from '../domain/sequence.js';
import { answerWithin } from '../manager/store-link.js';
import type { Store } from '../stores/store.js';
import type { Calls } from './facts.js';

export const CALL_LIMIT_MS = 2_000;
const READ_LIMIT_MS = 5_000;
/** Once something was not answered in time, the rest is asked with less patience: a sick store is told of soon. */
const SHORT_LIMIT_MS = 1_000;
const SAMPLES = 10;
/** After so many calls without an answer in a row nothing more is to be learnt by asking. */
const MOST_SILENCES = 2;
const MOST_PAGES = 10;
const MOST_STEPS = 20;
const WRITER_LOOKS = 10;
const WRITER_PAUSE_MS = 100;

/** A timer that keeps the process: a command has nothing else to live for meanwhile. */
export function rest(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const done = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(ms, done, true);
    signal?.addEventListener('abort', done);
  });
}

export class Reading {
  readonly store: Store;
  readonly clock: Clock;
  readonly unread: { what: string; why: string }[] = [];
  readonly cutShort: string[] = [];
  #limitMs = READ_LIMIT_MS;

  constructor(store: Store, clock: Clock) {
    this.store = store;
    this.clock = clock;
  }

  /** The answer, or `fallback` with a word in `unread`. */
  async read<T>(what: string, fallback: T, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      this.#limitMs = SHORT_LIMIT_MS;
      this.unread.push({ what, why: error instanceof Error ? error.message : String(error) });
      return fallback;
    }
  }

  within<T>(what: string, answer: Promise<T>): Promise<T> {
    return answerWithin(this.clock, this.#limitMs, what, answer);
  }

  /** One call for the time: how long it took, and this machine's clock against the store's. */
  async sample(): Promise<{ readonly now: number; readonly tookMs: number; readonly skewMs: number } | undefined> {
    const sentAt = this.clock.monotonic();
    try {
      const { now } = await answerWithin(this.clock, CALL_LIMIT_MS, 'time', this.store.time());
      const tookMs = this.clock.monotonic() - sentAt;
      return { now, tookMs, skewMs: Math.round(this.clock.wall() - tookMs / 2 - now) };
    } catch {
      return undefined;
    }
  }

  async calls(): Promise<{ readonly calls: Calls; readonly now: number | undefined; readonly skewMs: number }> {
    const answeredMs: number[] = [];
    let [timedOut, skewMs, now]: [number, number, number | undefined] = [0, 0, undefined];
    for (let i = 0; i < SAMPLES && timedOut < MOST_SILENCES; i += 1) {
      const sample = await this.sample();
      if (sample === undefined) timedOut += 1;
      else {
        answeredMs.push(sample.tookMs);
        ({ skewMs, now } = sample);
      }
    }
    return { calls: { answeredMs, timedOut, limitMs: CALL_LIMIT_MS }, now, skewMs };
  }

  /** Everything that is live, or what stands on one name. */
  async live(resource: string | undefined): Promise<readonly Lease[]> {
    if (resource !== undefined) {
      const { holders, queue } = await this.within('show', this.store.show(resource, 0));
      return [...holders, ...queue];
    }
    const items: Lease[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const listed = await this.within('list', this.store.list({ limit: LIMITS.rowsPerStep, cursor }));
      items.push(...listed.items);
      cursor = listed.cursor;
      if (cursor === undefined) return items;
    }
    this.cutShort.push(`leases: the first ${items.length}`);
    return items;
  }

  /** The log from `since` on, oldest first. */
  async log(since: number, resource: string | undefined): Promise<readonly LogRow[]> {
    const rows: LogRow[] = [];
    let before: string | undefined;
    for (let step = 0; step < MOST_STEPS; step += 1) {
      const query = { backward: true, before, resource, limit: LIMITS.rowsPerStep };
      const answer = await this.within('events', this.store.events(query));
      if (answer.outcome === 'lost') return rows.reverse();
      rows.push(...answer.rows.filter(({ at }) => at >= since));
      const oldest = answer.rows.at(-1);
      if (!answer.more || (oldest !== undefined && oldest.at < since)) return rows.reverse();
      before = answer.next;
    }
    this.cutShort.push(`events: the last ${rows.length}`);
    return rows.reverse();
  }

  /** The records of what ended, newest first as far as one call goes; the store forgets them after a while. */
  async ended(log: readonly LogRow[]): Promise<ReadonlyMap<string, Lease>> {
    const over = log.filter(
      ({ type }) => type === 'lease.expired' || type === 'lease.released' || type === 'lease.revoked',
    );
    const ids = [...new Set(over.flatMap(({ leaseId }) => leaseId ?? []).reverse())];
    if (ids.length > LIMITS.rowsPerStep)
      this.cutShort.push(`ended leases: the last ${LIMITS.rowsPerStep} of ${ids.length}`);
    const wanted = ids.slice(0, LIMITS.rowsPerStep);
    if (wanted.length === 0) return new Map();
    const { items } = await this.within('get', this.store.get(wanted));
    return new Map(items.flatMap((lease) => (lease ? [[lease.id, lease] as const] : [])));
  }

  async streams(): Promise<readonly StreamFigures[]> {
    const { sequences } = this.store;
    if (sequences === undefined) return [];
    const { streams, more } = await this.within('streams', sequences.streams({ limit: LIMITS.rowsPerStep }));
    if (more) this.cutShort.push(`streams: the first ${streams.length}`);
    return streams;
  }

  /** The process that has a SQLite file's write lock at every look, while nothing is written. */
  async stuckWriter(): Promise<number | undefined> {
    const look = async (): Promise<{ writer: number; walChangedAt: number } | undefined> => {
      const health = await this.store.health?.();
      if (health?.kind !== 'sqlite' || health.writer === undefined) return undefined;
      return { writer: health.writer, walChangedAt: health.walChangedAt };
    };
    const first = await look();
    if (first === undefined) return undefined;
    for (let i = 0; i < WRITER_LOOKS; i += 1) {
      await rest(this.clock, WRITER_PAUSE_MS);
      const next = await look();
      if (next?.writer !== first.writer || next.walChangedAt !== first.walChangedAt) return undefined;
    }
    return first.writer;
  }
}
