// A place for a moment at the store a url names, for measuring: nothing of the user's is touched, and `remove` leaves nothing
// behind. What is opened here is closed here first: a store that is still open would write again.
import type { Clock } from '../domain/clock.js';
import { invalid, shown } from '../domain/errors.js';
import { schemeOf, withoutSecrets } from './open-store.js';
import type { Store } from './store.js';

export interface ScratchStore {
  /** Where it is, for people. */
  readonly place: string;
  /** Another connection each time, of a world of its own. */
  open(): Promise<Store>;
  /** Closes everything that was opened, and removes it. Again is harmless. */
  remove(): Promise<void>;
}

type Place = Omit<ScratchStore, 'open'> & { readonly open: () => Promise<Store> };

/** Nothing is made before the first `open`. */
export async function scratchStore(url: string, clock: Clock): Promise<ScratchStore> {
  const mark = `bench-${clock
    .randomText()
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .slice(0, 12)
    .toLowerCase()}`;
  const { place, open, remove } = await placeAt(url, mark, clock);
  const opened: Store[] = [];
  return {
    place,
    open: async () => {
      const store = await open();
      opened.push(store);
      return store;
    },
    remove: async () => {
      for (const store of opened.splice(0)) await store.close();
      await remove();
    },
  };
}

async function placeAt(url: string, mark: string, clock: Clock): Promise<Place> {
  switch (schemeOf(url)) {
    case 'sqlite':
      return (await import('./sqlite/scratch.js')).scratchFile(url, mark, clock);
    case 'postgres':
    case 'postgresql':
      return (await import('./postgres/scratch.js')).scratchSchema(url, mark, clock);
    case 'redis':
    case 'rediss':
      return (await import('./redis/scratch.js')).scratchNamespace(url, mark, clock);
    default:
      throw invalid(
        `${shown(withoutSecrets(url))} is no place that can be left as it was found: name sqlite:, postgres: or redis:`,
      );
  }
}
