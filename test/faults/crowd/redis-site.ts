// Redis with an append-only file that is flushed before every answer: leases and counters in one server of its own, every worker
// behind a proxy of its own.
import { createClient } from 'redis';
import { openRedis } from '../../../src/stores/redis/index.js';
import { systemClock } from '../../../src/system-clock.js';
import { startCutProxy } from '../../support/servers/cut-proxy.js';
import { startRedis } from '../../support/servers/redis-server.js';
import type { Grounds } from './grounds.js';
import { descriptorsOf, filesIn, openConnections, type Site } from './site.js';

const SETTINGS = { appendonly: 'yes', appendfsync: 'always' };
const PATIENCE_MS = 5_000;

type Client = ReturnType<typeof createClient>;

export async function redisSite(grounds: Grounds, slots: number): Promise<Site> {
  const server = await startRedis({ within: grounds.place, env: grounds.env('server'), settings: SETTINGS });
  const links = await Promise.all(Array.from({ length: slots }, () => startCutProxy(server.port)));
  const url = (slot: number): string => `redis://127.0.0.1:${links[slot]?.port ?? server.port}`;
  const ask = async <T>(question: (client: Client) => Promise<T>): Promise<T> => {
    const socket = { connectTimeout: PATIENCE_MS, socketTimeout: PATIENCE_MS, reconnectStrategy: false as const };
    const client: Client = createClient({ url: server.url, socket });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await question(client);
    } finally {
      client.destroy();
    }
  };
  return {
    name: 'redis',
    grounds,
    connectionsPerWorker: 4, // calls, short calls beside them, hints, counters
    isMonotonic: true,
    url,
    counters: (slot) => ({ kind: 'redis', url: url(slot) }),
    links: (slot) => links.slice(slot, slot + 1),
    server: {
      port: server.port,
      kill: () => server.stop('SIGKILL'),
      start: () => server.start(),
      answers: () => ask(async (client) => (await client.ping()) === 'PONG'),
    },
    openStore: () => openRedis(server.url, { clock: systemClock() }),
    readCounters: () =>
      ask(async (client) => {
        const [values, records] = await Promise.all(
          ['counter', 'record'].map((key) => client.hGetAll(`{default}:${key}`)),
        );
        return {
          records: Object.entries(records ?? {}).map(([op, text]) => {
            const [n = 0, epoch = 0, value = 0] = text.split(' ').map(Number);
            return { op, n, epoch, value };
          }),
          values: new Map(Object.entries(values ?? {}).map(([n, value]) => [Number(n), Number(value)])),
        };
      }),
    counts: async () => ({ ...descriptorsOf(server.pid), ...openConnections(links), ...filesIn(grounds.temporary) }),
    async remove() {
      await Promise.all(links.map((link) => link.close()));
      await server.remove();
    },
  };
}
