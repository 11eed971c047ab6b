// The one event stream over which a server sends its hints (Q3), for all namespaces of a store. It is opened when there is
// something to hear, comes back by itself, and is opened anew when more is to be heard.
//
//   off ──wanted──▶ opening ──`ready`──▶ hearing ──nothing wanted──▶ off
//                    ▲  └─ refused, late ─▶ resting ◀─ cut, or silent for SILENCE_MS ─┘
//                    └───────── pause ────────┘
//
// `up` is told at every `ready`: what was said before was not heard, so whoever waits asks once. `down` is told once when
// hearing ends by itself or cannot begin. Nothing here throws into the void (S12) or keeps a process alive.
import type { Clock, TimerHandle } from '../../domain/clock.js';
import type { LeaseError } from '../../domain/errors.js';
import { EventLines } from './event-lines.js';
import { translateError } from './translate-error.js';
import type { OpenStream, Transport } from './transport.js';

const OPEN_WITHIN_MS = 5_000;
/** The server sends something every 5 s. */
const SILENCE_MS = 12_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** After a refusal: tokens and settings change, but seldom. */
const REFUSED_PAUSE_MS = 30_000;

export interface StreamEvents {
  hint(hint: unknown): void;
  up(): void;
  down(error: LeaseError): void;
}

export class HintStream {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #events: StreamEvents;
  /** The query of what is to be heard; '' for nothing. */
  #wanted = '';
  /** Marks one attempt: what belongs to another is over. */
  #attempt = 0;
  #end: (() => void) | undefined;
  #timer: TimerHandle | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #isHearing = false;

  constructor(transport: Transport, clock: Clock, events: StreamEvents) {
    this.#transport = transport;
    this.#clock = clock;
    this.#events = events;
  }

  get isHearing(): boolean {
    return this.#isHearing;
  }

  want(query: string): void {
    if (query === this.#wanted) return;
    this.#wanted = query;
    this.#stop();
    if (query !== '') this.#open();
  }

  close(): void {
    this.#wanted = '';
    this.#stop();
  }

  #stop(): void {
    this.#attempt += 1;
    this.#isHearing = false;
    this.#timer?.cancel();
    this.#end?.();
    this.#end = undefined;
  }

  #open(): void {
    this.#attempt += 1;
    const attempt = this.#attempt;
    const { opened, cancel } = this.#transport.stream(`/v1/store/hints?${this.#wanted}`, OPEN_WITHIN_MS);
    this.#end = cancel;
    opened.then(
      (stream) => {
        if (attempt === this.#attempt) this.#read(stream, attempt);
        else stream.close();
      },
      (error: unknown) => this.#fail(attempt, error),
    );
  }

  #read({ response, close }: OpenStream, attempt: number): void {
    this.#end = close;
    const lines = new EventLines((event, data) => this.#hear(attempt, event, data));
    this.#expectSound(attempt);
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      if (attempt !== this.#attempt) return;
      this.#expectSound(attempt);
      try {
        lines.add(text);
      } catch (error) {
        this.#fail(attempt, error);
      }
    });
    response.on('close', () => this.#fail(attempt, new Error('the server ended the stream of hints')));
  }

  #expectSound(attempt: number): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(SILENCE_MS, () =>
      this.#fail(attempt, new Error('the stream of hints fell silent')),
    );
  }

  #hear(attempt: number, event: string, data: string): void {
    if (attempt !== this.#attempt) return;
    if (event === 'ready') {
      this.#isHearing = true;
      this.#pauseMs = FIRST_PAUSE_MS;
      this.#events.up();
    } else if (event === 'hint') {
      this.#events.hint(JSON.parse(data));
    }
  }

  #fail(attempt: number, cause: unknown): void {
    if (attempt !== this.#attempt) return;
    this.#stop();
    const error = translateError(cause, this.#transport.where);
    this.#events.down(error);
    const pauseMs = error.retryable ? this.#pauseMs * (0.5 + this.#clock.random() / 2) : REFUSED_PAUSE_MS;
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    this.#timer = this.#clock.after(pauseMs, () => this.#open());
  }
}
