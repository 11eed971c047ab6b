// The composition root: a url or a store becomes a `Holdfast`. Options are checked here, all of them, before anything is
// opened; what does not belong to the chosen store is refused instead of ignored.
import { hostname } from 'node:os';
import { checkNamespace, checkOwner } from './domain/check-request.js';
import type { Clock } from './domain/clock.js';
import { parseDuration, type Duration } from './domain/duration.js';
import { invalid, shown } from './domain/errors.js';
import { LIMITS } from './domain/limits.js';
import { classifyLoad } from './domain/load.js';
import { checkTiming, defaultRequestTimeoutMs } from './domain/trust-window.js';
import { Holdfast } from './holdfast.js';
import type { Wait } from './manager/face.js';
import { LeaseManager } from './manager/lease-manager.js';
import type { Observer } from './manager/observer.js';
import { parseWait, type Defaults } from './manager/plan.js';
import { answerWithin } from './manager/store-link.js';
import { EventBus } from './observe/event-bus.js';
import { checkLogger, silentLogger, type Logger } from './observe/logger.js';
import type { Metrics } from './observe/metrics.js';
import { noMetrics } from './observe/no-metrics.js';
import { AdaptiveTtl } from './services/adaptive-ttl.js';
import type { RunningServices } from './services/start-services.js';
import { defaultStoreUrl, openStore } from './stores/open-store.js';
import type { Store } from './stores/store.js';
import { systemClock } from './system-clock.js';

export interface ConnectOptions {
  namespace?: string;
  /** Who holds; by default unique to this instance: host-pid-random. */
  owner?: string;
  ttl?: Duration;
  wait?: Wait;
  /** When renewal is due, as a share of the ttl: 0.6, from 0.3 to 0.8. */
  renewAt?: number;
  requestTimeout?: Duration;
  services?: 'auto' | 'off';
  migrate?: 'auto' | 'check';
  /** A prom-client registry. */
  metrics?: unknown;
  /** debug, info, warn and error(facts, message), as pino has them. */
  logger?: unknown;
  clock?: Clock;
  /** For a server: `http:` stores. */
  token?: string;
  /** For PostgreSQL. */
  schema?: string;
  poolSize?: number;
  poolTimeout?: Duration;
  listenUrl?: string;
  /** The caller's own pool or client, for PostgreSQL and Redis. */
  client?: unknown;
}

const KNOWN = [
  ...['namespace', 'owner', 'ttl', 'wait', 'renewAt', 'requestTimeout', 'services', 'migrate', 'metrics'],
  ...['logger', 'clock', 'token', 'schema', 'poolSize', 'poolTimeout', 'listenUrl', 'client'],
];
/** Options of stores that this version does not have yet. */
const FOREIGN: Readonly<Record<string, string>> = {
  token: 'http: stores',
  schema: 'PostgreSQL',
  poolSize: 'PostgreSQL',
  poolTimeout: 'PostgreSQL',
  listenUrl: 'PostgreSQL',
  client: 'PostgreSQL and Redis',
};
const DEFAULT_RENEW_AT = 0.6;
/** A store that does not answer is an error, never a hang. */
const FIRST_CALLS_MS = 10_000;

export async function connect(urlOrStore?: string | Store, options: ConnectOptions = {}): Promise<Holdfast> {
  checkKeys(options);
  const clock = options.clock ?? systemClock();
  const logger = options.logger === undefined ? silentLogger : checkLogger(options.logger);
  const given = defaultsOf(options, clock);
  const metrics = options.metrics === undefined ? noMetrics : await metricsIn(options.metrics);
  const isGiven = typeof urlOrStore === 'object';
  const store = await storeOf(urlOrStore, options, clock);
  try {
    return await assemble(store, given, { options, clock, logger, metrics, closes: !isGiven });
  } catch (error) {
    if (!isGiven) await store.close().catch(() => undefined);
    throw error;
  }
}

async function storeOf(urlOrStore: string | Store | undefined, options: ConnectOptions, clock: Clock): Promise<Store> {
  const { migrate = 'auto' } = options;
  if (urlOrStore === undefined || typeof urlOrStore === 'string') {
    const namespace = checkNamespace(options.namespace ?? 'default');
    return openStore(urlOrStore ?? defaultStoreUrl(), { clock, namespace, migrate });
  }
  if (typeof urlOrStore !== 'object' || typeof (urlOrStore as Partial<Store> | null)?.acquire !== 'function') {
    throw invalid(`connect takes a url such as sqlite:/path/leases.db, or a store, got ${shown(urlOrStore)}`);
  }
  return options.namespace === undefined ? urlOrStore : urlOrStore.within(options.namespace);
}

interface Around {
  readonly options: ConnectOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly closes: boolean;
}

async function assemble(store: Store, given: GivenDefaults, around: Around): Promise<Holdfast> {
  const { options, clock, logger, metrics, closes } = around;
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
  const manager: LeaseManager = new LeaseManager(store, clock, defaults, observerOf(bus, metrics, adaptive));
  manager.link.know(known);
  if (options.services !== 'off') {
    const { startServices } = await import('./services/start-services.js');
    const onLag = (ms: number): void => metrics.loopLag(ms);
    services = startServices({ store, owner: given.owner, clock, logger, settings: known.settings, onLag });
  }
  return new Holdfast({ manager, bus, logger, services, close: async () => (closes ? store.close() : undefined) });
}

async function metricsIn(registry: unknown): Promise<Metrics> {
  const { openMetrics } = await import('./observe/metrics.js');
  return openMetrics(registry);
}

function observerOf(bus: EventBus, metrics: Metrics, adaptive: AdaptiveTtl): Observer {
  return {
    wants: (type) => bus.isHeard(type),
    announce: (facts) => bus.announce(facts),
    acquisition: (result, waitMs) => metrics.acquisition(result, waitMs),
    renewals: (result, count) => metrics.renewals(result, count),
    conflict: () => metrics.conflict(),
    held: (count) => metrics.held(count),
    holdEnded: (parts, heldMs) => {
      adaptive.observe(parts[0]?.name ?? '', heldMs);
      metrics.holdEnded(heldMs);
    },
    storeCall: (operation, result, ms) => metrics.storeCall(operation, result, ms),
    skew: (ms) => metrics.skew(ms),
  };
}

function checkKeys(options: ConnectOptions): void {
  if (typeof options !== 'object' || options === null) throw invalid(`options are an object, got ${shown(options)}`);
  for (const [key, value] of Object.entries(options)) {
    if (!KNOWN.includes(key)) throw invalid(`unknown option ${shown(key)}: known are ${KNOWN.join(', ')}`);
    const owner = FOREIGN[key];
    if (owner !== undefined && value !== undefined) {
      throw invalid(`${key} is for ${owner}, which this version does not have: leave it out`);
    }
  }
  oneOf(options.services, 'services', ['auto', 'off']);
  oneOf(options.migrate, 'migrate', ['auto', 'check']);
  checkClock(options.clock);
}

function checkClock(clock: Partial<Clock> | undefined): void {
  const isClock = typeof clock?.monotonic === 'function' && typeof clock.after === 'function';
  if (clock === undefined || isClock) return;
  throw invalid(`clock is an object such as systemClock() answers, got ${shown(clock)}`);
}

function oneOf(value: unknown, name: string, allowed: readonly string[]): void {
  if (value === undefined || allowed.includes(value as string)) return;
  throw invalid(`${name} is ${allowed.map((one) => `'${one}'`).join(' or ')}, got ${shown(value)}`);
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
