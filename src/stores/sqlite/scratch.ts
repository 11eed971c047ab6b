// A file for a moment, beside the store: same disk, same settings. The store itself is left alone, for a file that has grown
// does not shrink. Removed with everything SQLite and the bell put beside it.
import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../domain/clock.js';
import type { Store } from '../store.js';
import { openSqlite } from './open-sqlite.js';
import { parseSqliteUrl } from './sqlite-url.js';

export function scratchFile(
  url: string,
  mark: string,
  clock: Clock,
): { place: string; open: () => Promise<Store>; remove: () => Promise<void> } {
  const { path, cacheKib, synchronous, allowNetwork } = parseSqliteUrl(url);
  const place = `${path}.${mark}`;
  const options = `cacheSize=${cacheKib}kb&synchronous=${synchronous}&network=${allowNetwork ? 'allow' : 'refuse'}`;
  return {
    place,
    open: () => openSqlite(`sqlite:${place}?${options}`, { clock }),
    remove: async () => {
      const files = readdirSync(dirname(place)).filter((name) => name.startsWith(basename(place)));
      for (const name of files) rmSync(join(dirname(place), name), { force: true });
    },
  };
}
