// What this process counts and measures (O2), written into the caller's own prom-client registry under fixed names.
// Nobody's resource names are in a label. prom-client is loaded when metrics are asked for and never before.
//
// Several managers may share a registry: a metric that is there is used again, and the leases they hold add up.
import type * as promClient from 'prom-client';
import type { Counter, CounterConfiguration, Gauge, Histogram, Registry } from 'prom-client';
import { invalid, LeaseError, shown } from '../domain/errors.js';
import { HOLD_SECONDS } from './log-totals.js';

export const ACQUISITION_RESULTS = ['success', 'conflict', 'timeout', 'aborted', 'deadlock', 'error'] as const;
export type AcquisitionResult = (typeof ACQUISITION_RESULTS)[number];
/** `lost`: a definite no. `limit`: `maxRenewals` or `maxHold` was reached. `error`: no answer, or an error. */
export const RENEWAL_RESULTS = ['success', 'lost', 'limit', 'error'] as const;
export type RenewalResult = (typeof RENEWAL_RESULTS)[number];

export interface Metrics {
  /** One acquire came to its end, `waitMs` after it was called. */
  acquisition(result: AcquisitionResult, waitMs: number): void;
  renewals(result: RenewalResult, count: number): void;
  /** A stale epoch was met by a renewal, a release or a guard. */
  conflict(): void;
  /** A guard refused a write. */
  guardRejection(guard: string): void;
  /** How many leases this manager holds now. */
  held(count: number): void;
  /** A lease is no longer held, `ms` after its grant. */
  holdEnded(ms: number): void;
  storeCall(operation: string, result: 'ok' | 'error', ms: number): void;
  /** This machine's wall clock against the store's. */
  skew(ms: number): void;
  loopLag(ms: number): void;
  /** One sweep of what lapsed came to its end. */
  cleanup(ms: number): void;
}

/** An ordinary refusal is no failure, nor is the caller's own abort. */
export const ACQUISITION_FAILURES: ReadonlySet<AcquisitionResult> = new Set<AcquisitionResult>([
  'timeout',
  'deadlock',
  'error',
]);

const CLEANUP_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60];
const WAIT_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 30, 120, 600];
const STORE_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export async function openMetrics(registry: unknown): Promise<Metrics> {
  const target = checkRegistry(registry);
  const prom = await loadPromClient();
  const counter = <T extends string>(name: string, help: string, labelNames: T[] = []): Counter<T> =>
    metricIn(target, name, 'inc', (options) => new prom.Counter(options), { help, labelNames });
  const gauge = <T extends string>(name: string, help: string, labelNames: T[] = []): Gauge<T> =>
    metricIn(target, name, 'set', (options) => new prom.Gauge(options), { help, labelNames });
  const histogram = <T extends string>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: T[] = [],
  ): Histogram<T> =>
    metricIn(target, name, 'observe', (options) => new prom.Histogram({ ...options, buckets }), { help, labelNames });

  const acquisitions = counter('lease_acquisitions_total', 'Acquires by how they ended.', ['result']);
  const failures = counter('lease_acquisition_failures_total', 'Acquires that ended in timeout, deadlock or error.');
  const waits = histogram(
    'lease_acquisition_wait_seconds',
    'From the call of an acquire to its end, whatever the end was.',
    WAIT_BUCKETS,
  );
  const renewals = counter('lease_renewals_total', 'Renewals by how they ended.', ['result']);
  const conflicts = counter(
    'lease_conflicts_total',
    'Stale epochs met by renewals, releases and guards; healthy is 0.',
  );
  const rejections = counter('guard_rejections_total', 'Writes refused by a guard.', ['guard']);
  const active = gauge('active_leases', 'Leases held by this process.', ['status']);
  const holds = histogram('lease_hold_seconds', 'How long leases of this process were held.', HOLD_SECONDS);
  const storeCalls = histogram('store_operation_seconds', 'Calls of the store.', STORE_BUCKETS, [
    'operation',
    'result',
  ]);
  const clockSkew = gauge('lease_clock_skew_seconds', 'Wall clock of this machine minus clock of the store.');
  const lag = gauge('lease_event_loop_lag_seconds', 'How late timers of this process fire.');

  const cleanups = histogram('cleanup_duration_seconds', 'Sweeps of what lapsed, by this process.', CLEANUP_BUCKETS);

  // A series that is there from the start has a rate from the start.
  for (const result of ACQUISITION_RESULTS) acquisitions.inc({ result }, 0);
  for (const result of RENEWAL_RESULTS) renewals.inc({ result }, 0);
  active.inc({ status: 'active' }, 0);
  let heldBefore = 0;
  return {
    acquisition: (result, waitMs) => {
      acquisitions.inc({ result });
      if (ACQUISITION_FAILURES.has(result)) failures.inc();
      waits.observe(waitMs / 1_000);
    },
    renewals: (result, count) => renewals.inc({ result }, count),
    conflict: () => conflicts.inc(),
    guardRejection: (guard) => rejections.inc({ guard }),
    held: (count) => {
      active.inc({ status: 'active' }, count - heldBefore);
      heldBefore = count;
    },
    holdEnded: (ms) => holds.observe(ms / 1_000),
    storeCall: (operation, result, ms) => storeCalls.observe({ operation, result }, ms / 1_000),
    skew: (ms) => clockSkew.set(ms / 1_000),
    loopLag: (ms) => lag.set(ms / 1_000),
    cleanup: (ms) => cleanups.observe(ms / 1_000),
  };
}

function checkRegistry(value: unknown): Registry {
  const given = value as Partial<Registry> | null | undefined;
  if (typeof given?.registerMetric === 'function' && typeof given.getSingleMetric === 'function') {
    return given as Registry;
  }
  throw invalid(`metrics takes a Registry of prom-client (its \`register\`, or new Registry()), got ${shown(value)}`);
}

export async function loadPromClient(): Promise<typeof promClient> {
  try {
    return await import('prom-client');
  } catch (cause) {
    throw new LeaseError('INVALID_ARGUMENT', 'metrics needs prom-client: npm install prom-client', { cause });
  }
}

type Options<T extends string> = Pick<CounterConfiguration<T>, 'name' | 'help' | 'labelNames' | 'registers'>;

/** The metric of that name in the registry, or a new one. `method` tells a counter from a gauge from a histogram. */
function metricIn<M extends object, T extends string>(
  registry: Registry,
  name: string,
  method: 'inc' | 'set' | 'observe',
  make: (options: Options<T>) => M,
  { help, labelNames }: { help: string; labelNames: T[] },
): M {
  const found: unknown = registry.getSingleMetric(name);
  if (found === undefined) return make({ name, help, labelNames, registers: [registry] });
  const kind = found as Record<string, unknown> & { labelNames?: readonly string[] };
  const isSame = typeof kind[method] === 'function' && labelNames.every((label) => kind.labelNames?.includes(label));
  if (!isSame) throw invalid(`the registry already has another metric called ${name}: give Holdfast one of its own`);
  return found as M;
}
