// What every gate is to its callers: claimed by a new holder, asked by every write.
import type { HeldLease } from '../manager/face.js';
import { tellRejected } from '../manager/origin.js';
import { checkWrites, writesOf, type CheckedWrite, type FenceWrite } from './fence.js';

export interface FenceGate {
  /** Closes the gate to older holders, before the first write of this one. Throws STALE_EPOCH when it is an older one itself. */
  claim(lease: HeldLease): Promise<void>;
  /** Throws STALE_EPOCH when a newer holder was here. Several writes are admitted together or not at all. */
  admit(write: FenceWrite | readonly FenceWrite[]): Promise<void>;
}

/** A gate that can be kept while something happens elsewhere: newer holders wait until it is done. */
export interface KeepingGate extends FenceGate {
  during<T>(
    write: FenceWrite | readonly FenceWrite[],
    effect: () => Promise<T>,
    options?: { signal?: AbortSignal },
  ): Promise<T>;
}

export function isKeeping(gate: FenceGate): gate is KeepingGate {
  return typeof (gate as Partial<KeepingGate>).during === 'function';
}

/** A gate from the one step it has to make: look, compare and note, all at once. */
export function gateOf(name: string, enter: (writes: readonly CheckedWrite[]) => Promise<void>): FenceGate {
  return {
    claim: async (lease) => telling(lease, name, () => enter(writesOf(lease))),
    admit: async (write) => enter(checkWrites(write)),
  };
}

/** A refusal of a lease is told to the manager that looks after it (O2). */
export async function telling<T>(lease: HeldLease, guard: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw tellRejected(lease, guard, error);
  }
}
