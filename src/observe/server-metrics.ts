// The metrics of a server (O2): figures of the namespace, which follow the log and are the same on every server, and those of
// this process, which it alone can know. One text for both; where a name stands in both, the namespace's is shown.
//
// A scrape reads what the log has since the last one, the epoch and the pool: never a table. What does not answer within its
// time is left at its last value, so that a store that is away does not take the other figures with it.
import type { Registry } from 'prom-client';
import type { Clock } from '../domain/clock.js';
import type { StreamFigures } from '../domain/sequence.js';
import { LogFollower, type FollowedStore, type Note } from './log-follower.js';
import { loadPromClient } from './metrics.js';
import { registerFigures, type View } from './namespace-figures.js';

/** As much of a store as a scrape takes. */
export interface MeasuredStore extends FollowedStore {
  time(): Promise<{ readonly epoch: number }>;
  info(): Promise<{ readonly details: Readonly<Record<string, unknown>> }>;
  readonly sequences?: StreamSource | undefined;
}
interface StreamSource {
  streams(query: {
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<{ readonly streams: readonly StreamFigures[]; readonly more: boolean }>;
}

export interface ServerMetricsOptions {
  readonly store: MeasuredStore;
  readonly note: Note;
  readonly clock: Clock;
}

/** What this process has counted so far, for the alerts. */
export interface ProcessCounts {
  readonly refused: number;
  readonly errors: number;
  readonly renewals: number;
  readonly renewalFailures: number;
  readonly conflicts: number;
  readonly skewMs: number;
}

const ANSWER_MS = 1_000;
const STREAMS_PAGE = 100;
const MAX_STREAM_PAGES = 100;
const POOL_STATES = { inUse: 'in_use', idle: 'idle', waiting: 'waiting' } as const;

export class ServerMetrics {
  /** For `connect`: what this process counts goes in here. */
  readonly registry: Registry;
  readonly follower: LogFollower;
  readonly contentType: string;
  readonly #namespace: Registry;
  readonly #options: ServerMetricsOptions;
  #view: View = { totals: undefined, epoch: undefined, gaps: undefined, pool: {}, refused: 0, errors: 0 };

  constructor(registries: { readonly process: Registry; readonly namespace: Registry }, options: ServerMetricsOptions) {
    this.registry = registries.process;
    this.#namespace = registries.namespace;
    this.contentType = registries.process.contentType;
    this.#options = options;
    const { store, note, clock } = options;
    this.follower = new LogFollower({ store, note, newBase: () => clock.randomText().slice(0, 8) });
    registerFigures(this.#namespace, () => this.view());
  }

  /** Everything, in the text format of Prometheus. Never rejects for a store that is away. */
  async text(): Promise<string> {
    const isFirst = this.#view.gaps === undefined;
    const [counts] = await Promise.all([
      this.counts(),
      this.#within(this.follower.catchUp()),
      this.#look(),
      isFirst ? this.#countGaps() : undefined,
    ]);
    this.#view = { ...this.#view, refused: counts.refused, errors: counts.errors };
    const own = this.registry.getMetricsAsArray().filter(({ name }) => !this.#namespace.getSingleMetric(name));
    const parts = await Promise.all([
      this.#namespace.metrics(),
      ...own.map(async ({ name }) => `${await this.registry.getSingleMetricAsString(name)}\n`),
    ]);
    return parts.join('\n');
  }

  /** What the figures are made of now, without a call of the store. */
  view(): View {
    return { ...this.#view, totals: this.follower.totals };
  }

  /** Figures that are read now and then instead of being followed. */
  async refresh(): Promise<void> {
    await this.#look();
    await this.#countGaps();
  }

  async #look(): Promise<void> {
    const { store } = this.#options;
    const [time, info] = await Promise.all([this.#within(store.time()), this.#within(store.info())]);
    const { epoch, pool } = this.#view;
    this.#view = { ...this.#view, epoch: time?.epoch ?? epoch, pool: info ? poolOf(info.details) : pool };
  }

  /** One row a stream, whatever it holds. */
  async #countGaps(): Promise<void> {
    const { sequences } = this.#options.store;
    if (!sequences) return;
    let gaps = 0;
    let after: string | undefined;
    for (let page = 0; page < MAX_STREAM_PAGES; page += 1) {
      const answer = await this.#within(sequences.streams({ after, limit: STREAMS_PAGE }));
      if (!answer) return; // the last value stands
      for (const stream of answer.streams) gaps += stream.gaps;
      after = answer.streams.at(-1)?.name;
      if (!answer.more || after === undefined) break;
    }
    this.#view = { ...this.#view, gaps };
  }
  get gaps(): number {
    return this.#view.gaps ?? 0;
  }

  async counts(): Promise<ProcessCounts> {
    const [acquired, renewed, conflicts, skew] = await Promise.all(
      ['lease_acquisitions_total', 'lease_renewals_total', 'lease_conflicts_total', 'lease_clock_skew_seconds'].map(
        (name) => this.#values(name),
      ),
    );
    const renewals = (renewed?.get('success') ?? 0) + (renewed?.get('lost') ?? 0) + (renewed?.get('error') ?? 0);
    return {
      refused: acquired?.get('conflict') ?? 0,
      errors: acquired?.get('error') ?? 0,
      renewals,
      renewalFailures: renewals - (renewed?.get('success') ?? 0),
      conflicts: conflicts?.get('') ?? 0,
      skewMs: (skew?.get('') ?? 0) * 1_000,
    };
  }

  /** By the label `result`; under '' where there is none. */
  async #values(name: string): Promise<Map<string, number>> {
    const metric = this.registry.getSingleMetric(name);
    const { values } = metric ? await metric.get() : { values: [] };
    return new Map(values.map(({ labels, value }) => [(labels as { result?: string }).result ?? '', value]));
  }

  /** Undefined after a second, or when it failed: the last value stands. */
  #within<T>(answer: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.after(ANSWER_MS, () => resolve(undefined), true);
      const done = (value: T | undefined): void => {
        timer.cancel();
        resolve(value);
      };
      answer.then(done, () => done(undefined));
    });
  }
}

export async function createServerMetrics(options: ServerMetricsOptions): Promise<ServerMetrics> {
  const { Registry } = await loadPromClient();
  return new ServerMetrics({ process: new Registry(), namespace: new Registry() }, options);
}

function poolOf(details: Readonly<Record<string, unknown>>): Record<string, number> {
  const known = Object.entries(POOL_STATES).flatMap(([key, state]) => {
    const count = details[key];
    return typeof count === 'number' ? [[state, count] as const] : [];
  });
  return Object.fromEntries(known);
}
