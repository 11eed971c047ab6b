// The one reader of the log for all clients of the event stream (W1): however many there are, a row is read once, told once in
// words for each view of it, and handed to everybody. The newest events are kept, so that whoever comes back soon reads no log.
//
//   idle --first client--> starting --end of the log known--> reading --last client gone--> idle
//                                                                └──the log cannot be read--> idle, every client told
//
// Nothing is missing and nothing comes twice: an event is kept and handed out in the same turn (`#flush`), and a client joins
// in one turn too: first what is kept and newer than its position, then every flush from there on.
import type { Clock, TimerHandle } from '../domain/clock.js';
import { invalid, LeaseError } from '../domain/errors.js';
import type { LeaseEvent } from '../domain/events.js';
import { comparePositions, isSameLog, parsePosition, type Position } from '../domain/position.js';
import type { Holdfast } from '../holdfast.js';
import { answerWithin } from '../manager/store-link.js';
import type { Logger } from '../observe/logger.js';
import type { Store } from '../stores/store.js';
import type { EventOutlet } from './event-outlet.js';
import { textOf, type EventView } from './event-view.js';

/** Flushes are at least this far apart under load, when two hundred small writes each would cost more than they bring; the first
 *  after a pause is at once. */
const FLUSH_MS = 50;
const FLUSH_BYTES = 256 * 1_024;
const PACE_MS = 50;
/** Whoever joins is sent all of it in one turn, before its socket takes a byte: well below what a client may leave unread, or
 *  one that missed more would be cut each time it comes back. Whoever missed more is read to from the log. */
const KEPT_BYTES = 256 * 1_024;
const BEAT_MS = 15_000;
const CALL_MS = 10_000;

export interface HubParts {
  readonly leases: Holdfast;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Listener {
  readonly outlet: EventOutlet;
  readonly view: EventView;
}

/** An event of the log on its way to everybody. */
interface Entry {
  readonly event: LeaseEvent;
  readonly position: Position | undefined;
  /** As a client without bounds and filters reads it. */
  readonly text: string;
}

export class EventHub {
  readonly #parts: HubParts;
  readonly #encoder = new TextEncoder();
  #run: AbortController | undefined;
  #started: Promise<void> | undefined;
  /** Those on their way in, and those who are in. */
  #present = new Set<Listener>();
  /** Who is in; with a position, the last event it has from elsewhere. */
  readonly #joined = new Map<Listener, Position | undefined>();
  #pending: Entry[] = [];
  #pendingBytes = 0;
  #isFlushDue = false;
  #flushedAt = -Infinity;
  #beat: TimerHandle | undefined;
  /** Everything after `#since` and up to `#last` is in here. */
  #kept: Entry[] = [];
  #keptBytes = 0;
  #since = '';
  #last = '';

  constructor(parts: HubParts) {
    this.#parts = parts;
  }

  /** The position of the last event that was handed out. */
  get last(): string {
    return this.#last;
  }
  get listeners(): number {
    return this.#joined.size;
  }

  /** Must be followed by `leave`, whatever happens. */
  async enter(listener: Listener): Promise<void> {
    this.#present.add(listener);
    this.#started ??= this.#start();
    await this.#started;
  }

