// S21: what is wrong with an item of a list is found before anything is sent; it fails alone, and the others are asked for.
import { checkBatch, checkItem } from '../../domain/check-request.js';
import { LeaseError } from '../../domain/errors.js';
import type { Answers, Failed } from '../store.js';

export async function sendItems<Q extends object, C, R>(
  requests: readonly Q[],
  check: (request: Q) => C,
  send: (items: readonly C[]) => Promise<Answers<R>>,
): Promise<Answers<R>> {
  checkBatch(requests);
  const failed: Failed[] = [];
  const items: C[] = [];
  for (let i = 0; i < requests.length; i += 1) {
    try {
      checkItem(requests[i]);
      items.push(check(requests[i] as Q));
    } catch (error) {
      if (!(error instanceof LeaseError)) throw error;
      failed[i] = { outcome: 'failed', error };
    }
  }
  if (failed.length === 0) return send(items);
  const answers = await send(items);
  let next = 0;
  return { ...answers, results: requests.map((_, i) => failed[i] ?? (answers.results[next++] as R | Failed)) };
}
