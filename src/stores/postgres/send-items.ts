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
  const failed = new Map<number, Failed>();
  const items: C[] = [];
  for (const [i, request] of requests.entries()) {
    try {
      checkItem(request);
      items.push(check(request));
    } catch (error) {
      if (!(error instanceof LeaseError)) throw error;
      failed.set(i, { outcome: 'failed', error });
    }
  }
  const answers = await send(items);
  if (failed.size === 0) return answers;
  let next = 0;
  return { ...answers, results: requests.map((_, i) => failed.get(i) ?? (answers.results[next++] as R | Failed)) };
}
