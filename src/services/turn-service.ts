// A service of a namespace whose ticks are turns (O1): it reads the settings, asks for its turn, works. What was left over
// is gone on with after a second; otherwise the interval passes.
import type { Clock } from '../domain/clock.js';
import { DEFAULT_SETTINGS, type Settings } from '../domain/settings.js';
import type { Logger } from '../observe/logger.js';
import type { Store } from '../stores/store.js';
import { PeriodicService, type Service } from './service.js';
import { takeTurn, type Turn, type Work } from './turn.js';

export interface ServiceContext {
  readonly store: Store;
  /** Named as the holder of turns and as the actor of what a service does. */
  readonly owner: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** As known at the start; each tick reads them again. */
  readonly settings?: Settings | undefined;
}

interface TurnPlan {
  readonly name: string;
  readonly everyMs: (settings: Settings) => number;
  readonly isOn?: (settings: Settings) => boolean;
  readonly work: (turn: Turn, settings: Settings) => Promise<Work>;
}

/** How soon a turn that did not finish is followed by another. */
const CATCH_UP_MS = 1_000;
/** However long the interval: a changed setting, or a process that died in its turn, is noticed within this. */
const LOOK_AGAIN_MS = 60_000;

export function turnService(context: ServiceContext, plan: TurnPlan): Service {
  const { store, owner, clock, logger, settings: atStart = DEFAULT_SETTINGS } = context;
  let waitMs = Math.min(plan.everyMs(atStart), LOOK_AGAIN_MS);
  const tick = async (signal: AbortSignal): Promise<void> => {
    const { settings } = await store.settings();
    const everyMs = plan.everyMs(settings);
    waitMs = Math.min(everyMs, LOOK_AGAIN_MS);
    if (plan.isOn?.(settings) === false) return;
    const options = { service: plan.name, namespace: store.namespace, everyMs, owner, clock, signal };
    const outcome = await takeTurn(store, options, (turn) => plan.work(turn, settings));
    if (outcome === 'more') waitMs = Math.min(waitMs, CATCH_UP_MS);
  };
  return new PeriodicService({ name: plan.name, clock, logger, intervalMs: () => waitMs, tick });
}
