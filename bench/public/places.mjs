// Where each contender keeps its locks: servers of this run on free ports of the loopback address, and a folder for each contender
// of a store without one. Contenders of one store share its server, so that they meet the same settings.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEtcd, startPostgres, startRedis } from '../servers.mjs';

const STARTERS = { postgres: startPostgres, redis: startRedis, etcd: startEtcd };

export const serverOf = ({ server, store }) => server ?? store;

/** `settings` of a server by its kind, where one is needed to prepare it. */
export async function openPlaces(settings = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const kinds = Object.keys(STARTERS);
  const started = await Promise.all(kinds.map((kind) => STARTERS[kind](settings[kind])));
  const servers = Object.fromEntries(kinds.map((kind, i) => [kind, started[i]]));
  return {
    servers,
    of: (contender) => {
      const own = join(folder, contender.id);
      mkdirSync(own, { recursive: true });
      return { folder: own, file: join(own, contender.file ?? ''), url: servers[serverOf(contender)]?.url };
    },
    remove: async () => {
      await Promise.all(started.map((server) => server.remove()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
