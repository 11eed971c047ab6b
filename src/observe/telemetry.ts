// OpenTelemetry (O2): the same instruments under the meter `holdfast`, and spans around acquire, hold and renew. Where nobody
// has set OpenTelemetry up in this process there is nothing to tell, and its package is not even loaded.
//
// What an exporter does wrong stays here: nothing of it reaches the manager (S12).
import type { Context, Meter, Span, Tracer } from '@opentelemetry/api';
import type * as telemetryApi from '@opentelemetry/api';
import type { Clock } from '../domain/clock.js';
import type { Part } from '../domain/part.js';
import { ACQUISITION_FAILURES, type Metrics } from './metrics.js';
import { isTelemetrySetUp } from './no-metrics.js';
import { NAMESPACE_FIGURES, type View } from './namespace-figures.js';

type Api = typeof telemetryApi;

const NAME = 'holdfast';

export interface Telemetry {
  readonly metrics: Metrics;
  readonly spans: Spans;
}

/** Undefined where OpenTelemetry is not set up, or not installed. */
export async function openTelemetry(clock: Clock): Promise<Telemetry | undefined> {
  const api = await loadApi();
  if (!api) return undefined;
  return { metrics: metricsOn(api.metrics.getMeter(NAME)), spans: new Spans(api, clock) };
}

async function loadApi(): Promise<Api | undefined> {
  if (!isTelemetrySetUp()) return undefined;
  try {
    return await import('@opentelemetry/api');
  } catch {
    return undefined; // another part of the process brought its own copy, which this one cannot see
  }
}

/** What only a server knows: figures that follow the log, observed when they are collected. Distributions are not among
 *  them: OpenTelemetry takes no finished buckets. Answers the function that ends it. */
export async function observeNamespace(view: () => View): Promise<() => void> {
  const api = await loadApi();
  if (!api) return () => undefined;
  const meter = api.metrics.getMeter(NAME);
  const ends = NAMESPACE_FIGURES.filter(({ name, type }) => type !== 'histogram' && !OF_A_PROCESS.has(name)).map(
    ({ name, help: description, type, values }) => {
      const options = { description };
      const instrument =
        type === 'counter' ? meter.createObservableCounter(name, options) : meter.createObservableGauge(name, options);
      const tell = (result: { observe(value: number, labels: Record<string, string>): void }): void => {
        for (const { value, labels } of values(view())) result.observe(value, labels);
      };
      instrument.addCallback(tell);
      return () => instrument.removeCallback(tell);
    },
  );
  return () => {
    for (const end of ends) end();
  };
}

/** Told by every process about itself, under the same name. */
const OF_A_PROCESS = new Set(['lease_acquisitions_total', 'lease_acquisition_failures_total', 'active_leases']);

function metricsOn(meter: Meter): Metrics {
  const counter = (name: string): ReturnType<Meter['createCounter']> => meter.createCounter(name);
  const seconds = (name: string): ReturnType<Meter['createHistogram']> => meter.createHistogram(name, { unit: 's' });
  const acquisitions = counter('lease_acquisitions_total');
  const failures = counter('lease_acquisition_failures_total');
  const waits = seconds('lease_acquisition_wait_seconds');
  const renewals = counter('lease_renewals_total');
  const conflicts = counter('lease_conflicts_total');
  const rejections = counter('guard_rejections_total');
  const active = meter.createUpDownCounter('active_leases');
  const holds = seconds('lease_hold_seconds');
  const storeCalls = seconds('store_operation_seconds');
  const cleanups = seconds('cleanup_duration_seconds');
  const skew = meter.createGauge('lease_clock_skew_seconds', { unit: 's' });
  const lag = meter.createGauge('lease_event_loop_lag_seconds', { unit: 's' });
  let heldBefore = 0;
  const metrics: Metrics = {
    acquisition: (result, waitMs) => {
      acquisitions.add(1, { result });
      if (ACQUISITION_FAILURES.has(result)) failures.add(1);
      waits.record(waitMs / 1_000);
    },
    renewals: (result, count) => renewals.add(count, { result }),
    conflict: () => conflicts.add(1),
    guardRejection: (guard) => rejections.add(1, { guard }),
    held: (count) => {
      active.add(count - heldBefore, { status: 'active' });
      heldBefore = count;
    },
    holdEnded: (ms) => holds.record(ms / 1_000),
    storeCall: (operation, result, ms) => storeCalls.record(ms / 1_000, { operation, result }),
    skew: (ms) => skew.record(ms / 1_000),
    loopLag: (ms) => lag.record(ms / 1_000),
    cleanup: (ms) => cleanups.record(ms / 1_000),
  };
  return quietly(metrics);
}

function quietly<T extends object>(target: T): T {
  const quiet = Object.entries(target).map(([name, method]) => [
    name,
    (...args: unknown[]): unknown => attempt(() => (method as (...given: unknown[]) => unknown)(...args)),
  ]);
  return Object.fromEntries(quiet) as T;
}
function attempt<R>(act: () => R): R | undefined {
  try {
    return act();
  } catch {
    return undefined; // a figure or a span is lost, nothing else
  }
}

/** Tells how an acquire ended, and the lease if it was granted. */
export type AcquireEnded = (result: string, lease?: { readonly id: string; readonly epoch: number }) => void;

export class Spans {
  readonly #api: Api;
  readonly #tracer: Tracer;
  readonly #clock: Clock;
  /** One for each lease this process holds. */
  readonly #holds = new Map<string, Span>();

  constructor(api: Api, clock: Clock) {
    this.#api = api;
    this.#tracer = api.trace.getTracer(NAME);
    this.#clock = clock;
  }

  /** Asked in the caller's own context, which the spans of the acquire and of the hold belong to. */
  asking(parts: readonly Part[]): AcquireEnded {
    const context = this.#api.context.active();
    const span = attempt(() =>
      this.#tracer.startSpan('holdfast.acquire', { attributes: attributesOf(parts) }, context),
    );
    return (result, lease) => {
      attempt(() => this.#end(span, result, result !== 'success' && result !== 'conflict' && result !== 'aborted'));
      if (lease) attempt(() => this.#hold(lease, parts, context));
    };
  }

  letGo(leaseId: string): void {
    attempt(() => this.#holds.get(leaseId)?.end());
    this.#holds.delete(leaseId);
  }

  /** A call that has been made: renewals of several leases go together, and belong to none of their callers. */
  renewed(result: 'ok' | 'error', ms: number): void {
    attempt(() => {
      const now = this.#clock.wall();
      const options = { startTime: now - ms, root: true, kind: this.#api.SpanKind.CLIENT };
      this.#end(this.#tracer.startSpan('holdfast.renew', options), result, result === 'error', now);
    });
  }

  #hold(lease: { readonly id: string; readonly epoch: number }, parts: readonly Part[], context: Context): void {
    const attributes = { ...attributesOf(parts), 'holdfast.lease_id': lease.id, 'holdfast.epoch': lease.epoch };
    this.#holds.set(lease.id, this.#tracer.startSpan('holdfast.hold', { attributes }, context));
  }

  #end(span: Span | undefined, result: string, isFailure: boolean, at?: number): void {
    span?.setAttribute('holdfast.result', result);
    if (isFailure) span?.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: result });
    span?.end(at);
  }
}

function attributesOf(parts: readonly Part[]): Record<string, string | number> {
  return { 'holdfast.resource': parts[0]?.name ?? '', 'holdfast.parts': parts.length };
}
