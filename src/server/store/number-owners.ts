// W3 for numbers: a token that is bound to an owner settles what that owner leased, and nobody else's. A number keeps its owner for
// as long as it keeps its epoch, so what a look says still holds when the store is asked right after it.
import type { LeaseError } from '../../domain/errors.js';
import type { SequenceStore } from '../../stores/sequence-store.js';
import { isBoundToOwner, refuseNumber } from '../access/index.js';
import type { Caller } from '../context.js';

interface Numbered {
  readonly stream: string;
  readonly operationId: string;
  readonly epoch?: number | undefined;
}

/** Speak for a lease of numbers by its epoch. */
const SETTLING: ReadonlySet<string> = new Set(['commit', 'progress', 'release', 'append']);

/** Why some of these items are not for the caller to ask. Nothing is looked up for a caller that is bound to no owner. */
export async function foreignNumbers(
  sequences: SequenceStore,
  caller: Caller,
  method: string,
  items: readonly object[],
): Promise<ReadonlyMap<object, LeaseError>> {
  const foreign = new Map<object, LeaseError>();
  if (!SETTLING.has(method) || !isBoundToOwner(caller)) return foreign;
  const named = (items as readonly Numbered[]).filter(({ epoch }) => epoch !== undefined);
  if (named.length === 0) return foreign;
  const looks = named.map(({ stream, operationId, epoch = 0 }) => {
    return { stream, operationId, epoch, progress: { what: 'look' } } as const;
  });
  const { results } = await sequences.progress(looks);
  for (const [i, result] of results.entries()) {
    const refusal =
      result.outcome === 'failed'
        ? result.error
        : result.outcome === 'kept'
          ? refuseNumber(caller, result.owner)
          : undefined;
    if (refusal) foreign.set(named[i] as object, refusal);
  }
  return foreign;
}

/** What a lease of numbers answered: those of another owner are not handed out to whoever names their operation. */
export function refuseLeased(caller: Caller, result: object): LeaseError | undefined {
  const { outcome, owner } = result as { outcome: string; owner?: string };
  return outcome === 'leased' && owner !== undefined ? refuseNumber(caller, owner) : undefined;
}
