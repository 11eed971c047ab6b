// The last hour in figures: running sums of the namespace and of this process, taken every few seconds and kept in memory, so
// that a page opened in the middle of the night shows at once how it came to this.
//
// Invariant: samples are in order of the store's clock, and there are never more than an hour's worth. While the store is away
// there is no sample: whoever draws them sees the hole. A restart begins anew.
import type { Clock } from '../domain/clock.js';
import type { Logger } from '../observe/logger.js';
import type { LogTotals } from '../observe/log-totals.js';
import type { ProcessCounts } from '../observe/server-metrics.js';
import { PeriodicService, type Service } from './service.js';

export const SAMPLE_EVERY_MS = 5_000;
export const MOST_SAMPLES = 3_600_000 / SAMPLE_EVERY_MS;

/** As of `at`, store clock. `waiting` and `held` are counts of that moment, everything else only grows. */
export interface FigureSample {
  readonly at: number;
  readonly acquired: number;
  /** Told to come back, by this server: a refusal leaves nothing in the log. */
  readonly refused: number;
  /** Waits that ended in a timeout or a deadlock; errors of this server. */
  readonly failed: number;
  readonly waiting: number;
  readonly held: number;
  /** Of leases that are renewed through this server. */
  readonly renewed: number;
  readonly renewalsFailed: number;
  /** Leases and leased numbers. */
  readonly expired: number;
  /** How long after their end the expired ones were written down, all together. */
  readonly overrunMs: number;
}

export interface FigureSource {
  /** Undefined while the log is not followed yet. */
  readonly totals: LogTotals | undefined;
  readonly process: ProcessCounts;
}

export interface SamplerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly figures: () => Promise<FigureSource>;
  /** The store's clock. */
  readonly storeNow: () => Promise<number>;
}

export class FigureSampler implements Service {
  readonly name = 'figures';
  readonly #options: SamplerOptions;
  readonly #periodic: PeriodicService;
  readonly #samples: FigureSample[] = [];

  constructor(options: SamplerOptions) {
    this.#options = options;
    const { clock, logger } = options;
    const { name } = this;
    this.#periodic = new PeriodicService({
      ...{ name, clock, logger },
      intervalMs: () => SAMPLE_EVERY_MS,
      tick: () => this.#take(),
    });
  }

  start(): void {
    this.#periodic.start();
  }

  stop(): Promise<void> {
    return this.#periodic.stop();
  }

  /** Those later than this moment, oldest first. */
  since(after: number): readonly FigureSample[] {
    const first = this.#samples.findIndex(({ at }) => at > after);
    return first === -1 ? [] : this.#samples.slice(first);
  }

  async #take(): Promise<void> {
    const at = await this.#options.storeNow();
    const source = await this.#options.figures();
    const last = this.#samples.at(-1);
    if (!source.totals || (last && at <= last.at)) return;
    this.#samples.push(sampleOf(at, source.totals, source.process));
    if (this.#samples.length > MOST_SAMPLES) this.#samples.shift();
  }
}

export function sampleOf(at: number, totals: LogTotals, counts: ProcessCounts): FigureSample {
  let overrunMs = 0;
  for (const { overrun } of totals.kinds.values()) overrunMs += overrun.sumMs;
  return {
    at,
    acquired: totals.acquired,
    refused: counts.refused,
    failed: totals.timeouts + totals.deadlocks + counts.errors,
    waiting: totals.pending,
    held: totals.active,
    renewed: counts.renewals - counts.renewalFailures,
    renewalsFailed: counts.renewalFailures,
    expired: totals.expired,
    overrunMs: Math.round(overrunMs),
  };
}
