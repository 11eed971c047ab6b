// Deadlocks are broken from one snapshot of who waits for whom (Q4): in each cycle the youngest ticket is failed, in a step
// of the store that first checks that the whole cycle still stands. The victim keeps its leases. Looking twice at once is
// harmless: the second finds the cycle gone.
import { describeCycle, findCycles, youngest, type WaitingTicket, type WaitStep } from '../domain/wait-graph.js';
import type { Store } from '../stores/store.js';

/** Cycles broken in one look; the next look finds the others. */
const MAX_CYCLES = 100;

export interface BrokenDeadlock {
  /** The ticket that was failed. */
  readonly victim: WaitingTicket;
  readonly cycle: readonly WaitStep[];
}

/** Answers the cycles that this call broke, not those it found gone. */
export async function breakDeadlocks(store: Store): Promise<BrokenDeadlock[]> {
  const graph = await store.waitGraph();
  const broken: BrokenDeadlock[] = [];
  for (const cycle of findCycles(graph).slice(0, MAX_CYCLES)) {
    const victim = youngest(cycle);
    const { outcome } = await store.failTicket({ id: victim.id, cycle: cycle.map((ticket) => ticket.id) });
    if (outcome === 'failed') broken.push({ victim, cycle: describeCycle(cycle) });
  }
  return broken;
}
