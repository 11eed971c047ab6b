// The sweeper: writes down, every `cleanup_interval_seconds`, what lapsed on names that nobody touched since (S3). Nothing
// depends on it but the log and the time at which waiters are woken. A sweep is many short steps with pauses between, so
// that ten thousand leases that expire together leave the others alone (S18).
import { LIMITS } from '../domain/limits.js';
import type { Service } from './service.js';
import { pause } from './service.js';
import type { Turn, Work } from './turn.js';
import { turnService, type ServiceContext } from './turn-service.js';

const MAX_STEPS = 100;
const STEP_PAUSE_MS = 10;

export function sweeper(context: ServiceContext, onSwept: (ms: number) => void = () => undefined): Service {
  return turnService(context, {
    name: 'sweeper',
    everyMs: (settings) => Math.ceil(settings.cleanup_interval_seconds * 1_000),
    isOn: (settings) => settings.auto_expire_enabled,
    work: async (turn) => {
      const startedAt = context.clock.monotonic();
      const work = await sweepAll(context, turn);
      onSwept(context.clock.monotonic() - startedAt);
      return work;
    },
  });
}

async function sweepAll({ store, clock, logger }: ServiceContext, { signal }: Turn): Promise<Work> {
  let leases = 0;
  let tickets = 0;
  let overrunMaxMs = 0;
  let more = true;
  for (let step = 0; more && step < MAX_STEPS && !signal.aborted; step += 1) {
    if (step > 0) await pause(clock, STEP_PAUSE_MS, signal);
    const swept = await store.sweep({ limit: LIMITS.rowsPerStep });
    leases += swept.leases;
    tickets += swept.tickets;
    overrunMaxMs = Math.max(overrunMaxMs, swept.overrunMaxMs);
    more = swept.more;
  }
  if (leases + tickets > 0) logger.debug({ service: 'sweeper', leases, tickets, overrunMaxMs, more }, 'swept');
  return more ? 'more' : 'done';
}
