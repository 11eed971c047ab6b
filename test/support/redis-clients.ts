// Every kind of client that the Redis store takes from a caller, each as its library's users make it.
import { Cluster as IoRedis5Cluster, Redis as IoRedis5 } from 'ioredis';
import { Cluster as IoRedis6Cluster, Redis as IoRedis6 } from 'ioredis6';
import { createClient, createCluster } from 'redis';

export interface GivenClient {
  readonly client: unknown;
  close(): void;
}

export type MakeClient = (port: number, database?: number) => Promise<GivenClient>;

interface NodeRedis {
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: 'error', listener: () => void): unknown;
}

async function nodeRedis(client: NodeRedis): Promise<GivenClient> {
  await client.connect();
  return { client, close: () => client.destroy() };
}

const host = '127.0.0.1';
const urlOf = (port: number, database: number): string => `redis://${host}:${port}/${database}`;

export const SINGLE_CLIENTS: Readonly<Record<string, MakeClient>> = {
  'redis 6': (port, database = 0) => nodeRedis(createClient({ url: urlOf(port, database) })),
  'redis 6 with RESP2': (port, database = 0) => nodeRedis(createClient({ url: urlOf(port, database), RESP: 2 })),
  'redis 6 that maps types its own way': (port, database = 0) =>
    nodeRedis(
      createClient({
        url: urlOf(port, database),
        commandOptions: { typeMapping: { [36]: Buffer, [43]: Buffer, [58]: String } },
      }),
    ),
  'ioredis 5': async (port, db = 0) => ioredis(new IoRedis5(port, host, { db })),
  'ioredis 6': async (port, db = 0) => ioredis(new IoRedis6(port, host, { db })),
  'ioredis 6 with RESP2': async (port, db = 0) => ioredis(new IoRedis6(port, host, { db, protocol: 2 })),
  'ioredis 5 that pipelines by itself': async (port, db = 0) =>
    ioredis(new IoRedis5(port, host, { db, enableAutoPipelining: true })),
};

export const CLUSTER_CLIENTS: Readonly<Record<string, (ports: readonly number[]) => Promise<GivenClient>>> = {
  'redis 6': (ports) =>
    nodeRedis(createCluster({ rootNodes: ports.map((port) => ({ url: `redis://${host}:${port}` })) })),
  'ioredis 5': async (ports) => ioredis(new IoRedis5Cluster(ports.map((port) => ({ host, port })))),
  'ioredis 6': async (ports) => ioredis(new IoRedis6Cluster(ports.map((port) => ({ host, port })))),
};

function ioredis(client: { disconnect(): void }): GivenClient {
  return { client, close: () => client.disconnect() };
}
