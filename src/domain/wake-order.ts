// Q3: whom to wake when names become free. For each freed name the first waiters in order that no longer conflict there:
// at least one, at most 64. A needless wake-up is harmless; the woken waiter claims by itself.
import { anyOverlap, fits, type Standing } from './conflict.js';
import type { LeaseRow } from './lease.js';
import { LIMITS } from './limits.js';
import type { Part } from './part.js';
import { comparePlaces } from './queue-order.js';

/** `tickets` and `leases`: live ones whose names overlap `freed` (more is harmless). */
export function wakeOrder(freed: readonly Part[], tickets: readonly LeaseRow[], leases: readonly Standing[]): string[] {
  const woken = new Set<string>();
  const ordered = [...tickets].sort(comparePlaces);
  for (const part of freed) wakeFor(part, ordered, leases, woken);
  return [...woken];
}

function wakeFor(part: Part, ordered: readonly LeaseRow[], leases: readonly Standing[], woken: Set<string>): void {
  const freed = [part];
  const here = ordered.filter((ticket) => anyOverlap(ticket.parts, freed));
  const first = here[0];
  if (!first) return;
  woken.add(first.id);
  if (here.length === 1) return;
  const standing: Standing[] = leases.filter((lease) => anyOverlap(lease.parts, freed));
  standing.push(first);
  let count = 1;
  let misses = 0;
  for (let i = 1; i < here.length && count < LIMITS.wakesPerName; i += 1) {
    const ticket = here[i] as LeaseRow;
    const hasRoom = fitsBeside(ticket, standing);
    standing.push(ticket);
    if (hasRoom) {
      woken.add(ticket.id);
      count += 1;
      continue;
    }
    misses += 1;
    // Behind the first that does not fit on one name nobody fits; below a subtree there are other names.
    if (part.scope === 'node' || misses >= LIMITS.wakesPerName) return;
  }
}

function fitsBeside(ticket: LeaseRow, standing: readonly Standing[]): boolean {
  const others = ticket.upgrades === undefined ? standing : standing.filter((one) => !isReplaced(ticket, one));
  return fits(ticket.parts, others);
}

/** An upgrade does not wait for the lease it upgrades. */
function isReplaced(ticket: LeaseRow, standing: Standing): boolean {
  return ticket.upgrades !== undefined && (standing as Partial<LeaseRow>).id === ticket.upgrades;
}
