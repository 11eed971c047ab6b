// What watches a namespace, as a server has it: over a store of its own, until the test is over.
import { afterEach } from 'vitest';
import { silentLogger } from '../../src/observe/logger.js';
import { NAMESPACE_FIGURES } from '../../src/observe/namespace-figures.js';
import { observe, type Observing } from '../../src/services/observing.js';
import { openStore } from '../../src/stores/open-store.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';

export interface ObservingSite {
  /** Like one more server on the same store. */
  watch(url: string, owner: string): Promise<Observing>;
  stop(observing: Observing): Promise<void>;
}

export function observingSite(): ObservingSite {
  const running = new Map<Observing, Store>();
  const stop = async (observing: Observing): Promise<void> => {
    await observing.stop();
    await running.get(observing)?.close();
    running.delete(observing);
  };
  afterEach(async () => {
    for (const observing of [...running.keys()]) await stop(observing);
  });
  return {
    stop,
    watch: async (url, owner) => {
      const clock = systemClock();
      const store = await openStore(url, { clock, namespace: 'default', migrate: 'auto' });
      const observing = await observe({ store, owner, clock, logger: silentLogger });
      running.set(observing, store);
      observing.start();
      return observing;
    },
  };
}

const NAMES = NAMESPACE_FIGURES.map(({ name }) => name).filter((name) => name !== 'store_pool_connections');

/** The lines of the namespace's figures: what every server must say alike. */
export function namespaceLines(text: string): string[] {
  return text.split('\n').filter((line) => NAMES.some((name) => line.startsWith(name)));
}

/** The value of one series, or undefined. */
export function valueIn(text: string, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}
