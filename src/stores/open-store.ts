// From a URL to an open store. Each store is loaded on first use: connecting to one loads no driver of another.
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Clock } from '../domain/clock.js';
import { invalid, LeaseError, shown } from '../domain/errors.js';
import type { Restored } from './sqlite/index.js';
import type { Store } from './store.js';

export interface OpenOptions {
  readonly clock: Clock;
  readonly namespace: string;
  readonly migrate: 'auto' | 'check';
  /** For looking only: what is not there is not made, and nothing is written, not even what opening would put right. */
  readonly readOnly?: boolean;
  /** SQLite: whoever makes the store makes its directory too, as for the one of a user (`defaultStoreUrl`). */
  readonly isFolderMade?: boolean;
  /** PostgreSQL: the schema that holds everything. */
  readonly schema?: string | undefined;
  readonly poolSize?: number | undefined;
  readonly poolTimeoutMs?: number | undefined;
  /** PostgreSQL: where to LISTEN when the url leads to a pooler that cannot. */
  readonly listenUrl?: string | undefined;
  /** The caller's own pool (PostgreSQL) or client (Redis). */
  readonly client?: unknown;
  /** A server: who asks. */
  readonly token?: string | undefined;
}

type Opener = (url: string, options: OpenOptions) => Promise<Store>;

const openPostgres: Opener = async (url, options) => {
  const postgres = await import('./postgres/index.js');
  return postgres.openPostgres(url, options);
};
const openRedis: Opener = async (url, options) => {
  const redis = await import('./redis/index.js');
  return redis.openRedis(url, options);
};
const openHttp: Opener = async (url, options) => {
  const http = await import('./http/index.js');
  return http.openHttp(url, options);
};

const SCHEMES: Readonly<Record<string, Opener>> = {
  memory: async (_url, { clock, namespace }) => {
    const { MemoryStore } = await import('./memory/index.js');
    return new MemoryStore({ clock, namespace, givesWay: true });
  },
  sqlite: async (url, options) => {
    const { openSqlite } = await import('./sqlite/index.js');
    return openSqlite(url, options);
  },
  postgres: openPostgres,
  postgresql: openPostgres,
  redis: openRedis,
  rediss: openRedis,
  http: openHttp,
  https: openHttp,
};
/** Planned, and refused by name until they are built. */
const LATER: ReadonlySet<string> = new Set(['etcd']);

export async function openStore(url: string, options: OpenOptions): Promise<Store> {
  const scheme = schemeOf(url);
  const open = Object.hasOwn(SCHEMES, scheme) ? SCHEMES[scheme] : undefined;
  if (open) return open(url, options);
  const known = Object.keys(SCHEMES)
    .map((name) => `${name}:`)
    .join(', ');
  if (LATER.has(scheme)) throw invalid(`${scheme}: is not supported by this version: known are ${known}`);
  throw invalid(`${shown(withoutSecrets(url))} names no store: known are ${known}, for example sqlite:/path/leases.db`);
}

/** Empty when the text has none. */
export function schemeOf(url: string): string {
  return /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase() ?? '';
}

/** HOLDFAST_STORE, else SQLite in the user's state directory (C1), which is made if it is not there. */
export function defaultStoreUrl(env: NodeJS.ProcessEnv = process.env): string {
  const named = env['HOLDFAST_STORE'];
  if (named !== undefined && named !== '') return named;
  const path = userStorePath(env);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  } catch (cause) {
    const message = `the directory ${dirname(path)} cannot be made: make it writable, or name a store in HOLDFAST_STORE`;
    throw new LeaseError('STORE_UNAVAILABLE', message, { details: { path }, cause, retryable: false });
  }
  return `sqlite:${path}`;
}

/** The store of this user where none is named, whatever the working directory. Nothing is made. */
export function userStoreUrl(env: NodeJS.ProcessEnv = process.env): string {
  return `sqlite:${userStorePath(env)}`;
}

function userStorePath(env: NodeJS.ProcessEnv): string {
  const state = env['XDG_STATE_HOME'];
  const folder = state !== undefined && state.startsWith('/') ? state : join(homedir(), '.local', 'state');
  return join(folder, 'holdfast', 'leases.db');
}

/** A backup in the place of a store, which nobody else may have open (C7). */
export async function restoreStore(url: string, backup: string, clock: Clock): Promise<Restored> {
  if (!/^sqlite:/i.test(url))
    throw invalid(`${shown(withoutSecrets(url))} is not a file: restore is for sqlite: stores`);
  const { restoreSqlite } = await import('./sqlite/index.js');
  return restoreSqlite(url, backup, clock);
}

/** A URL may carry a password; a message never does. */
export function withoutSecrets(url: string): string {
  return url.replace(/\/\/[^/@]*@/, '//…@');
}
