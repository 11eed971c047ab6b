// From a URL, or a caller's own pool, to an open store: the server answers, the schema is there and up to date, and this life of
// the server is written down (S2).
import type { Clock } from '../../domain/clock.js';
import { checkNamespace } from '../../domain/check-request.js';
import { LeaseError } from '../../domain/errors.js';
import type { Store } from '../store.js';
import type { PostgresLink } from './link.js';
import { checkMigrated, migrate } from './migrate.js';
import { openLink } from './open-link.js';
import { PostgresStore } from './postgres-store.js';
import { readAwake } from './postgres-url.js';
import { checkSchema, quoteName } from './quote.js';
import { SchemaCalls } from './schema-calls.js';
import { noWrites } from './translate-error.js';

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

export async function openPostgres(address: string | undefined, options: PostgresOptions): Promise<Store> {
  const { url, awake } = address === undefined ? { url: undefined, awake: true } : readAwake(address);
  const schema = checkSchema(options.schema ?? 'holdfast');
  const namespace = checkNamespace(options.namespace ?? 'default');
  const link = await openLink(url, { ...options, schema });
  try {
    const isReadOnly = options.readOnly ?? false;
    const { server, isReadOnly: takesNoWrites } = link.facts();
    if (takesNoWrites === true && !isReadOnly) throw noWrites({ server: String(server), schema });
    if (isReadOnly || options.migrate === 'check') await checkMigrated(link, schema, isReadOnly);
    else await migrate(link, schema, { dryRun: false });
    const channel = await begin(link, schema, isReadOnly ? undefined : namespace);
    const calls = new SchemaCalls(link, schema, { clock: options.clock, channel, isReadOnly, awake });
    return new PostgresStore(calls, namespace);
  } catch (error) {
    await link.close();
    throw error;
  }
}

/** The namespace and this life of the server are written down before the first call; every call checks both again. */
async function begin(link: PostgresLink, schema: string, namespace: string | undefined): Promise<string> {
  const name = quoteName(schema);
  const opening = namespace === undefined ? '' : `, ${name}.begin_life_v1(), ${name}.open_namespace_v1($1)`;
  const text = `SELECT ${name}.channel_v1() AS channel, current_setting('server_encoding') AS encoding${opening}`;
  const [row] = await link.query({ name: 'hf_begin', text }, namespace === undefined ? [] : [namespace]);
  if (row?.['encoding'] === 'UTF8') return String(row['channel']);
  throw new LeaseError(
    'STORE_INCOMPATIBLE',
    `the database keeps its text in ${String(row?.['encoding'])}, and names may hold anything Unicode has: create one with ENCODING 'UTF8'`,
  );
}
