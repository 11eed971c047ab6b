// holdfast/stores/postgres: leases in PostgreSQL.
import type { Clock } from '../../domain/clock.js';
import type { Store } from '../store.js';

export interface PostgresOptions {
  readonly clock: Clock;
  readonly namespace?: string | undefined;
  readonly migrate?: 'auto' | 'check' | undefined;
  readonly readOnly?: boolean | undefined;
  readonly schema?: string | undefined;
  readonly poolSize?: number | undefined;
  readonly poolTimeoutMs?: number | undefined;
  readonly listenUrl?: string | undefined;
  readonly client?: unknown;
}

export async function openPostgres(_url: string | undefined, _options: PostgresOptions): Promise<Store> {
  throw new Error('being built');
}
