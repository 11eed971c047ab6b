// Every service under the one stress test (O1): start and stop in any order, slow and failing work.
import { describe, test } from 'vitest';
import { stressService, type StressSubject } from '../testing/service-stress.js';
import { deadlockMonitor } from './deadlock-monitor.js';
import { historyPruner } from './history-pruner.js';
import { LoopLag } from './loop-lag.js';
import { recoveryService } from './recovery.js';
import { PeriodicService } from './service.js';
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
