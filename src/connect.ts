// The composition root: a url or a store becomes a `Holdfast`. Options are checked, all of them, before anything is opened.
import { hostname } from 'node:os';
import { checkOptions, storeOptions, type ConnectOptions } from './connect-options.js';
import { checkNamespace, checkOwner } from './domain/check-request.js';
import type { Clock } from './domain/clock.js';
import { parseDuration } from './domain/duration.js';
import { invalid, shown } from './domain/errors.js';
import { LIMITS } from './domain/limits.js';
import { classifyLoad } from './domain/load.js';
import { checkTiming, defaultRequestTimeoutMs } from './domain/trust-window.js';
import { Holdfast } from './holdfast.js';
import { LeaseManager } from './manager/lease-manager.js';
import type { Observer } from './manager/observer.js';
import { parseWait, type Defaults } from './manager/plan.js';
import { answerWithin } from './manager/store-link.js';
import { EventBus } from './observe/event-bus.js';
import { hintLog } from './observe/hint-log.js';
import { checkLogger, silentLogger, type Logger } from './observe/logger.js';
import type { Metrics } from './observe/metrics.js';
import { isTelemetrySetUp, noMetrics, toAll } from './observe/no-metrics.js';
import type { Spans, Telemetry } from './observe/telemetry.js';
import { placeOf } from './sequence/spool/store-place.js';
import { AdaptiveTtl } from './services/adaptive-ttl.js';
import type { RunningServices } from './services/start-services.js';
import { defaultStoreUrl, openStore } from './stores/open-store.js';
import type { Store } from './stores/store.js';
import { systemClock } from './system-clock.js';

const DEFAULT_RENEW_AT = 0.6;
/** A store that does not answer is an error, never a hang. */
const FIRST_CALLS_MS = 10_000;

export type { ConnectOptions };

export async function connect(urlOrStore?: string | Store, options: ConnectOptions = {}): Promise<Holdfast> {
  checkOptions(options);
  const clock = options.clock ?? systemClock();
  const logger = options.logger === undefined ? silentLogger : checkLogger(options.logger);
  const given = defaultsOf(options, clock);
  const metrics = options.metrics === undefined ? noMetrics : await metricsIn(options.metrics);
  const telemetry = await openTelemetry(clock);
  const isGiven = typeof urlOrStore === 'object';
  const store = await storeOf(urlOrStore, options, clock);
  try {
    const owner = options.owner === undefined ? (store.actsAs ?? given.owner) : given.owner;
    const around = {
      options,
      clock,
      logger,
      metrics: toAll(metrics, telemetry?.metrics),
      telemetry,
      closes: !isGiven,
      place: isGiven ? undefined : placeOf(urlOrStore ?? defaultStoreUrl(), options.schema),
    };
    return await assemble(store, { ...given, owner }, around);
  } catch (error) {
    if (!isGiven) await store.close().catch(() => undefined);
    throw error;
  }
}

async function storeOf(urlOrStore: string | Store | undefined, options: ConnectOptions, clock: Clock): Promise<Store> {
  const { migrate = 'auto' } = options;
  if (urlOrStore === undefined || typeof urlOrStore === 'string') {
    const namespace = checkNamespace(options.namespace ?? 'default');
    const url = urlOrStore ?? defaultStoreUrl();
    return openStore(url, { ...storeOptions(options, url), clock, namespace, migrate });
  }
  if (typeof urlOrStore !== 'object' || typeof (urlOrStore as Partial<Store> | null)?.acquire !== 'function') {
    throw invalid(`connect takes a url such as sqlite:/path/leases.db, or a store, got ${shown(urlOrStore)}`);
  }
  storeOptions(options, undefined);
  return options.namespace === undefined ? urlOrStore : urlOrStore.within(options.namespace);
}

interface Around {
  readonly options: ConnectOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly telemetry: Telemetry | undefined;
  readonly closes: boolean;
  readonly place: string | undefined;
}

