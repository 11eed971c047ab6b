// Keeps the totals of the log up to date (O2), and their checkpoint in the store. Every server follows once a second; once a
// minute one of them, in its turn, writes down how far it came, so that a restart goes on instead of beginning anew.
import type { ServerMetrics } from '../observe/server-metrics.js';
import { PeriodicService, type Service } from './service.js';
import { takeTurn } from './turn.js';
import type { ServiceContext } from './turn-service.js';

const EVERY_MS = 1_000;
/** Figures that are read instead of followed. */
const REFRESH_MS = 15_000;
const CHECKPOINT_MS = 60_000;

type Context = Pick<ServiceContext, 'store' | 'owner' | 'clock' | 'logger'>;

export function metricsFollower(context: Context, metrics: Pick<ServerMetrics, 'follower' | 'refresh'>): Service {
  const { store, owner, clock, logger } = context;
  const { follower } = metrics;
  let checkpointDueAt = -Infinity;
  let refreshDueAt = -Infinity;
  const tick = async (signal: AbortSignal): Promise<void> => {
    await follower.catchUp();
    if (clock.monotonic() >= refreshDueAt) {
      await metrics.refresh();
      refreshDueAt = clock.monotonic() + REFRESH_MS;
    }
    if (!follower.needsBase && clock.monotonic() < checkpointDueAt) return;
    // Where a base is missing the turn is a short one: nobody shows a figure before it is there.
    const everyMs = follower.needsBase ? EVERY_MS : CHECKPOINT_MS;
    const options = { service: 'metrics', namespace: store.namespace, everyMs, owner, clock, signal };
    const outcome = await takeTurn(store, options, async () => {
      await follower.keep();
      return 'done';
    });
    if (outcome === 'refused') await follower.lookAtNote();
    checkpointDueAt = clock.monotonic() + CHECKPOINT_MS;
  };
  return new PeriodicService({ name: 'metrics', clock, logger, intervalMs: () => EVERY_MS, tick });
}
