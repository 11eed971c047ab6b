// The steps of recovery (V2), each a function from what was claimed to how it is settled, or undefined when it has nothing.
// What throws failed; the number is then tried again later (V4).
import { checkOperations } from '../../domain/check-sequence.js';
import { invalid } from '../../domain/errors.js';
import type { RecoveryStepName } from '../../domain/recovery-steps.js';
import type { Claimed } from '../../domain/sequence.js';
import type { Settlement } from '../../domain/sequence-requests.js';
import type { Registry } from './registry.js';

export type Step = (item: Claimed, registry: Registry) => Promise<Settlement | undefined>;

/** How long after a gap the result that is kept with it is tried again. */
export const KEPT_AGAIN_MS = 60_000;

/** "Retried completed operation" or "No completed operation to retry". */
const finished: Step = async (item) => (item.finished === undefined ? undefined : { to: 'commit' });

/** "Recovered from partial work" or "No recoverable partial work". */
const partial: Step = async (item, registry) => {
  const rebuild = registry.rebuildOf(item);
  if (item.partial === undefined || !rebuild) return undefined;
  return moved(item, await rebuild(item.partial, item));
};

const own: Step = async (item, registry) => {
  const step = registry.stepOf(item);
  return step ? moved(item, await step(item)) : undefined;
};

function moved(item: Claimed, rebuilt: unknown): Settlement | undefined {
  if (rebuilt === undefined) return undefined;
  if (item.count > 1 && !(Array.isArray(rebuilt) && rebuilt.length === item.count))
    throw invalid(`${item.count} numbers are rebuilt as a list of ${item.count} operations`);
  const operations = item.count > 1 ? (rebuilt as readonly unknown[]) : [rebuilt];
  checkOperations(operations); // a function that answers what cannot be stored has failed, like one that throws
  return { to: 'move', operations, type: 'partial_work' };
}

export const STEPS: Readonly<Record<Exclude<RecoveryStepName, 'gap'>, Step>> = { own, finished, partial };

/** "Created sequence gap". A result that nobody here could or would use just now is kept, to be tried again. */
export function gapFor(item: Claimed, tried: readonly RecoveryStepName[], registry: Registry): Settlement {
  const couldCommit = item.finished !== undefined && !tried.includes('finished');
  const couldRebuild = item.partial !== undefined && !(tried.includes('partial') && registry.rebuildOf(item));
  const reason = 'Lease expired';
  return couldCommit || couldRebuild ? { to: 'gap', reason, againAfterMs: KEPT_AGAIN_MS } : { to: 'gap', reason };
}
