// The figures of a namespace by their names in Prometheus (O2), each computed from totals of the log when it is asked for.
// A table: what a figure is called, what it means, and where its values come from. No label holds the name of a resource.
import type { MetricType, Registry } from 'prom-client';
import {
  HOLD_SECONDS,
  LEASE_KIND,
  OUTCOMES,
  OVERRUN_SECONDS,
  type LogTotals,
  type Spread,
  type Tally,
} from './log-totals.js';

/** What the figures are made of at the moment of a scrape. */
export interface View {
  readonly totals: LogTotals | undefined;
  readonly epoch: number | undefined;
  readonly gaps: number | undefined;
  readonly pool: Readonly<Record<string, number>>;
  /** Of this process alone: refusals and errors are not in the log. */
  readonly refused: number;
  readonly errors: number;
}

type Labels = Record<string, string>;
interface Value {
  readonly name?: string;
  readonly labels: Labels;
  readonly value: number;
}
interface Figure {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly values: (view: View) => Value[];
}

/** Of the outcomes, those a recovery can be a success by. */
const METHODS = OUTCOMES.filter((outcome) => outcome !== 'none' && outcome !== 'failed');

export const NAMESPACE_FIGURES: readonly Figure[] = [
  {
    name: 'lease_acquisitions_total',
    type: 'counter',
    help: 'Acquires by how they ended: of the namespace, but conflict and error of this process.',
    values: ({ totals, refused, errors }) => [
      ...followed(totals, ({ acquired, timeouts, aborted, deadlocks }) => [
        one(acquired, { result: 'success' }),
        one(timeouts, { result: 'timeout' }),
        one(aborted, { result: 'aborted' }),
        one(deadlocks, { result: 'deadlock' }),
      ]),
      one(refused, { result: 'conflict' }),
      one(errors, { result: 'error' }),
    ],
  },
  {
    name: 'lease_acquisition_failures_total',
    type: 'counter',
    help: 'Acquires that ended in timeout or deadlock in the namespace, or in an error in this process.',
    values: ({ totals, errors }) => followed(totals, (all) => [one(all.timeouts + all.deadlocks + errors)]),
  },
  {
    name: 'active_leases',
    type: 'gauge',
    help: 'Leases of the namespace by status: active are held, pending wait.',
    values: ({ totals }) =>
      followed(totals, ({ active, pending }) => [
        one(active, { status: 'active' }),
        one(pending, { status: 'pending' }),
      ]),
  },
  {
    name: 'lease_queue_length',
    type: 'gauge',
    help: 'Requests of the namespace that wait.',
    values: ({ totals }) => followed(totals, ({ pending }) => [one(pending)]),
  },
  {
    name: 'expired_leases_total',
    type: 'counter',
    help: 'Leases and leased numbers of the namespace that expired, by how they were dealt with.',
    values: ({ totals }) =>
      ofKinds(totals, (kind, { expired }) => tally(expired, OUTCOMES, { kind }, 'recovery_outcome')),
  },
  {
    name: 'lease_overrun_seconds',
    type: 'histogram',
    help: 'From an expiry to when it was written down or dealt with, in the namespace.',
    values: ({ totals }) =>
      ofKinds(totals, (kind, { overrun }) => spread('lease_overrun_seconds', overrun, OVERRUN_SECONDS, { kind })),
  },
  {
    name: 'lease_hold_seconds',
    type: 'histogram',
    help: 'How long leases of the namespace were held that were released or expired.',
    values: ({ totals }) => followed(totals, ({ hold }) => spread('lease_hold_seconds', hold, HOLD_SECONDS, {})),
  },
  {
    name: 'recovery_success_total',
    type: 'counter',
    help: 'Numbers of the namespace that were recovered, by how.',
    values: ({ totals }) => ofKinds(totals, (kind, { recovered }) => tally(recovered, METHODS, { kind }, 'method')),
  },
  {
    name: 'recovery_failure_total',
    type: 'counter',
    help: 'Tries of a recovery that failed, in the namespace.',
    values: ({ totals }) =>
      ofKinds(totals, (kind, { failures }) => (kind === LEASE_KIND && failures === 0 ? [] : [one(failures, { kind })])),
  },
  {
    name: 'sequence_gaps',
    type: 'gauge',
    help: 'Numbers of all streams of the namespace that are gaps, and whose operation is stored nowhere else.',
    values: ({ gaps }) => (gaps === undefined ? [] : [one(gaps)]),
  },
  {
    name: 'lease_epoch_current',
    type: 'gauge',
    help: 'The highest epoch drawn in the namespace.',
    values: ({ epoch }) => (epoch === undefined ? [] : [one(epoch)]),
  },
  {
    name: 'store_pool_connections',
    type: 'gauge',
    help: 'Connections of this process to the store, and callers that wait for one.',
    values: ({ pool }) => Object.entries(pool).map(([state, count]) => one(count, { state })),
  },
];

/** Puts the figures into a registry; `view` is asked at each scrape, once per figure, and must be cheap. */
export function registerFigures(registry: Registry, view: () => View): void {
  for (const { name, help, type, values } of NAMESPACE_FIGURES) {
    const get = async (): Promise<unknown> => ({
      name,
      help,
      type: type as unknown as MetricType,
      aggregator: 'max',
      values: values(view()).map(({ name: metricName = name, labels, value }) => ({ metricName, labels, value })),
    });
    registry.registerMetric({ name, help, type, aggregator: 'max', get } as never);
  }
}

function followed(totals: LogTotals | undefined, values: (totals: LogTotals) => Value[]): Value[] {
  return totals ? values(totals) : [];
}

type Kind = LogTotals['kinds'] extends Map<string, infer K> ? K : never;

function ofKinds(totals: LogTotals | undefined, values: (name: string, kind: Kind) => Value[]): Value[] {
  return totals ? [...totals.kinds].flatMap(([name, kind]) => values(name, kind)) : [];
}

function one(value: number, labels: Labels = {}): Value {
  return { value, labels };
}

/** Outcomes that never happened for a kind are left out: most of them never do. Leases that expired are there from the start,
 *  so that the first one makes a rate. */
function tally(counts: Tally, outcomes: readonly (keyof Tally)[], labels: Labels, label: string): Value[] {
  const isShown = (key: keyof Tally): boolean => counts[key] > 0 || (key === 'none' && labels['kind'] === LEASE_KIND);
  return outcomes.filter(isShown).map((key) => one(counts[key], { ...labels, [label]: key }));
}

function spread(name: string, { counts, sumMs }: Spread, bounds: readonly number[], labels: Labels): Value[] {
  let sum = 0;
  const buckets = bounds.map((bound, i) => {
    sum += counts[i] ?? 0;
    return { name: `${name}_bucket`, labels: { le: String(bound), ...labels }, value: sum };
  });
  const all = sum + (counts[bounds.length] ?? 0);
  return [
    ...buckets,
    { name: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: all },
    { name: `${name}_sum`, labels, value: sumMs / 1_000 },
    { name: `${name}_count`, labels, value: all },
  ];
}
