// S21: a batch is a list, not a transaction of its own. Items act in order, each atomic, each with its own result.
import { checkItem } from '../../domain/check-request.js';
import { LeaseError } from '../../domain/errors.js';
import type { Failed } from '../store.js';

/** Runs every item; one that is invalid or over a limit fails alone. Checks come before the first write of an item, so
 *  a failed one has changed nothing. Anything that is not a LeaseError is the store's own trouble and fails the call. */
export function runItems<Q, R>(requests: readonly Q[], act: (request: Q) => R): (R | Failed)[] {
  const results: (R | Failed)[] = [];
  for (const request of requests) results.push(runItem(request, act));
  return results;
}

function runItem<Q, R>(request: Q, act: (request: Q) => R): R | Failed {
  try {
    checkItem(request);
    return act(request);
  } catch (error) {
    if (error instanceof LeaseError && error.code !== 'STORE_UNAVAILABLE') return { outcome: 'failed', error };
    throw error;
  }
}
