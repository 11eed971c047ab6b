// The diagnosis of a store that could not even be opened: the one finding there is.
import { LeaseError } from '../domain/errors.js';
import type { Diagnosis } from './diagnose.js';
import { finding } from './finding.js';

/** Undefined when the error is another one: no store there yet, a wrong name, a schema that is too new. */
export function unreachable(error: unknown, namespace: string, store: string): Diagnosis | undefined {
  if (!(error instanceof LeaseError) || error.code !== 'STORE_UNAVAILABLE' || !error.retryable) return undefined;
  const what = 'the store cannot be reached: holders go on until their deadlines, nothing can be taken or renewed';
  const next = 'holdfast whoami';
  return {
    verdict: 'wrong',
    findings: [finding('store-latency', 'wrong', what, [error.message], next)],
    store,
    namespace,
    looked: {
      overMs: 0,
      leases: 0,
      waiting: 0,
      events: 0,
      streams: 0,
      latencyMs: { p50: 0, max: 0 },
      unanswered: 1,
      cutShort: [],
    },
    happened: {},
  };
}
