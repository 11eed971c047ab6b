// async-mutex, a mutex for each name.
import { Mutex } from 'async-mutex';

/** One process only, without a time to live: what waiting in line costs when nothing is shared. */
export function openAsyncMutex() {
  const mutexes = new Map();
  const mutexOf = (name) => {
    if (!mutexes.has(name)) mutexes.set(name, new Mutex());
    return mutexes.get(name);
  };
  return {
    name: 'async-mutex',
    close: () => undefined,
    pair: async (i) => (await mutexOf(`bench/${i % 1_000}`).acquire())(),
    lock: async (name) => ({ release: await mutexOf(name).acquire() }),
  };
}
