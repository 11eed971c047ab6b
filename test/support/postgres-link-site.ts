// What tests of the PostgreSQL connections share: a link that is closed with the test, a condition that is waited for, and the
// LeaseError a call ends with.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { LeaseError } from '../../src/domain/errors.js';
import type { LinkListener, PostgresLink } from '../../src/stores/postgres/link.js';
import { openLink, type LinkOptions } from '../../src/stores/postgres/open-link.js';
import { systemClock } from '../../src/system-clock.js';

export async function linkTo(url: string | undefined, options: Partial<LinkOptions> = {}): Promise<PostgresLink> {
  const link = await openLink(url, { clock: systemClock(), ...options });
  onTestFinished(() => link.close());
  return link;
}

/** A pool as a caller would have it. */
export function callersPool(connectionString: string, config: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString, ...config });
  onTestFinished(() => pool.end());
  return pool;
}

/** Another session, which locks and looks. */
export async function session(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined); // tests stop servers
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

export async function until(what: string, isSo: () => boolean | Promise<boolean>, patienceMs = 15_000): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not so after ${patienceMs} ms: ${what}`);
    await delay(10);
  }
}

/** Ends every session a role has now, and waits until they are over; its programs may begin new ones at once. */
export async function endSessionsOf(role: string, owner: pg.Client): Promise<void> {
  const text = 'SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1';
  const pids = ((await owner.query(text, [role])).rows as { pid: number }[]).map(({ pid }) => pid);
  await until(`the sessions of ${role} are over`, async () => {
    const { rows } = await owner.query('SELECT 1 FROM pg_stat_activity WHERE pid = ANY($1)', [pids]);
    return rows.length === 0;
  });
}

/** The error a promise ends with; a LeaseError and nothing else. */
export async function failure(promise: Promise<unknown>): Promise<LeaseError> {
  const error: unknown = await promise.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (error instanceof LeaseError) return error;
  throw error;
}

export const one = { name: 'one', text: 'SELECT 1 AS one' };
export const sleep = { name: 'sleep', text: 'SELECT pg_sleep($1)' };

/** Writes down what it is told. */
export class Ear implements LinkListener {
  readonly heard: string[] = [];
  readonly downs: LeaseError[] = [];
  ups = 0;
  message(payload: string): void {
    this.heard.push(payload);
  }
  down(error: LeaseError): void {
    this.downs.push(error);
  }
  up(): void {
    this.ups += 1;
  }
}
