// Shutting down (A9), in this order and each step bounded in time, whatever the store does:
//
//   intake ends, waiters are told ▶ work may finish, up to `drain` ▶ renewal stops ▶ what is still held is told by its
//   signal and released, all in one batch, one log line each ▶ what is under way is waited for ▶ a last sweep
//
// What could not be released lapses by its ttl; the error at the end says which.
import { LeaseError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import type { Hold } from './held-lease.js';
import type { LeaseManager } from './lease-manager.js';
import { nameOf } from './refusals.js';

const LAST_CALLS_MS = 2_000;

export interface ShutdownLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export async function letEverythingGo(manager: LeaseManager, drainMs: number, log: ShutdownLog): Promise<LeaseError[]> {
  manager.close();
  await manager.idle(drainMs);
  manager.stopRenewing();
  const errors: LeaseError[] = [];
  const pinnedUntil = manager.clock.monotonic() + LAST_CALLS_MS;
  await Promise.all(manager.held().map((hold) => letGo(hold, pinnedUntil, log, errors)));
  await manager.cleanups.settled(LAST_CALLS_MS);
  if (errors.length === 0) await lastSweep(manager, log);
  manager.disconnect();
  return errors;
}

async function letGo(hold: Hold, pinnedUntil: number, log: ShutdownLog, errors: LeaseError[]): Promise<void> {
  const facts = { leaseId: hold.id, resource: nameOf(hold.parts), epoch: hold.epoch };
  const isAbandoned = hold.stopCause === 'abandoned'; // left to lapse, but nobody will look at its deadline any more
  const fate = isAbandoned ? 'left to lapse' : 'given back';
  hold.dismiss(new LeaseError('SHUTTING_DOWN', `${facts.resource} is ${fate}: shutdown() was called`));
  if (isAbandoned) return;
  hold.pinnedUntil = pinnedUntil; // a guarded transaction may stay open for as long as it likes
  const { outcome } = await hold.release();
  if (outcome !== 'unknown') {
    log.info(
      { ...facts, outcome },
      `shutdown: ${facts.resource} is ${outcome === 'released' ? outcome : 'gone already'}`,
    );
    return;
  }
  const message = `${facts.resource} could not be released: it lapses at ${hold.expiresAt}`;
  errors.push(new LeaseError('STORE_UNAVAILABLE', message, { details: facts }));
  log.warn(facts, `shutdown: ${message}`);
}

/** For the log's sake only: nothing depends on it. */
async function lastSweep({ link }: LeaseManager, log: ShutdownLog): Promise<void> {
  const swept = link.call('sweep', (store) => store.sweep({ limit: LIMITS.rowsPerStep }));
  await link.within(LAST_CALLS_MS, 'sweep', swept).catch((error: unknown) => {
    log.warn({ err: error }, 'shutdown: the last sweep failed');
  });
}

/** One error that names what is left, when anything is. */
export function leftBehind(errors: readonly LeaseError[]): LeaseError | undefined {
  if (errors.length === 0) return undefined;
  const names = errors.slice(0, 20).map((error) => error.message);
  return new LeaseError('STORE_UNAVAILABLE', `shutdown left ${errors.length} behind: ${names.join('; ')}`, {
    details: { errors },
  });
}
