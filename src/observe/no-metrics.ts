// The metrics of a connection that was given no registry: nothing is counted, and neither prom-client nor OpenTelemetry is
// loaded. And how figures reach more than one place, where there is more than one.
import type { Metrics } from './metrics.js';

const nothing = (): void => undefined;

export const noMetrics: Metrics = Object.freeze({
  acquisition: nothing,
  renewals: nothing,
  conflict: nothing,
  guardRejection: nothing,
  held: nothing,
  holdEnded: nothing,
  storeCall: nothing,
  skew: nothing,
  loopLag: nothing,
  cleanup: nothing,
});

/** Where OpenTelemetry's package keeps what was set up, for all its copies of one major version. */
const TELEMETRY = Symbol.for('opentelemetry.js.api.1');

export function isTelemetrySetUp(): boolean {
  return TELEMETRY in globalThis;
}

/** Tells both the same. */
export function toAll(metrics: Metrics, also: Metrics | undefined): Metrics {
  if (!also) return metrics;
  if (metrics === noMetrics) return also;
  const tell = (target: Metrics, name: string, args: unknown[]): void => {
    const method: unknown = Reflect.get(target, name);
    if (typeof method === 'function') Reflect.apply(method, target, args);
  };
  const both = Object.keys(noMetrics).map((name) => [
    name,
    (...args: unknown[]): void => {
      tell(metrics, name, args);
      tell(also, name, args);
    },
  ]);
  return Object.fromEntries(both) as Metrics;
}
