// What this store uses of `pg`, in types of its own: the caller's pool may come from another copy of the driver. Loaded on
// first use; a caller who brings a pool needs no second copy.
import type { Client, ClientConfig, Pool, PoolClient } from 'pg';
import { invalid, LeaseError, shown } from '../../domain/errors.js';

export type { Client, ClientConfig, Pool, PoolClient };

interface Driver {
  readonly Client: new (config: ClientConfig) => Client;
  readonly Pool: new (config: ClientConfig & Record<string, unknown>) => Pool;
}

export async function loadDriver(): Promise<Driver> {
  try {
    const { default: pg } = await import('pg');
    return pg;
  } catch (cause) {
    throw new LeaseError('INVALID_ARGUMENT', 'PostgreSQL needs the package pg: npm install pg', { cause });
  }
}

/** A pool of `pg`, not one of its clients nor of another library. */
export function checkPool(given: unknown): Pool {
  const pool = given as Partial<Pool> | null | undefined;
  const isPool =
    typeof pool === 'object' &&
    pool !== null &&
    typeof pool.connect === 'function' &&
    typeof pool.on === 'function' &&
    typeof pool.totalCount === 'number' &&
    typeof pool.options === 'object';
  if (!isPool) throw invalid(`client is a Pool of pg for PostgreSQL, got ${shown(given)}: new pg.Pool({ … })`);
  if (pool.ending) throw invalid('client is a Pool that was ended: give one that is open');
  return pool as Pool;
}

/** A connection of its own with the same settings as those of the pool, and with what is `ours` beside them. */
export function clientLike(pool: Pool, ours: ClientConfig): Client {
  const { Client: Made } = pool as unknown as { readonly Client: new (config: ClientConfig) => Client };
  return new Made({ ...pool.options, ...ours });
}

/** Ends it without a word: a socket that gives no answer would otherwise wait for one, for minutes. */
export function destroy(client: Client): void {
  client.connection?.stream?.destroy();
}

/** While it is in nobody's hands it keeps no process alive: as the pool does it with those that lie there. */
export function keepProcess(client: Client, isNeeded: boolean): void {
  const given = client as { ref?(): void; unref?(): void };
  if (isNeeded) given.ref?.();
  else given.unref?.();
}