async function assemble(store: Store, given: GivenDefaults, around: Around): Promise<Holdfast> {
  const { options, clock, logger, metrics, telemetry, closes, place } = around;
  const ask = <T>(what: string, answer: Promise<T>): Promise<T> => answerWithin(clock, FIRST_CALLS_MS, what, answer);
  const { capabilities } = await ask('info', store.info());
  const known = await ask('settings', store.settings());
  const bus = new EventBus({ namespace: store.namespace, clock, logger });
  const adaptive = new AdaptiveTtl();
  let services: RunningServices | undefined;
  const defaults: Defaults = {
    ...given,
    minTtlMs: capabilities.minTtlMs,
    adaptiveTtlMs: (parts, present) => {
      const figures = { loopLagMs: services?.loopLagMs(), storeLatencyMs: manager.link.latencyMs, expiredBacklog: 0 };
      return adaptive.ttlMs(parts[0]?.name ?? '', present, classifyLoad(figures));
    },
  };
  const manager: LeaseManager = new LeaseManager(
    store,
    clock,
    defaults,
    observerOf(bus, metrics, adaptive, telemetry?.spans),
  );
  manager.link.know(known);
  if (options.services !== 'off') {
    const { startServices } = await import('./services/start-services.js');
    const heard = { onLag: (ms: number) => metrics.loopLag(ms), onSwept: (ms: number) => metrics.cleanup(ms) };
    services = startServices({ store, owner: given.owner, clock, logger, settings: known.settings, ...heard });
  }
  const unsubscribe = store.subscribe(hintLog(logger));
  const close = async (): Promise<void> => {
    unsubscribe();
    if (closes) await store.close();
  };
  return new Holdfast({ manager, bus, logger, services, place, close });
}

/** Where OpenTelemetry is set up, it is told the same; nothing of it is loaded where it is not. */
async function openTelemetry(clock: Clock): Promise<Telemetry | undefined> {
  if (!isTelemetrySetUp()) return undefined;
  const telemetry = await import('./observe/telemetry.js');
  return telemetry.openTelemetry(clock);
}

async function metricsIn(registry: unknown): Promise<Metrics> {
  const { openMetrics } = await import('./observe/metrics.js');
  return openMetrics(registry);
}

function observerOf(bus: EventBus, metrics: Metrics, adaptive: AdaptiveTtl, spans: Spans | undefined): Observer {
  return {
    wants: (type) => bus.isHeard(type),
    announce: (facts) => bus.announce(facts),
    acquisition: (result, waitMs) => metrics.acquisition(result, waitMs),
    renewals: (result, count) => metrics.renewals(result, count),
    conflict: () => metrics.conflict(),
    guardRejection: (guard) => metrics.guardRejection(guard),
    held: (count) => metrics.held(count),
    holdEnded: (parts, heldMs, leaseId) => {
      adaptive.observe(parts[0]?.name ?? '', heldMs);
      metrics.holdEnded(heldMs);
      spans?.letGo(leaseId);
    },
    storeCall: (operation, result, ms) => {
      metrics.storeCall(operation, result, ms);
      if (operation === 'renew') spans?.renewed(result, ms);
    },
    ...(spans ? { asking: (parts) => spans.asking(parts) } : {}),
    skew: (ms) => metrics.skew(ms),
  };
}

type GivenDefaults = Omit<Defaults, 'minTtlMs' | 'adaptiveTtlMs'>;

/** Durations that are given together are checked together (S14). */
function defaultsOf(options: ConnectOptions, clock: Clock): GivenDefaults {
  const { ttl, wait, renewAt = DEFAULT_RENEW_AT, requestTimeout } = options;
  if (typeof renewAt !== 'number' || !(renewAt >= 0.3 && renewAt <= 0.8))
    throw invalid(`renewAt is from 0.3 to 0.8 of the ttl, got ${shown(renewAt)}`);
  const ttlMs =
    ttl === undefined
      ? undefined
      : parseDuration(ttl, { name: 'ttl', minMs: LIMITS.minTtlAutoMs, maxMs: LIMITS.ttlMs });
  const requestTimeoutMs =
    requestTimeout === undefined
      ? undefined
      : parseDuration(requestTimeout, { name: 'requestTimeout', minMs: 1, maxMs: LIMITS.ttlMs });
  if (ttlMs !== undefined) {
    checkTiming({ ttlMs, renewAt, requestTimeoutMs: requestTimeoutMs ?? defaultRequestTimeoutMs(ttlMs) });
  }
  return {
    owner: options.owner === undefined ? instanceName(clock) : checkOwner(options.owner),
    ttlMs,
    waitMs: wait === undefined ? undefined : parseWait(wait),
    renewAt,
    requestTimeoutMs,
  };
}

/** Unique to one running instance. */
function instanceName(clock: Clock): string {
  const host = hostname()
    .replace(/[^A-Za-z0-9.-]/g, '')
    .slice(0, 64);
  return `${host === '' ? 'host' : host}-${process.pid}-${clock.randomText().slice(0, 6)}`;
}
