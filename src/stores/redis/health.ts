// What the server says of itself, for `holdfast doctor`: one INFO, as pure facts. A script asks for it (lua/upkeep.ts), so that of a
// cluster it is the node that has the namespace.
import type { RedisHealth } from '../store-health.js';
import { parseInfo } from './server-checks.js';

export function healthOf(text: string): RedisHealth {
  const info = parseInfo(text);
  const figure = (name: string): number => Number(info.get(name) ?? 0);
  const isOk = (name: string): boolean => (info.get(name) ?? 'ok') === 'ok';
  return {
    kind: 'redis',
    usedBytes: figure('used_memory'),
    maxBytes: figure('maxmemory'),
    policy: info.get('maxmemory_policy') ?? 'unknown',
    evictedKeys: figure('evicted_keys'),
    appendonly: info.get('aof_enabled') === '1',
    appendWritesOk: isOk('aof_last_write_status') && isOk('aof_last_bgrewrite_status'),
    snapshotsOk: isOk('rdb_last_bgsave_status'),
    clients: figure('connected_clients'),
    maxClients: figure('maxclients'),
    rejectedConnections: figure('rejected_connections'),
  };
}
