// A schema for a moment: the tables of the store are left alone, and dropping it leaves neither rows nor dead ones.
import type { Clock } from '../../domain/clock.js';
import type { Store } from '../store.js';
import { openLink } from './open-link.js';
import { openPostgres } from './open-postgres.js';
import { quoteName } from './quote.js';

export function scratchSchema(
  url: string,
  mark: string,
  clock: Clock,
): { place: string; open: () => Promise<Store>; remove: () => Promise<void> } {
  const schema = `holdfast_${mark.replaceAll('-', '_')}`;
  return {
    place: `schema ${schema}`,
    open: () => openPostgres(url, { clock, schema }),
    remove: async () => {
      const link = await openLink(url, { clock, schema, poolSize: 1 });
      try {
        const text = `DROP SCHEMA IF EXISTS ${quoteName(schema)} CASCADE`;
        await link.transaction((query) => query({ name: 'hf_drop', text }, []));
      } finally {
        await link.close();
      }
    },
  };
}
