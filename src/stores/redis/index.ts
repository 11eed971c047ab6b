// holdfast/stores/redis: leases in Redis.
import { checkNamespace } from '../../domain/check-request.js';
import type { Clock } from '../../domain/clock.js';
import type { Store } from '../store.js';
import { Namespace } from './namespace.js';
import { openLink } from './open-link.js';
import { RedisStore } from './redis-store.js';

export interface RedisOptions {
  readonly clock: Clock;
  readonly namespace?: string | undefined;
  readonly migrate?: 'auto' | 'check' | undefined;
  /** For looking only: what is not there is not made. */
  readonly readOnly?: boolean | undefined;
  /** The caller's own client or cluster, of `redis` or `ioredis`. */
  readonly client?: unknown;
}

export async function openRedis(url: string | undefined, options: RedisOptions): Promise<Store> {
  const { clock, client, readOnly = false } = options;
  const name = checkNamespace(options.namespace ?? 'default');
  const link = await openLink(url, { clock, client });
  const namespace = new Namespace(link, name, readOnly);
  try {
    await namespace.open();
  } catch (error) {
    await link.close();
    throw error;
  }
  return new RedisStore(namespace, clock);
}
