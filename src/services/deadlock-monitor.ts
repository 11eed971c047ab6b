// The deadlock monitor (Q4): looks for cycles of waiters that no manager has found by itself, and after that at leases that
// have been held for very long, which is another matter and is reported apart.
import { breakDeadlocks } from '../manager/break-deadlocks.js';
import { OldLeases } from './old-leases.js';
import type { Service } from './service.js';
import { turnService, type ServiceContext } from './turn-service.js';

/** A manager that waits looks by itself and sooner; this is for waiters whose process does not. */
const EVERY_MS = 30_000;

export function deadlockMonitor(context: ServiceContext): Service {
  const { store, logger } = context;
  const oldLeases = new OldLeases(context);
  return turnService(context, {
    name: 'deadlock-monitor',
    everyMs: () => EVERY_MS,
    work: async (turn, settings) => {
      for (const { victim, cycle } of await breakDeadlocks(store)) {
        logger.warn({ ticketId: victim.id, owner: victim.owner, cycle }, 'a deadlock was broken');
      }
      return oldLeases.look(turn, settings);
    },
  });
}
