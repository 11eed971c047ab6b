// The rule of every gate (G4), pure: an epoch is admitted that is not below the highest one seen for that name, nor below
// the highest subtree claim above it. An exclusive write is measured against everything seen, a shared one against exclusive
// epochs only, because shared holders do not exclude each other. What is admitted is seen from then on.
//
// A write or claim of a subtree is also measured against what was seen below it: a holder of `a/b` that came later than the
// holder of all of `a` has closed the gate to it.
import { isEpoch } from '../domain/epoch.js';
import { invalid, LeaseError, shown } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import type { Mode, Part, Scope } from '../domain/part.js';
import { checkName } from '../domain/resource-name.js';

/** One write as a gate is asked about it. */
export interface FenceWrite {
  readonly resource: string;
  readonly epoch: number;
  /** `exclusive` unless given. */
  readonly mode?: Mode;
  /** `node` unless given: name the thing that is written, not the subtree it lies in. */
  readonly scope?: Scope;
}

export interface FencedLease {
  readonly parts: readonly Part[];
  readonly epoch: number;
}

/** What a gate has seen under one name; 0 is nothing. `any` counts shared and exclusive, `exclusive` only that. */
export interface Marks {
  readonly exclusive: number;
  readonly any: number;
  /** Of claims and writes of the whole subtree; they count in the two above as well. */
  readonly subtreeExclusive: number;
  readonly subtreeAny: number;
}

export const NO_MARKS: Marks = { exclusive: 0, any: 0, subtreeExclusive: 0, subtreeAny: 0 };

export interface Seen {
  readonly own: Marks;
  readonly above: readonly Marks[];
  /** The highest of all names below; asked for only when the write is of a subtree. */
  readonly below: Pick<Marks, 'exclusive' | 'any'>;
}

export type CheckedWrite = Required<FenceWrite>;

/** The epoch that closes the gate to this write, or 0 when it is open. */
export function closedBy({ epoch, mode, scope }: CheckedWrite, { own, above, below }: Seen): number {
  const isShared = mode === 'shared';
  let highest = isShared ? own.exclusive : own.any;
  for (const marks of above) highest = Math.max(highest, isShared ? marks.subtreeExclusive : marks.subtreeAny);
  if (scope === 'subtree') highest = Math.max(highest, isShared ? below.exclusive : below.any);
  return highest > epoch ? highest : 0;
}

/** The marks of the name after the write was admitted: the same object when it has left none. */
export function raised(own: Marks, { epoch, mode, scope }: CheckedWrite): Marks {
  const [isExclusive, isSubtree] = [mode === 'exclusive', scope === 'subtree'];
  const next: Marks = {
    exclusive: isExclusive ? Math.max(own.exclusive, epoch) : own.exclusive,
    any: Math.max(own.any, epoch),
    subtreeExclusive: isSubtree && isExclusive ? Math.max(own.subtreeExclusive, epoch) : own.subtreeExclusive,
    subtreeAny: isSubtree ? Math.max(own.subtreeAny, epoch) : own.subtreeAny,
  };
  const isSame =
    next.exclusive === own.exclusive &&
    next.any === own.any &&
    next.subtreeExclusive === own.subtreeExclusive &&
    next.subtreeAny === own.subtreeAny;
  return isSame ? own : next;
}

export function checkWrite(write: FenceWrite): CheckedWrite {
  const given: Partial<FenceWrite> | null = typeof write === 'object' ? write : null;
  if (given === null) throw invalid(`a write is { resource, epoch }, got ${shown(write)}`);
  const { epoch, mode = 'exclusive', scope = 'node' } = given;
  const resource = checkName(given.resource);
  if (!isEpoch(epoch)) throw invalid(`epoch is the one of the lease, a whole number above 0, got ${shown(epoch)}`);
  if (mode !== 'exclusive' && mode !== 'shared') throw invalid(`mode is 'exclusive' or 'shared', got ${shown(mode)}`);
  if (scope !== 'node' && scope !== 'subtree') throw invalid(`scope is 'node' or 'subtree', got ${shown(scope)}`);
  return { resource, epoch, mode, scope };
}

export function checkWrites(writes: FenceWrite | readonly FenceWrite[]): CheckedWrite[] {
  const list: readonly FenceWrite[] = Array.isArray(writes) ? (writes as FenceWrite[]) : [writes as FenceWrite];
  if (list.length === 0 || list.length > LIMITS.partsPerLease) {
    throw invalid(`from 1 to ${LIMITS.partsPerLease} writes are admitted together, got ${list.length}`);
  }
  return list.map(checkWrite);
}

/** A lease as the writes it may make: each of its parts, as a whole. A limit cannot be kept by comparing epochs: of three
 *  holders the third is not newer than the first in any way that counts. */
export function writesOf(lease: FencedLease): CheckedWrite[] {
  const given: Partial<FencedLease> | null = typeof lease === 'object' ? lease : null;
  if (!Array.isArray(given?.parts))
    throw invalid(`a gate takes the lease that acquire() answered, got ${shown(lease)}`);
  return lease.parts.map(({ name, mode, scope, limit }) => {
    if (limit === undefined) return checkWrite({ resource: name, epoch: lease.epoch, mode, scope });
    throw invalid(
      `${name} is held with a limit, which no gate can enforce: use guardPostgres, guardedScript, or guardSqlite with the lease file attached`,
    );
  });
}

export function staleWrite({ resource, epoch }: CheckedWrite, current: number): LeaseError {
  return staleEpoch(resource, epoch, current);
}

export function staleEpoch(resource: string, attempted: number, current: number): LeaseError {
  return new LeaseError('STALE_EPOCH', `Stale write rejected: epoch ${attempted} < current epoch ${current}`, {
    details: { resource, current, attempted },
  });
}
