// The caller's own client, known by its shape: which library, one server or a cluster. What would break the store's promises
// quietly (a key prefix, numbers turned into text, subscriber mode) is refused with what to do instead.
import { invalid, LeaseError } from '../../../domain/errors.js';
import { subscriberMode } from '../translate-error.js';
import type { ClientAdapter } from './adapter.js';
import { IoRedisAdapter, type IoRedisClient, type IoRedisOptions } from './ioredis.js';
import { IoRedisClusterAdapter, type IoRedisCluster } from './ioredis-cluster.js';
import { NodeRedisAdapter, type NodeRedisClient } from './node-redis.js';
import { NodeRedisClusterAdapter, type NodeRedisCluster } from './node-redis-cluster.js';

const NAME = 'the client that was handed in';
const EXPECTED =
  'a client or cluster of `redis` (createClient, createCluster) or `ioredis` (Redis, Cluster) was expected';

export function recogniseClient(client: unknown): ClientAdapter {
  if (typeof client !== 'object' || client === null) throw invalid(`client: ${EXPECTED}`);
  const shape = client as Partial<NodeRedisClient & NodeRedisCluster & IoRedisClient & IoRedisCluster>;
  if (typeof shape.call === 'function' && typeof shape.status === 'string') {
    checkIoRedis(shape as IoRedisClient);
    if (shape.isCluster === true && typeof shape.nodes === 'function') {
      return new IoRedisClusterAdapter(shape as IoRedisCluster, false);
    }
    if (typeof shape.duplicate === 'function') return new IoRedisAdapter(shape as IoRedisClient, false);
  }
  if (typeof shape.sendCommand === 'function' && typeof shape.isOpen === 'boolean') {
    if (typeof shape.nodeClient === 'function' && Array.isArray(shape.masters)) {
      checkPrefix((shape as NodeRedisCluster)._keyPrefix);
      checkOpen(shape.isOpen);
      return new NodeRedisClusterAdapter(shape as NodeRedisCluster, false);
    }
    if (typeof shape.isPubSubActive === 'boolean' && typeof shape.duplicate === 'function') {
      checkNodeRedis(shape as NodeRedisClient);
      return new NodeRedisAdapter(shape as NodeRedisClient, false);
    }
  }
  throw invalid(
    `client: ${EXPECTED}; a pool, a sentinel client, a pipeline or legacy() is none: hand in what it was made from`,
  );
}

function checkIoRedis(client: IoRedisClient): void {
  const options: IoRedisOptions = { ...client.options.redisOptions, ...client.options };
  checkPrefix(client.options.keyPrefix ?? client.options.redisOptions?.keyPrefix);
  if (options.stringNumbers === true) {
    throw invalid('client: stringNumbers turns numbers into text: hand in client.duplicate({ stringNumbers: false })');
  }
  // With RESP3 (ioredis 6) one connection can hear and ask.
  const speaksBoth = options.protocol === 3 && client.mode === 'subscriber';
  if (client.mode === 'monitor' || (client.mode === 'subscriber' && !speaksBoth)) throw inSubscriberMode();
}

function checkNodeRedis(client: NodeRedisClient): void {
  checkPrefix(client.options?.keyPrefix);
  checkOpen(client.isOpen);
  if (client.isPubSubActive && client.options?.RESP === 2) throw inSubscriberMode();
}

function checkPrefix(prefix: unknown): void {
  if (prefix === undefined || prefix === null || prefix === '') return;
  throw invalid(
    'client: keyPrefix would move the keys of the store but not its channels: hand in a client without it, and use `namespace`',
  );
}

function checkOpen(isOpen: boolean): void {
  if (isOpen) return;
  const message = `${NAME} is closed: call its connect() before it is handed over`;
  throw new LeaseError('STORE_UNAVAILABLE', message, { details: { executed: false }, retryable: false });
}

function inSubscriberMode(): LeaseError {
  return subscriberMode({ where: NAME, error: undefined });
}