  leave(listener: Listener): void {
    this.#joined.delete(listener);
    if (this.#present.delete(listener) && this.#present.size === 0) this.#stop();
  }

  /** Whether everything after this position is kept here, or will come. */
  covers(position: string): boolean {
    const [given, since] = [parsePosition(position), parsePosition(this.#since)];
    return given !== undefined && since !== undefined && isSameLog(given, since) && comparePositions(given, since) >= 0;
  }

  /** From this position on; without one, from the last event that was handed out. */
  join(listener: Listener, after?: string): void {
    const position = after === undefined ? undefined : parsePosition(after);
    const missed = position ? this.#kept.filter((entry) => isAfter(entry, position)) : [];
    for (const { event } of missed) {
      const text = textOf(event, listener.view);
      if (text !== undefined) listener.outlet.send(text);
    }
    if (!listener.outlet.isOver) this.#joined.set(listener, position);
  }

  #stop(): void {
    this.#run?.abort();
    this.#run = undefined;
    this.#started = undefined;
    this.#beat?.cancel();
    this.#kept = [];
    this.#keptBytes = 0;
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  async #start(): Promise<void> {
    const run = new AbortController();
    this.#run = run;
    try {
      const { clock, store } = this.#parts;
      const { settings } = await answerWithin(clock, CALL_MS, 'settings', store.settings());
      if (!settings.keep_history) throw invalid('keep_history is off in this namespace: there is no log to follow');
      const end = await answerWithin(clock, CALL_MS, 'events', store.events({ backward: true, limit: 1 }));
      if (run.signal.aborted) throw new LeaseError('SHUTTING_DOWN', 'the stream ended while it began');
      this.#since = end.outcome === 'lost' ? end.oldest : (end.rows[0]?.id ?? end.next);
      this.#last = this.#since;
    } catch (error) {
      if (this.#run === run) this.#started = undefined; // asked again by the next
      throw error;
    }
    this.#read(run).catch((error: unknown) => this.#failed(run, error));
    this.#waitToBeat();
  }

  async #read(run: AbortController): Promise<void> {
    const { leases, clock } = this.#parts;
    for await (const event of leases.watch({ after: this.#last, signal: run.signal })) {
      if (run.signal.aborted) return;
      this.#take(event);
      if (this.#pendingBytes < FLUSH_BYTES) continue;
      this.#flush();
      await this.#pace(clock);
    }
  }

  /** After a large flush: whoever reads gets the time to. Whoever does not holds up the others for a moment only. */
  async #pace(clock: Clock): Promise<void> {
    let timer: TimerHandle | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = clock.after(PACE_MS, resolve);
    });
    // Rows of an embedded store come without a turn of the loop: the clients' sockets need one in any case.
    await new Promise<void>((resolve) => {
      clock.soon(resolve);
    });
    await Promise.race([patience, Promise.all(Array.from(this.#joined.keys(), ({ outlet }) => outlet.hasRoom()))]);
    timer?.cancel();
  }

  #failed(run: AbortController, error: unknown): void {
    if (run.signal.aborted) return;
    this.#parts.logger.error({ err: error }, 'the log cannot be followed; clients of the event stream are told');
    const present = [...this.#present];
    this.#present = new Set();
    this.#joined.clear();
    this.#stop();
    for (const { outlet } of present) outlet.finish(endText('STORE_UNAVAILABLE'));
  }

  #take(event: LeaseEvent): void {
    const text = textOf(event, {}) ?? '';
    this.#pending.push({ event, position: parsePosition(event.id), text });
    this.#pendingBytes += text.length;
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    const { clock } = this.#parts;
    const waitMs = this.#flushedAt + FLUSH_MS - clock.monotonic();
    if (waitMs <= 0) clock.soon(() => this.#flush());
    else clock.after(waitMs, () => this.#flush());
  }

  #flush(): void {
    this.#isFlushDue = false;
    const batch = this.#pending;
    if (batch.length === 0) return;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#flushedAt = this.#parts.clock.monotonic();
    this.#keep(batch);
    const told = new Map<string, Uint8Array | undefined>();
    for (const [listener, position] of [...this.#joined]) {
      if (position) this.#flushAfter(listener, batch, position);
      else {
        const { key } = listener.view;
        if (!told.has(key ?? '')) told.set(key ?? '', this.#bytesOf(batch, listener.view));
        const bytes = told.get(key ?? '');
        if (bytes) listener.outlet.send(bytes);
      }
    }
  }

  /** For whom has read ahead of us in the log: only what it has not seen. */
  #flushAfter(listener: Listener, batch: readonly Entry[], position: Position): void {
    const unseen = batch.filter((entry) => isAfter(entry, position));
    if (unseen.length === 0) return;
    this.#joined.set(listener, undefined);
    const bytes = this.#bytesOf(unseen, listener.view);
    if (bytes) listener.outlet.send(bytes);
  }

  #bytesOf(batch: readonly Entry[], view: EventView): Uint8Array | undefined {
    const texts = batch.map(({ event, text }) => (view.key === undefined ? text : (textOf(event, view) ?? '')));
    const all = texts.join('');
    return all === '' ? undefined : this.#encoder.encode(all);
  }

  #keep(batch: readonly Entry[]): void {
    for (const entry of batch) {
      if (entry.event.type === 'events.lost') {
        this.#kept = [];
        this.#keptBytes = 0;
        this.#since = entry.event.id; // what was kept before has no connection with what comes
      } else {
        this.#kept.push(entry);
        this.#keptBytes += entry.text.length;
      }
      this.#last = entry.event.id;
    }
    let gone = 0;
    for (; this.#keptBytes > KEPT_BYTES && gone < this.#kept.length; gone += 1) {
      this.#keptBytes -= this.#kept[gone]?.text.length ?? 0;
    }
    if (gone === 0) return;
    this.#since = this.#kept[gone - 1]?.event.id ?? this.#since;
    this.#kept = this.#kept.slice(gone);
  }

  /** With the position, so that whoever sees little of the log resumes near its end all the same. */
  #waitToBeat(): void {
    this.#beat = this.#parts.clock.after(BEAT_MS, () => {
      const text = `: still here\nid: ${this.#last}\n\n`;
      for (const [{ outlet }, position] of [...this.#joined]) outlet.beat(position ? ': still here\n\n' : text);
      this.#waitToBeat();
    });
  }
}

/** The last words of a stream that the server ends. */
export function endText(code: string): string {
  return `event: end\ndata: ${JSON.stringify({ code })}\n\n`;
}

function isAfter({ event, position }: Entry, than: Position): boolean {
  if (event.type === 'events.lost' || !position || !isSameLog(position, than)) return true;
  return comparePositions(position, than) > 0;
}
