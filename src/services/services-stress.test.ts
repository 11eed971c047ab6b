// Every service under the one stress test (O1): start and stop in any order, slow and failing work.
import { describe, test } from 'vitest';
import { LogFollower } from '../observe/log-follower.js';
import { stressService, type StressSubject } from '../testing/service-stress.js';
import { AlertMonitor, ALERTS_EVERY_MS } from './alert-monitor.js';
import { newCounts } from './alert-figures.js';
import { deadlockMonitor } from './deadlock-monitor.js';
import { historyPruner } from './history-pruner.js';
import { LoopLag } from './loop-lag.js';
import { metricsFollower } from './metrics-follower.js';
import { recoveryService } from './recovery.js';
import { PeriodicService } from './service.js';
import { StoredNote } from './stored-note.js';
import { sweeper } from './sweeper.js';

const SUBJECTS: Readonly<Record<string, StressSubject>> = {
  'a periodic service': {
    intervalMs: 10_000,
    retries: true,
    make: ({ clock, logger, work }) =>
      new PeriodicService({ name: 'periodic', clock, logger, intervalMs: () => 10_000, tick: () => work() }),
  },
  'a periodic service with an interval shorter than its work': {
    intervalMs: 100,
    retries: true,
    make: ({ clock, logger, work }) =>
      new PeriodicService({ name: 'hasty', clock, logger, intervalMs: () => 100, tick: () => work() }),
  },
  'the sweeper': { intervalMs: 30_000, retries: true, make: (site) => sweeper({ ...site, owner: 'one' }) },
  'the history pruner': { intervalMs: 60_000, retries: true, make: (site) => historyPruner({ ...site, owner: 'one' }) },
  'the deadlock monitor': {
    intervalMs: 30_000,
    retries: true,
    make: (site) => deadlockMonitor({ ...site, owner: 'one' }),
  },
  recovery: {
    intervalMs: 30_000,
    retries: true,
    make: ({ work, ...site }) => {
      const run = async (): Promise<{ settled: number; failed: number; more: boolean }> => {
        await work();
        return { settled: 0, failed: 0, more: false };
      };
      return recoveryService({ ...site, owner: 'one' }, { run });
    },
  },
  'the alert monitor': {
    intervalMs: ALERTS_EVERY_MS,
    retries: true,
    make: ({ work, ...site }) =>
      new AlertMonitor({
        ...site,
        owner: 'one',
        announce: () => undefined,
        figures: async () => {
          await work();
          return { totals: undefined, process: { ...newCounts(), skewMs: 0 }, gaps: 0 };
        },
      }),
  },
  'the metrics follower': {
    intervalMs: 1_000,
    retries: true,
    make: ({ store, ...site }) => {
      const note = new StoredNote(store, 'metrics', site.clock);
      const follower = new LogFollower({ store, note, newBase: () => site.clock.randomText() });
      return metricsFollower({ ...site, store, owner: 'one' }, { follower, refresh: () => site.work() });
    },
  },
  'the loop lag': {
    intervalMs: 500,
    retries: false,
    make: ({ clock, logger, workNow }) => new LoopLag({ clock, logger, onSample: () => workNow() }),
  },
};

describe.each(Object.entries(SUBJECTS))('O1, S12: %s', (_name, subject) => {
  test.each([1, 2, 3, 4, 5])('O1, S12: starts, stops and fails as a service must, seed %d', async (seed) => {
    await stressService(subject, seed);
  });
});
