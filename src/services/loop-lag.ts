// How late timers fire: the event loop's lag, sampled twice a second and kept for the last half minute. A process whose
// loop is stalled cannot be told so by a timer, so the lag also counts what the sample under way is late by now.
import type { Clock, TimerHandle } from '../domain/clock.js';
import type { Logger } from '../observe/logger.js';
import type { Service } from './service.js';

const SAMPLE_MS = 500;
const SAMPLES = 60;

export interface LoopLagOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of each sample, in milliseconds. */
  readonly onSample?: ((lagMs: number) => void) | undefined;
}

export class LoopLag implements Service {
  readonly name = 'loop-lag';
  readonly #options: LoopLagOptions;
  #timer: TimerHandle | undefined;
  #dueAt = Infinity;
  #samples: number[] = [];

  constructor(options: LoopLagOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#timer) return;
    this.#samples = [];
    this.#wait();
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#dueAt = Infinity;
  }

  /** Over the last samples; `undefined` before there is one. */
  meanMs(): number | undefined {
    const known = this.#known();
    return known.length === 0 ? undefined : known.reduce((sum, lag) => sum + lag, 0) / known.length;
  }
  peakMs(): number | undefined {
    const known = this.#known();
    return known.length === 0 ? undefined : Math.max(...known);
  }

  #known(): readonly number[] {
    const lateMs = this.#options.clock.monotonic() - this.#dueAt;
    return lateMs > 0 ? [...this.#samples, lateMs] : this.#samples;
  }

  #wait(): void {
    const { clock } = this.#options;
    this.#dueAt = clock.monotonic() + SAMPLE_MS;
    this.#timer = clock.after(SAMPLE_MS, () => this.#sample());
  }

  #sample(): void {
    const { clock, logger, onSample } = this.#options;
    const lagMs = Math.max(0, clock.monotonic() - this.#dueAt);
    this.#samples.push(lagMs);
    if (this.#samples.length > SAMPLES) this.#samples.shift();
    this.#wait();
    try {
      onSample?.(lagMs);
    } catch (error) {
      logger.error({ err: error, service: this.name }, 'a listener of the loop lag failed');
    }
  }
}
