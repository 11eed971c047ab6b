// holdfast/stores/redis: leases in Redis.
import type { Clock } from '../../domain/clock.js';
import type { Store } from '../store.js';

export interface RedisOptions {
  readonly clock: Clock;
  readonly namespace?: string | undefined;
  readonly migrate?: 'auto' | 'check' | undefined;
  readonly readOnly?: boolean | undefined;
  readonly client?: unknown;
}

export async function openRedis(_url: string | undefined, _options: RedisOptions): Promise<Store> {
  throw new Error('being built');
}
