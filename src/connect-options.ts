// The options of `connect`: what each takes, checked before anything is opened. What does not belong to the chosen store is
// refused instead of ignored.
import { checkKeys } from './domain/check-keys.js';
import type { Clock } from './domain/clock.js';
import { parseDuration, type Duration } from './domain/duration.js';
import { invalid, shown } from './domain/errors.js';
import type { Wait } from './manager/face.js';
import { schemeOf, type OpenOptions } from './stores/open-store.js';

export interface ConnectOptions {
  namespace?: string;
  /** Who holds; by default the owner the token is bound to, or unique to this instance: host-pid-random. */
  owner?: string;
  ttl?: Duration;
  wait?: Wait;
  /** When renewal is due, as a share of the ttl: 0.6, from 0.3 to 0.8. */
  renewAt?: number;
  requestTimeout?: Duration;
  services?: 'auto' | 'off';
  migrate?: 'auto' | 'check';
  /** A prom-client registry. */
  metrics?: unknown;
  /** debug, info, warn and error(facts, message), as pino has them. */
  logger?: unknown;
  clock?: Clock;
  /** For a server (`http:`, `https:`): as `holdfast token create` showed it. Sent in a header, never shown. */
  token?: string;
  /** PostgreSQL: the schema that holds everything, `holdfast`. */
  schema?: string;
  /** PostgreSQL: connections at most, 10. */
  poolSize?: number;
  /** PostgreSQL: how long a call waits for a free connection, 5 s. */
  poolTimeout?: Duration;
  /** PostgreSQL: where to LISTEN when the url leads to a pooler. */
  listenUrl?: string;
  /** The caller's own `Pool` (PostgreSQL) or client (Redis): `connect('postgres:', { client: pool })`. It is never closed. */
  client?: unknown;
}

const KNOWN: ReadonlySet<string> = new Set([
  ...['namespace', 'owner', 'ttl', 'wait', 'renewAt', 'requestTimeout', 'services', 'migrate', 'metrics'],
  ...['logger', 'clock', 'token', 'schema', 'poolSize', 'poolTimeout', 'listenUrl', 'client'],
]);
const POSTGRES = ['postgres', 'postgresql'];
/** Options that only some stores have. */
const BELONGS: Readonly<Record<string, { readonly to: string; readonly schemes: readonly string[] }>> = {
  token: { to: 'http: and https: stores', schemes: ['http', 'https'] },
  schema: { to: 'PostgreSQL', schemes: POSTGRES },
  poolSize: { to: 'PostgreSQL', schemes: POSTGRES },
  poolTimeout: { to: 'PostgreSQL', schemes: POSTGRES },
  listenUrl: { to: 'PostgreSQL', schemes: POSTGRES },
  client: { to: 'PostgreSQL and Redis', schemes: [...POSTGRES, 'redis', 'rediss'] },
};
const MOST_CONNECTIONS = 1_000;
const LONGEST_POOL_TIMEOUT_MS = 600_000;

export function checkOptions(options: ConnectOptions): void {
  checkKeys(options, KNOWN);
  oneOf(options.services, 'services', ['auto', 'off']);
  oneOf(options.migrate, 'migrate', ['auto', 'check']);
  checkClock(options.clock);
}

/** What opening a store needs of them. `url` is undefined for a store that the caller has opened. */
export function storeOptions(
  options: ConnectOptions,
  url: string | undefined,
): Omit<OpenOptions, 'clock' | 'namespace' | 'migrate'> {
  const scheme = url === undefined ? '' : schemeOf(url);
  for (const [key, { to, schemes }] of Object.entries(BELONGS)) {
    if (options[key as keyof ConnectOptions] === undefined || schemes.includes(scheme)) continue;
    throw invalid(`${key} is for ${to}: leave it out`);
  }
  const { schema, poolSize, poolTimeout, listenUrl, client, token } = options;
  for (const [name, text] of Object.entries({ schema, listenUrl })) {
    if (text !== undefined && (typeof text !== 'string' || text === ''))
      throw invalid(`${name} must be text that is not empty, got ${shown(text)}`);
  }
  const isSize = Number.isInteger(poolSize) && Number(poolSize) >= 1 && Number(poolSize) <= MOST_CONNECTIONS;
  if (poolSize !== undefined && !isSize)
    throw invalid(`poolSize is from 1 to ${MOST_CONNECTIONS} connections, got ${shown(poolSize)}`);
  if (client !== undefined && (client === null || !['object', 'function'].includes(typeof client)))
    throw invalid(`client is a Pool of pg, or a client of redis or ioredis, got ${shown(client)}`);
  if (client !== undefined && poolSize !== undefined)
    throw invalid('poolSize is for a pool of our own: leave it out when you give a client');
  const bounds = { name: 'poolTimeout', minMs: 1, maxMs: LONGEST_POOL_TIMEOUT_MS };
  return {
    schema,
    poolSize,
    poolTimeoutMs: poolTimeout === undefined ? undefined : parseDuration(poolTimeout, bounds),
    listenUrl,
    client,
    token,
  };
}

function checkClock(clock: Partial<Clock> | undefined): void {
  const isClock = typeof clock?.monotonic === 'function' && typeof clock.after === 'function';
  if (clock === undefined || isClock) return;
  throw invalid(`clock is an object such as systemClock() answers, got ${shown(clock)}`);
}

function oneOf(value: unknown, name: string, allowed: readonly string[]): void {
  if (value === undefined || allowed.includes(value as string)) return;
  throw invalid(`${name} is ${allowed.map((one) => `'${one}'`).join(' or ')}, got ${shown(value)}`);
}
