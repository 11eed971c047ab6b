// Everything a server watches by (O2, O3), put together: metrics with their follower of the log, and alerts. `serve` makes it
// before it connects, gives `registry` to `connect`, starts it, and stops it before the store is closed.
import type { EventFacts } from '../domain/events.js';
import type { View } from '../observe/namespace-figures.js';
import { isTelemetrySetUp } from '../observe/no-metrics.js';
import { createServerMetrics, type ServerMetrics } from '../observe/server-metrics.js';
import type { Store } from '../stores/store.js';
import { AlertMonitor, type AlertView } from './alert-monitor.js';
import { boundedStore } from './bounded-store.js';
import { FigureSampler, SAMPLE_EVERY_MS, type FigureSample } from './figure-sampler.js';
import { metricsFollower } from './metrics-follower.js';
import { StoredNote } from './stored-note.js';
import { Supervisor } from './supervisor.js';
import type { ServiceContext } from './turn-service.js';

export interface ObserveOptions extends Pick<ServiceContext, 'owner' | 'clock' | 'logger'> {
  readonly store: Store;
  readonly webhookSecret?: string | undefined;
}

export interface Observing {
  /** For `connect`. */
  readonly registry: ServerMetrics['registry'];
  readonly contentType: string;
  /** The body of /metrics. */
  text(): Promise<string>;
  alerts(): Promise<AlertView[]>;
  /** What this server sampled later than `after` (store clock), at most of the last hour. */
  figures(after: number): Figures;
  /** Told of `alert.raised` and `alert.cleared`; nobody is unless it is set. */
  onAlert: (facts: EventFacts) => void;
  start(): void;
  stop(): Promise<void>;
}

export interface Figures {
  /** Whose samples these are: those of another process do not go on from them. */
  readonly server: string;
  readonly everyMs: number;
  readonly items: readonly FigureSample[];
}

export async function observe(options: ObserveOptions): Promise<Observing> {
  const { owner, clock, logger, webhookSecret } = options;
  const store = boundedStore(options.store, clock);
  const metrics = await createServerMetrics({ store, note: new StoredNote(store, 'metrics', clock), clock });
  const monitor = new AlertMonitor({
    store,
    owner,
    clock,
    logger,
    webhookSecret,
    figures: async () => ({
      totals: metrics.follower.totals,
      process: await metrics.counts(),
      gaps: metrics.gaps,
    }),
    announce: (facts) => observing.onAlert(facts),
  });
  const sampler = new FigureSampler({
    clock,
    logger,
    figures: async () => ({ totals: metrics.follower.totals, process: await metrics.counts() }),
    storeNow: async () => (await store.time()).now,
  });
  const endTelemetry = await telemetryOf(() => metrics.view());
  const follower = metricsFollower({ store, owner, clock, logger }, metrics);
  const supervisor = new Supervisor([follower, monitor, sampler], logger);
  const observing: Observing = {
    registry: metrics.registry,
    contentType: metrics.contentType,
    text: () => metrics.text(),
    alerts: () => monitor.alerts(),
    figures: (after) => ({ server: owner, everyMs: SAMPLE_EVERY_MS, items: sampler.since(after) }),
    onAlert: () => undefined,
    start: () => supervisor.start(),
    stop: async () => {
      endTelemetry();
      await supervisor.stop();
    },
  };
  return observing;
}

/** The same figures for OpenTelemetry, where it is set up. */
async function telemetryOf(view: () => View): Promise<() => void> {
  if (!isTelemetrySetUp()) return () => undefined;
  const { observeNamespace } = await import('../observe/telemetry.js');
  return observeNamespace(view);
}
