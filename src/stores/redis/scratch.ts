// A namespace for a moment: its keys are removed together.
import type { Clock } from '../../domain/clock.js';
import type { Store } from '../store.js';
import { openRedis } from './index.js';
import { keysOf } from './keys.js';
import { openLink } from './open-link.js';

export function scratchNamespace(
  url: string,
  mark: string,
  clock: Clock,
): { place: string; open: () => Promise<Store>; remove: () => Promise<void> } {
  const keys = keysOf(mark);
  return {
    place: `namespace ${mark}`,
    open: () => openRedis(url, { clock, namespace: mark }),
    remove: async () => {
      const link = await openLink(url, { clock });
      try {
        await link.command(keys[0] ?? '', ['UNLINK', ...keys]);
      } finally {
        await link.close();
      }
    },
  };
}
