// The contract of every background service (O1), and the one class that keeps it for what happens again and again.
//
//   stopped  --start-->  waiting   a timer is set
//   waiting  --timer-->  ticking   the tick has a signal
//   ticking  --done--->  waiting   for the interval, or after an error for 1 s doubling to 1 min
//   waiting, ticking  --stop-->  stopped   the timer is cancelled, the signal aborted, the tick waited for
//
// `start` when started and `stop` when stopped do nothing. `stop` is done when no tick runs any more; a `start` that comes
// before that begins when the old tick is over, so ticks never overlap. Errors go to the logger and nowhere else (S12).
import type { Clock, TimerHandle } from '../domain/clock.js';
import type { Logger } from '../observe/logger.js';

export interface Service {
  readonly name: string;
  start(): void;
  /** Resolves when truly stopped, and never rejects. */
  stop(): Promise<void>;
}

export const FIRST_RETRY_MS = 1_000;
export const LAST_RETRY_MS = 60_000;
/** An interval is up to this share shorter or longer, so that processes started together drift apart. */
export const JITTER_SHARE = 0.05;

export interface PeriodicOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Asked before each wait, counted from the end of a tick to the start of the next. */
  readonly intervalMs: () => number;
  /** Ends soon after its signal aborts: `stop` waits for it. */
  readonly tick: (signal: AbortSignal) => Promise<void>;
}

export class PeriodicService implements Service {
  readonly name: string;
  readonly #options: PeriodicOptions;
  /** From a `start` to its `stop`; aborted by the latter. */
  #life: AbortController | undefined;
  #timer: TimerHandle | undefined;
  /** The tick under way, of this life or of one that was stopped. */
  #ticking: Promise<void> | undefined;
  #failures = 0;

  constructor(options: PeriodicOptions) {
    this.name = options.name;
    this.#options = options;
  }

  start(): void {
    if (this.#life) return;
    this.#life = new AbortController();
    this.#failures = 0;
    // Somewhere within the first interval: on average a process ticks as often as it lives intervals, however short.
    if (!this.#ticking) this.#wait(this.#intervalMs() * this.#options.clock.random());
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#life?.abort();
    this.#life = undefined;
    await this.#ticking;
  }

  #wait(ms: number): void {
    this.#timer = this.#options.clock.after(ms, () => {
      this.#timer = undefined;
      const signal = this.#life?.signal;
      if (signal) this.#ticking = this.#tick(signal);
    });
  }

  /** Never rejects. */
  async #tick(signal: AbortSignal): Promise<void> {
    try {
      await this.#options.tick(signal);
      this.#failures = 0;
    } catch (error) {
      if (signal.aborted) this.#options.logger.debug({ err: error, service: this.name }, 'service stopped in its tick');
      else this.#failed(error);
    }
    this.#ticking = undefined;
    if (!this.#life) return;
    const isFirst = this.#life.signal !== signal;
    this.#wait(isFirst ? this.#intervalMs() * this.#options.clock.random() : this.#pauseMs());
  }

  #failed(error: unknown): void {
    this.#failures += 1;
    const facts = { err: error, service: this.name, failures: this.#failures, retryMs: this.#pauseMs() };
    this.#options.logger.error(facts, 'service failed; it goes on');
  }

  #pauseMs(): number {
    if (this.#failures > 0) return Math.min(FIRST_RETRY_MS * 2 ** (this.#failures - 1), LAST_RETRY_MS);
    return this.#intervalMs() * (1 + JITTER_SHARE * (2 * this.#options.clock.random() - 1));
  }

  /** An interval that makes no sense becomes the longest retry: slow is better than a loop without a pause. */
  #intervalMs(): number {
    try {
      const ms = this.#options.intervalMs();
      if (Number.isFinite(ms) && ms > 0) return ms;
    } catch (error) {
      this.#options.logger.error({ err: error, service: this.name }, 'service does not know its interval');
    }
    return LAST_RETRY_MS;
  }
}

/** A pause that ends early when the signal aborts. It never rejects: whoever pauses looks at the signal anyway. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const done = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(ms, done);
    signal.addEventListener('abort', done);
  });
}
