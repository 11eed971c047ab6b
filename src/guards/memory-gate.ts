// A gate in the memory of this process (G4). It can be kept: whoever is admitted through `during` is inside until its effect
// is done, and a newer holder, for whom the gate is closed to others at once, waits until every older one is out.
import { invalid, LeaseError } from '../domain/errors.js';
import { isAbove, namesAbove } from '../domain/resource-name.js';
import {
  checkWrites,
  closedBy,
  NO_MARKS,
  raised,
  staleWrite,
  writesOf,
  type CheckedWrite,
  type Marks,
} from './fence.js';
import { telling, type KeepingGate } from './gate.js';

/** Names come from outside: what is remembered about them has an end. */
const MOST_NAMES = 100_000;
const MOST_WAITING = 10_000;

interface Visit {
  readonly writes: readonly CheckedWrite[];
  readonly over: Promise<void>;
}

export function memoryGate(): KeepingGate {
  const marks = new Map<string, Marks>();
  const inside = new Set<Visit>();
  let waiting = 0;

  function refuseStale(writes: readonly CheckedWrite[]): void {
    for (const write of writes) {
      const own = marks.get(write.resource) ?? NO_MARKS;
      const above = namesAbove(write.resource).map((name) => marks.get(name) ?? NO_MARKS);
      const below = write.scope === 'subtree' ? highestBelow(marks, write.resource) : NO_MARKS;
      const current = closedBy(write, { own, above, below });
      if (current > 0) throw staleWrite(write, current);
    }
  }

  function note(writes: readonly CheckedWrite[]): void {
    const unseen = writes.filter(({ resource }) => !marks.has(resource)).length;
    if (marks.size + unseen > MOST_NAMES) {
      throw new LeaseError(
        'RATE_LIMITED',
        `this gate has seen ${MOST_NAMES} names, its limit: use a gate that is kept in a database`,
        { retryable: false }, // it forgets none of them while it lives
      );
    }
    for (const write of writes) marks.set(write.resource, raised(marks.get(write.resource) ?? NO_MARKS, write));
  }

  /** Closed to older holders first, so that none comes in any more; then those inside are waited for. The visit is inside
   *  before anything else can happen: nothing newer can slip in between the last look and that. */
  async function enter(writes: readonly CheckedWrite[], visit?: Visit, signal?: AbortSignal): Promise<void> {
    refuseStale(writes);
    note(writes);
    for (let older = olderThan(inside, writes); older.length > 0; older = olderThan(inside, writes)) {
      if (waiting >= MOST_WAITING) {
        throw new LeaseError('RATE_LIMITED', `${MOST_WAITING} writes wait at this gate, its limit: try again later`);
      }
      waiting += 1;
      try {
        await allOver(older, signal);
      } finally {
        waiting -= 1;
      }
      refuseStale(writes);
    }
    if (visit) inside.add(visit);
  }

  return {
    claim: async (lease) => telling(lease, 'memoryGate', () => enter(writesOf(lease))),
    admit: async (write) => enter(checkWrites(write)),
    during: async (write, effect, { signal } = {}) => {
      if (typeof effect !== 'function') throw invalid('during takes the effect as a function: async () => …');
      const writes = checkWrites(write);
      let leave: () => void = () => undefined;
      const over = new Promise<void>((resolve) => {
        leave = resolve;
      });
      const visit = { writes, over };
      await enter(writes, visit, signal);
      try {
        return await effect();
      } finally {
        inside.delete(visit);
        leave();
      }
    },
  };
}

function highestBelow(marks: ReadonlyMap<string, Marks>, upper: string): { exclusive: number; any: number } {
  let [exclusive, any] = [0, 0];
  for (const [name, seen] of marks) {
    if (!isAbove(upper, name)) continue;
    exclusive = Math.max(exclusive, seen.exclusive);
    any = Math.max(any, seen.any);
  }
  return { exclusive, any };
}

function olderThan(inside: ReadonlySet<Visit>, writes: readonly CheckedWrite[]): Visit[] {
  return [...inside].filter((visit) => visit.writes.some((old) => writes.some((write) => excludes(write, old))));
}

function excludes(write: CheckedWrite, old: CheckedWrite): boolean {
  if (old.epoch >= write.epoch || (old.mode === 'shared' && write.mode === 'shared')) return false;
  return (
    old.resource === write.resource ||
    (old.scope === 'subtree' && isAbove(old.resource, write.resource)) ||
    (write.scope === 'subtree' && isAbove(write.resource, old.resource))
  );
}

function allOver(visits: readonly Visit[], signal: AbortSignal | undefined): Promise<unknown> {
  const over = Promise.all(visits.map((visit) => visit.over));
  if (!signal) return over;
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      reject(new LeaseError('ACQUIRE_ABORTED', 'the wait at the gate was cancelled', { cause: signal.reason }));
    };
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    over
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', stop))
      .catch(() => undefined);
  });
}
