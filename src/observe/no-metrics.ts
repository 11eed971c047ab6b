// The metrics of a connection that was given no registry: nothing is counted, and prom-client is never loaded.
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
});
