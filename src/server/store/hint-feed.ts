// One client's stream of hints (Q3), as the bytes of an event stream. Hints are never truth, so nothing is queued: what has
// not been sent yet is gathered (a set of tickets, of streams, of namespaces that changed) and leaves as one event when the
// client takes more. A client that reads slowly hears less often; one that does not read costs no more than one gathering.
//
//   open: `ready`, then an event whenever something is gathered and the client takes more, a comment every BEAT_MS
//   ended by: the client (cancel), the server (draining, a token that is no longer good, a client that reads nothing for 45 s)
import type { Clock, TimerHandle } from '../../domain/clock.js';
import type { Problem } from '../problem.js';

/** The client takes silence of more than two of these for the end (half-open within 15 s). */
const BEAT_MS = 5_000;
/** A client that takes nothing for so many of them is gone, or was never there. */
const SILENT_BEATS = 9;
/** More than this is told as "somebody of yours, in this namespace": the client then wakes all its waiters. */
const MOST_GATHERED = 1_000;

export interface Gathered {
  readonly wake: Set<string>;
  readonly settled: Set<string>;
  /** Too many to name. */
  wakeAll: boolean;
  settledAny: boolean;
  changed: boolean;
  isUp: boolean | undefined;
  problem: Problem | undefined;
}

export interface HintFeedOptions {
  readonly clock: Clock;
  readonly onEnd: () => void;
  /** Ends the connection, where there is one. */
  readonly destroy?: (() => void) | undefined;
}

export class HintFeed {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: HintFeedOptions;
  readonly #gathered = new Map<string, Gathered>();
  readonly #encoder = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #beat: TimerHandle | undefined;
  #beatsUnread = 0;
  #isEnded = false;

  constructor(options: HintFeedOptions) {
    this.#options = options;
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
        this.#write('event: ready\ndata: {}\n\n');
        this.#beatLater();
      },
      pull: () => {
        this.#beatsUnread = 0;
        this.#flush();
      },
      cancel: () => this.#ended(),
    });
  }

  /** Gathers a hint of a namespace; it leaves as soon as the client takes it. */
  add(namespace: string, put: (gathered: Gathered) => void): void {
    if (this.#isEnded) return;
    const gathered = this.#gathered.get(namespace) ?? nothing();
    this.#gathered.set(namespace, gathered);
    put(gathered);
    if (gathered.wake.size > MOST_GATHERED) {
      gathered.wake.clear();
      gathered.wakeAll = true;
    }
    if (gathered.settled.size > MOST_GATHERED) {
      gathered.settled.clear();
      gathered.settledAny = true;
    }
    this.#flush();
  }

  /** The server ends it: the client comes back, here or to another server. */
  end(): void {
    if (this.#isEnded) return;
    this.#ended();
    this.#controller?.close();
  }

  #cut(): void {
    this.#ended();
    if (this.#options.destroy) this.#options.destroy();
    else this.#controller?.error(new Error('the client does not read'));
  }

  #ended(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#beat?.cancel();
    this.#gathered.clear();
    this.#options.onEnd();
  }

  #flush(): void {
    if (this.#isEnded || this.#gathered.size === 0 || (this.#controller?.desiredSize ?? 0) <= 0) return;
    const events = [...this.#gathered].map(([namespace, gathered]) => eventOf(namespace, gathered));
    this.#gathered.clear();
    this.#write(events.join(''));
  }

  #beatLater(): void {
    this.#beat = this.#options.clock.after(BEAT_MS, () => {
      if ((this.#controller?.desiredSize ?? 0) > 0) this.#write(':\n\n');
      else this.#beatsUnread += 1;
      if (this.#beatsUnread >= SILENT_BEATS) this.#cut();
      else this.#beatLater();
    });
  }

  #write(text: string): void {
    this.#controller?.enqueue(this.#encoder.encode(text));
  }
}

function nothing(): Gathered {
  return {
    wake: new Set(),
    settled: new Set(),
    wakeAll: false,
    settledAny: false,
    changed: false,
    isUp: undefined,
    problem: undefined,
  };
}

function eventOf(namespace: string, gathered: Gathered): string {
  const { wake, wakeAll, settled, settledAny, changed, isUp, problem } = gathered;
  const hint = {
    namespace,
    ...(wakeAll ? { wakeAll } : wake.size > 0 ? { wake: [...wake] } : {}),
    ...(settledAny ? { settled: [] } : settled.size > 0 ? { settled: [...settled] } : {}),
    ...(changed ? { changed } : {}),
    ...(isUp === undefined ? {} : { up: isUp }),
    ...(problem === undefined ? {} : { problem }),
  };
  return `event: hint\ndata: ${JSON.stringify(hint)}\n\n`;
}
