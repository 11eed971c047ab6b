// A client of our own for a url: `redis` if it is installed, else `ioredis`, loaded on demand. It lives as long as its
// connection: no reconnecting, no queue for later, no resending inside the library, so that a call fails as soon as it has to
// and every new connection is checked before it is used.
import { readFileSync } from 'node:fs';
import { LeaseError } from '../../../domain/errors.js';
import type { RedisAddress, Seed } from '../redis-url.js';
import { connectTelling, type ClientAdapter } from './adapter.js';
import { connectIoRedis, IoRedisAdapter, ONE_LIFE, type IoRedisClient } from './ioredis.js';
import { IoRedisClusterAdapter, type IoRedisCluster } from './ioredis-cluster.js';
import { NO_RECONNECT, NodeRedisAdapter, type NodeRedisClient } from './node-redis.js';
import { NodeRedisClusterAdapter, type NodeRedisCluster } from './node-redis-cluster.js';

const CONNECT_WITHIN_MS = 4_000;
/** More than this unanswered over one connection is a server that does not keep up. */
const MAX_QUEUED_COMMANDS = 10_000;

/** Makes and connects one client; `abandon` is told how to end it while it is still connecting. */
export type Connect = (address: RedisAddress, abandon: (dispose: () => void) => void) => Promise<ClientAdapter>;

export async function loadDriver(): Promise<Connect> {
  return (await loadNodeRedis()) ?? (await loadIoRedis()) ?? noDriver();
}

export async function loadNodeRedis(): Promise<Connect | undefined> {
  const driver = await optional(() => import('redis'), 'redis');
  if (driver === undefined) return undefined;
  return async (address, abandon) => {
    const { username, password, database, cluster, seeds } = address;
    const socket = { ...tlsOf(address), ...NO_RECONNECT, connectTimeout: CONNECT_WITHIN_MS };
    const shared = {
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      disableOfflineQueue: true,
      commandsQueueMaxLength: MAX_QUEUED_COMMANDS,
      maintNotifications: 'disabled',
      clientInfoTag: 'holdfast',
    };
    if (cluster) {
      const rootNodes = seeds.map((seed) => ({ ...shared, socket: { ...socket, ...seed } }));
      const make = driver.createCluster as unknown as (options: object) => NodeRedisCluster;
      const client = make({ rootNodes, defaults: { ...shared, socket }, minimizeConnections: true });
      const adapter = new NodeRedisClusterAdapter(client, true);
      abandon(() => adapter.dispose());
      await connectTelling(client);
      return adapter;
    }
    const make = driver.createClient as unknown as (options: object) => NodeRedisClient;
    const client = make({ ...shared, database, socket: { ...socket, ...seeds[0] } });
    const adapter = new NodeRedisAdapter(client, true);
    abandon(() => adapter.dispose());
    client.unref(); // a connection keeps no process alive; a call that waits does
    await connectTelling(client);
    return adapter;
  };
}

export async function loadIoRedis(): Promise<Connect | undefined> {
  const driver = await optional(() => import('ioredis'), 'ioredis');
  if (driver === undefined) return undefined;
  return async (address, abandon) => {
    const { username, password, database, cluster, seeds, tls } = address;
    const shared = {
      ...ONE_LIFE,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      ...(tls ? { tls: tlsOf(address) } : {}),
      connectTimeout: CONNECT_WITHIN_MS,
    };
    if (cluster) {
      const Cluster = driver.Cluster as unknown as new (nodes: readonly Seed[], options: object) => IoRedisCluster;
      const client = new Cluster(seeds, {
        redisOptions: shared,
        lazyConnect: true,
        clusterRetryStrategy: null,
        enableReadyCheck: false, // where it fails connect() never ends, and it may ask a node that has died; ours asks them all
        retryDelayOnFailover: 0,
        retryDelayOnClusterDown: 0,
        slotsRefreshTimeout: CONNECT_WITHIN_MS,
      });
      const adapter = new IoRedisClusterAdapter(client, true);
      abandon(() => adapter.dispose());
      await connectTelling(client);
      return adapter;
    }
    const Redis = driver.Redis as unknown as new (options: object) => IoRedisClient;
    const client = new Redis({ ...shared, ...seeds[0], db: database });
    const adapter = new IoRedisAdapter(client, true);
    abandon(() => adapter.dispose());
    await connectIoRedis(client);
    return adapter;
  };
}

function tlsOf({ tls, tlsCa }: RedisAddress): object {
  if (!tls) return {};
  if (tlsCa === undefined) return { tls: true };
  try {
    return { tls: true, ca: readFileSync(tlsCa) };
  } catch (cause) {
    const message = `${tlsCa}, named by tlsCa, cannot be read: name a PEM file with the servers' authority`;
    throw new LeaseError('INVALID_ARGUMENT', message, { cause });
  }
}

/** Undefined where the package is not installed; what fails inside it is not hidden. */
async function optional<T>(load: () => Promise<T>, name: string): Promise<T | undefined> {
  try {
    return await load();
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    if (code === 'ERR_MODULE_NOT_FOUND' && String(message).includes(`'${name}'`)) return undefined;
    throw error;
  }
}

function noDriver(): never {
  throw new LeaseError('STORE_UNAVAILABLE', 'no client for Redis is installed: npm install redis (or ioredis)', {
    retryable: false,
    details: { executed: false },
  });
}
