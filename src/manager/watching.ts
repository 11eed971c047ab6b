// watch (A8, H1): the namespace's log as an async iterable, from now on or from a position, until its signal aborts.
//
// Rows are read in pages after the last one that was given out; at the end of the log it waits for the store to say that
// something changed, or for the next look. A position that is gone gives one `events.lost` with the oldest position there
// is, and goes on from there: never silence. A store that is away is asked again; the position is kept.
import type { Clock } from '../domain/clock.js';
import { invalid, LeaseError } from '../domain/errors.js';
import { lostEvent, toEvent, type LeaseEvent } from '../domain/events.js';
import type { EventQuery } from '../domain/requests.js';
import type { Events } from '../stores/store.js';
import type { LeaseManager } from './lease-manager.js';
import { eventQuery, type HistoryQuery } from './looking.js';
import { onAbort } from './on-abort.js';

export interface WatchFilter extends Omit<HistoryQuery, 'cursor' | 'limit'> {
  /** The `id` of the last event that was seen. */
  after?: string;
  signal?: AbortSignal;
}

const PAGE = 256;
const LOOK_MS = 250;
const LONGEST_PAUSE_MS = 2_000;
const CALL_TIMEOUT_MS = 10_000;

export async function* watch(
  { link, clock }: LeaseManager,
  { after, signal, ...filter }: WatchFilter,
  life: AbortSignal,
): AsyncGenerator<LeaseEvent, void, undefined> {
  const { keep_history: isKept } = await link.settings();
  if (!isKept) throw invalid('keep_history is off in this namespace: there is no log to watch. Set it to true first');
  const query: EventQuery = { ...eventQuery(filter), limit: PAGE };
  const bell = new Bell(clock, signal ? [signal, life] : [life]);
  const unsubscribe = link.store.subscribe({ changed: () => bell.ring(), up: () => bell.ring() });
  const ask = (asked: EventQuery): Promise<Events> =>
    link.within(
      CALL_TIMEOUT_MS,
      'events',
      link.call('events', (store) => store.events(asked)),
    );
  let position = after;
  let pauseMs = LOOK_MS;
  try {
    while (!bell.isOver) {
      try {
        position ??= await endOfLog(ask);
        const answer = await ask({ ...query, after: position });
        pauseMs = LOOK_MS;
        if (answer.outcome === 'lost') {
          yield lostEvent(link.store.namespace, answer.now, answer.oldest);
          position = answer.oldest;
          continue;
        }
        for (const row of answer.rows) {
          if (bell.isOver) return;
          yield toEvent(row);
        }
        position = answer.next;
        if (answer.more) continue;
      } catch (error) {
        if (!(error instanceof LeaseError) || !error.retryable) throw error;
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
      await bell.wait(pauseMs);
    }
  } finally {
    unsubscribe();
  }
}

async function endOfLog(ask: (query: EventQuery) => Promise<Events>): Promise<string | undefined> {
  const last = await ask({ backward: true, limit: 1 });
  return last.outcome === 'lost' ? last.oldest : (last.rows[0]?.id ?? last.next);
}

/** Waits for a hint, a while, or the end, whichever comes first. A hint given meanwhile is not missed. */
class Bell {
  readonly #clock: Clock;
  readonly #signals: readonly AbortSignal[];
  #hasRung = false;
  #wake: (() => void) | undefined;

  constructor(clock: Clock, signals: readonly AbortSignal[]) {
    this.#clock = clock;
    this.#signals = signals;
  }

  get isOver(): boolean {
    return this.#signals.some((signal) => signal.aborted);
  }

  ring(): void {
    this.#hasRung = true;
    this.#wake?.();
  }

  async wait(ms: number): Promise<void> {
    if (!this.#hasRung && !this.isOver) {
      await new Promise<void>((resolve) => {
        const timer = this.#clock.after(ms, done, true);
        const forget = this.#signals.map((signal) => onAbort(signal, done));
        function done(): void {
          timer.cancel();
          for (const takeBack of forget) takeBack();
          resolve();
        }
        this.#wake = done;
      });
    }
    this.#wake = undefined;
    this.#hasRung = false;
  }
}
