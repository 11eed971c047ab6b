// The stress test of services can fail: each of these services breaks the contract in one way and is caught.
import { describe, expect, test } from 'vitest';
import type { Service } from '../services/service.js';
import { stressService, type StressEnvironment } from './service-stress.js';

const INTERVAL_MS = 5_000;

/** Right but for what the options break: a plain loop over the clock. */
function plainService(site: StressEnvironment, broken: Partial<Record<Fault, true>>): Service {
  const { clock, work } = site;
  let timer: { cancel(): void } | undefined;
  let ticking: Promise<void> | undefined;
  let isOn = false;
  let failures = 0;
  const wait = (): void => {
    const retryMs = broken.backoff ? 1_000 : Math.min(1_000 * 2 ** (failures - 1), 60_000);
    timer = clock.after(failures > 0 && !broken.noRetry ? retryMs : INTERVAL_MS, tick);
  };
  const tick = (): void => {
    timer = undefined;
    const done = work().then(
      () => void (failures = broken.forgets ? failures : 0),
      () => void (failures += 1),
    );
    ticking = done.then(() => {
      ticking = undefined;
      if (isOn && !broken.overlap) wait();
    });
    if (broken.overlap) timer = clock.after(100, tick);
  };
  return {
    name: 'plain',
    start: () => {
      if (isOn && !broken.startTwice) return;
      isOn = true;
      if (!ticking && !broken.neverStarts) wait();
    },
    stop: async () => {
      isOn = false;
      if (!broken.timerLeft) timer?.cancel();
      if (!broken.stopEarly) await ticking;
    },
  };
}
type Fault = 'backoff' | 'noRetry' | 'forgets' | 'overlap' | 'startTwice' | 'neverStarts' | 'timerLeft' | 'stopEarly';

const stress = (broken: Partial<Record<Fault, true>>, seed = 1): Promise<void> =>
  stressService({ intervalMs: INTERVAL_MS, retries: true, make: (site) => plainService(site, broken) }, seed);

test('O1: a service that keeps the contract passes', async () => {
  for (const seed of [1, 2, 3]) await stress({}, seed);
});

describe('O1: the stress test fails for a service', () => {
  test.each<[string, Fault, RegExp]>([
    ['that always retries after a second', 'backoff', /pauses after errors/],
    ['that does not retry', 'noRetry', /pauses after errors/],
    ['that does not come back to its interval', 'forgets', /after a success it waited/],
    ['whose ticks overlap', 'overlap', /seed 1/],
    ['that is started twice by two starts', 'startTwice', /timer behind|overlapped|after stop/],
    ['that does nothing', 'neverStarts', /does nothing/],
    ['that leaves its timer', 'timerLeft', /left a timer|after stop/],
    ['whose stop does not wait for its tick', 'stopEarly', /stop was done before/],
  ])('%s', async (_what, fault, message) => {
    await expect(stress({ [fault]: true })).rejects.toThrow(message);
  });

  test('whose stop never ends, and the seed is named', async () => {
    const never = (site: StressEnvironment): Service => {
      const plain = plainService(site, {});
      return {
        ...plain,
        stop: () =>
          new Promise(() => {
            // never
          }),
      };
    };
    const failed = stressService({ intervalMs: INTERVAL_MS, retries: true, make: never }, 7);
    await expect(failed).rejects.toThrow(/seed 7: .*stop does not come to an end/);
  });
});
