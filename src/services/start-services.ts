// The services of a connected process (O1), put together and started. Loaded only where they are wanted: a short command
// runs none and should not pay for reading them.
import type { Clock } from '../domain/clock.js';
import type { Settings } from '../domain/settings.js';
import type { Logger } from '../observe/logger.js';
import type { Store } from '../stores/store.js';
import { boundedStore } from './bounded-store.js';
import { deadlockMonitor } from './deadlock-monitor.js';
import { historyPruner } from './history-pruner.js';
import { LoopLag } from './loop-lag.js';
import { Supervisor } from './supervisor.js';
import { recoveryService, type Recovers } from './recovery.js';
import { sweeper } from './sweeper.js';

export interface ServicesOptions {
  readonly store: Store;
  readonly owner: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: Settings;
  readonly onLag: (ms: number) => void;
  /** Told of each sweep, in milliseconds. */
  readonly onSwept: (ms: number) => void;
}

export interface RunningServices {
  stop(): Promise<readonly unknown[]>;
  /** How late timers fire, on average; undefined before it is known. */
  loopLagMs(): number | undefined;
  /** A stream was opened: what expires in streams is recovered from now on, by whoever keeps house. Again is harmless. */
  recover(recoverer: Recovers): void;
}

export function startServices({ store, onLag, onSwept, ...rest }: ServicesOptions): RunningServices {
  const { clock, logger } = rest;
  const context = { ...rest, store: boundedStore(store, clock) };
  const lag = new LoopLag({ clock, logger, onSample: onLag });
  // A server keeps house for its clients.
  const keepsHouse = store.kind !== 'http';
  const houseKeeping = !keepsHouse ? [] : [sweeper(context, onSwept), historyPruner(context), deadlockMonitor(context)];
  const services = [lag, ...houseKeeping];
  const supervisor = new Supervisor(services, logger);
  supervisor.start();
  let isRecovering = false;
  const recover = (recoverer: Recovers): void => {
    if (keepsHouse && !isRecovering) supervisor.add(recoveryService(context, recoverer));
    isRecovering = true;
  };
  return { stop: () => supervisor.stop(), loopLagMs: () => lag.meanMs(), recover };
}
