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
  for (const part of freed) {
    const here = ordered.filter((ticket) => anyOverlap(ticket.parts, [part]));
    const standing: Standing[] = leases.filter((lease) => anyOverlap(lease.parts, [part]));
    let [count, misses] = [0, 0];
    for (const ticket of here) {
      const others = standing.filter((one) => one !== ticket && !isReplaced(ticket, one));
      standing.push(ticket);
      if (count > 0 && !fits(ticket.parts, others)) {
        misses += 1;
        // Behind the first that does not fit on one name nobody fits; below a subtree there are other names.
        if (part.scope === 'node' || misses >= LIMITS.wakesPerName) break;
        continue;
      }
      woken.add(ticket.id);
      count += 1;
      if (count >= LIMITS.wakesPerName) break;
    }
  }
  return [...woken];
}

/** An upgrade does not wait for the lease it upgrades. */
function isReplaced(ticket: LeaseRow, standing: Standing): boolean {
  return ticket.upgrades !== undefined && (standing as Partial<LeaseRow>).id === ticket.upgrades;
}
