// From a url, or a caller's own pool, to connections that answer: the first one is made here, so that a wrong address, a wrong
// password and a server that is too old are told at once. A caller's pool is used as it is and never ended.
import type { Clock } from '../../domain/clock.js';
import { invalid, LeaseError, shown } from '../../domain/errors.js';
import { Connections } from './connections.js';
import type { PostgresLink } from './link.js';
import { Listener } from './listener.js';
import { checkPool, clientLike, loadDriver, type Client, type ClientConfig, type Pool } from './pool-driver.js';
import { PoolLink } from './pool-link.js';
import { badUrl, checkPostgresUrl, isBareScheme, serverName } from './postgres-url.js';
import { notReadCommitted, translateError, type Place } from './translate-error.js';

const DEFAULT_POOL_SIZE = 10;
const MAX_POOL_SIZE = 1_000;
const DEFAULT_POOL_TIMEOUT_MS = 5_000;
const MAX_POOL_TIMEOUT_MS = 600_000;
/** Longer than the renewal period of the default ttl: a process that holds a lease does not connect anew each time. */
const IDLE_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_MS = 10_000;
const OLDEST_VERSION = 130_000;

export interface LinkOptions {
  readonly clock: Clock;
  readonly schema?: string | undefined;
  readonly poolSize?: number | undefined;
  readonly poolTimeoutMs?: number | undefined;
  readonly listenUrl?: string | undefined;
  readonly client?: unknown;
}

interface Source {
  readonly pool: Pool;
  readonly isOwn: boolean;
  readonly server: string;
  readonly newClient: () => Client;
  readonly listenServer: string;
}

export async function openLink(url: string | undefined, options: LinkOptions): Promise<PostgresLink> {
  const { clock, schema = 'holdfast' } = options;
  const timeoutMs = whole(options.poolTimeoutMs, 'poolTimeout', DEFAULT_POOL_TIMEOUT_MS, MAX_POOL_TIMEOUT_MS);
  const source = await sourceOf(url, options, timeoutMs);
  let isReadOnly = false;
  const place = (): Place => ({ server: source.server, schema, isReadOnly });
  const connections = new Connections(source.pool, { clock, timeoutMs, isOwn: source.isOwn, place });
  const listener = new Listener({
    clock,
    newClient: source.newClient,
    notify: (channel, payload) => link.query(NOTIFY, [channel, payload]),
    translate: (error) => translateError(error, { server: source.listenServer, schema, isReadOnly: true }),
  });
  const link: PoolLink = new PoolLink({ pool: source.pool, isOwn: source.isOwn, connections, listener, clock, place });
  try {
    const [row = {}] = await link.query(FIRST_LOOK, []);
    isReadOnly = row['read_only'] === true;
    link.know({ serverVersion: String(row['version']), isReadOnly });
    checkVersion(Number(row['number']), String(row['version']), source.server);
    if (row['isolation'] !== 'read committed') throw notReadCommitted(source.server);
    return link;
  } catch (error) {
    await link.close();
    throw error;
  }
}

const NOTIFY = { name: 'hf_notify', text: 'SELECT pg_notify($1, $2)' };
const FIRST_LOOK = {
  name: 'hf_first_look',
  text: `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
    current_setting('transaction_isolation') AS isolation,
    pg_is_in_recovery() OR current_setting('transaction_read_only')::bool AS read_only`,
};

function checkVersion(number: number, version: string, server: string): void {
  if (number >= OLDEST_VERSION) return;
  const message = `${server} is PostgreSQL ${version}: 13 or newer is needed`;
  throw new LeaseError('STORE_INCOMPATIBLE', message, { details: { server, version } });
}

async function sourceOf(url: string | undefined, options: LinkOptions, timeoutMs: number): Promise<Source> {
  const keptAlive: ClientConfig = { keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_MS };
  const common: ClientConfig = {
    ...keptAlive,
    application_name: 'holdfast',
    connectionTimeoutMillis: timeoutMs,
  };
  const listen = options.listenUrl === undefined ? undefined : checkPostgresUrl(options.listenUrl, 'listenUrl');
  const toListen = async (): Promise<Pick<Source, 'newClient' | 'listenServer'> | undefined> => {
    if (listen === undefined) return undefined;
    const { Client: Made } = await loadDriver();
    const newClient = (): Client => new Made({ ...common, connectionString: listen });
    return { newClient, listenServer: serverName(readable(newClient, 'listenUrl')) };
  };

  if (options.client !== undefined) {
    if (url !== undefined && !isBareScheme(url)) {
      throw invalid(
        "client is a pool with an address of its own: write connect('postgres:', { client }), or leave out client",
      );
    }
    if (options.poolSize !== undefined) throw invalid('poolSize is for a pool of our own: set max on yours');
    const pool = checkPool(options.client);
    const newClient = (): Client => clientLike(pool, keptAlive);
    const server = serverName(readable(newClient, 'client'));
    return { pool, isOwn: false, server, newClient, listenServer: server, ...(await toListen()) };
  }

  const connectionString = checkPostgresUrl(url);
  const max = whole(options.poolSize, 'poolSize', DEFAULT_POOL_SIZE, MAX_POOL_SIZE);
  const { Client: Made, Pool: MadePool } = await loadDriver();
  const newClient = (): Client => new Made({ ...common, connectionString });
  const server = serverName(readable(newClient, 'the url'));
  const listening = await toListen();
  const pool = new MadePool({
    ...common,
    connectionString,
    max,
    min: 1,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    allowExitOnIdle: true,
  });
  return { pool, isOwn: true, server, newClient, listenServer: server, ...listening };
}

/** The driver reads the url, and the files it names, when a client is made. */
function readable(newClient: () => Client, name: string): Client {
  try {
    return newClient();
  } catch (error) {
    throw badUrl(error, name);
  }
}

function whole(value: number | undefined, name: string, standard: number, max: number): number {
  if (value === undefined) return standard;
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw invalid(`${name} is a whole number from 1 to ${max}, got ${shown(value)}`);
}
