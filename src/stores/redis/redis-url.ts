// From a url to where the servers are: redis://[user[:password]@]host[:port][,host…][/database][?…], rediss: with TLS. Several
// hosts, or `cluster=true`, are a cluster. Nothing in the query is ignored, and no message shows the password.
import { parseDuration } from '../../domain/duration.js';
import { invalid, shown } from '../../domain/errors.js';

export interface Seed {
  readonly host: string;
  readonly port: number;
}

/** How many replicas must have a write before it counts as done, and how long they may take. */
export interface ReplicaWait {
  readonly count: number;
  readonly timeoutMs: number;
}

export interface RedisAddress {
  readonly seeds: readonly Seed[];
  readonly tls: boolean;
  /** A PEM file with the authority that signed the servers' certificates. */
  readonly tlsCa: string | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
  readonly cluster: boolean;
  readonly replicas: ReplicaWait;
  /** Whether this process stays awake for answers that are nearly there (protocol/awake.ts). */
  readonly awake: boolean;
  /** For messages: without user, password and query. */
  readonly shown: string;
}

const DEFAULT_PORT = 6379;
const MAX_SEEDS = 64;
const MAX_REPLICAS = 16;
const MAX_REPLICA_WAIT_MS = 4_000;
const DEFAULT_REPLICA_WAIT_MS = 500;
const EXAMPLE = 'for example redis://:password@127.0.0.1:6379/0';
const KNOWN = ['awake', 'cluster', 'replicas', 'replicasTimeout', 'tlsCa'] as const;
const SHAPE = /^(rediss?):(?:\/\/(?:([^@/?#]*)@)?([^/?#]*))?(\/[^?#]*)?(?:\?([^#]*))?$/i;

export function parseRedisUrl(url: string): RedisAddress {
  const [, scheme, credentials, hosts = '', path = '', search = ''] = SHAPE.exec(url) ?? [];
  if (scheme === undefined) throw invalid(`a redis url was expected, ${EXAMPLE}`);
  // A password with a raw @, / or ? ends up in the wrong part, and must not be shown from there.
  const quoted = (text: string): string => (url.includes('@') ? 'what stands there' : shown(text));
  const query = queryOf(search, quoted);
  const tls = scheme.toLowerCase() === 'rediss';
  const seeds = seedsOf(hosts, quoted);
  const cluster = flagOf(query, 'cluster') ?? seeds.length > 1;
  if (!cluster && seeds.length > 1)
    throw invalid('several hosts are a cluster: leave out cluster=false, or name one host');
  const replicas = replicasOf(query);
  const address = {
    ...credentialsOf(credentials),
    seeds,
    tls,
    tlsCa: query.get('tlsCa') ?? undefined,
    database: databaseOf(path, quoted),
    cluster,
    replicas,
    awake: flagOf(query, 'awake') ?? true,
    shown: `${scheme.toLowerCase()}://${seeds.map(({ host, port }) => `${bracketed(host)}:${port}`).join(',')}`,
  };
  if (address.tlsCa !== undefined && !tls) throw invalid('tlsCa is for rediss: urls: write rediss: to use TLS');
  if (cluster) checkCluster(address);
  return address;
}

/** With the caller's client the address is the client's: only what has nothing to do with it may stand in the url. */
export function checkNoAddress(url: string): void {
  const [, , credentials, hosts = '', path = '', search = ''] = SHAPE.exec(url) ?? [];
  const query = new URLSearchParams(search);
  const isBare = credentials === undefined && hosts === '' && (path === '' || path === '/');
  if (isBare && !query.has('cluster') && !query.has('tlsCa')) return;
  throw invalid(
    "client has an address of its own: write connect('redis:', { client }), with awake, replicas and replicasTimeout at most, or leave out client",
  );
}

/** What a cluster cannot do. */
export function checkCluster({ database, replicas }: Pick<RedisAddress, 'database' | 'replicas'>): void {
  if (database !== 0) throw invalid(`a cluster has only database 0, got ${database}: leave it out of the url`);
  if (replicas.count > 0) {
    throw invalid('replicas=N is not for a cluster: set min-replicas-to-write on its nodes instead');
  }
}

type Quoted = (text: string) => string;

function queryOf(search: string, quoted: Quoted): URLSearchParams {
  const query = new URLSearchParams(search);
  for (const name of query.keys()) {
    if (!(KNOWN as readonly string[]).includes(name)) {
      throw invalid(`${quoted(name)} in the query of the redis url is not known: known are ${KNOWN.join(', ')}`);
    }
    if (query.getAll(name).length > 1) throw invalid(`${name} stands more than once in the redis url`);
  }
  return query;
}

function seedsOf(hosts: string, quoted: Quoted): Seed[] {
  const seeds = (hosts === '' ? '127.0.0.1' : hosts).split(',').map((text) => {
    const [, six, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([^:@[\]\s]+))(?::(\d{1,5}))?$/i.exec(text) ?? [];
    const host = six ?? plain;
    const number = port === undefined ? DEFAULT_PORT : Number(port);
    if (host === undefined || number < 1 || number > 65_535) {
      throw invalid(
        `${quoted(text)} as host and port of the redis url is neither, ${EXAMPLE}; in a password write @ as %40 and / as %2F`,
      );
    }
    return { host: decoded(host), port: number };
  });
  if (seeds.length > MAX_SEEDS) throw invalid(`a redis url names at most ${MAX_SEEDS} hosts, got ${seeds.length}`);
  return seeds;
}

function credentialsOf(text: string | undefined): Pick<RedisAddress, 'username' | 'password'> {
  if (text === undefined || text === '') return { username: undefined, password: undefined };
  const colon = text.indexOf(':');
  const [user, password] = colon < 0 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)];
  if (password === undefined || password === '') {
    throw invalid('the redis url names a user without a password: write user:password@host, or :password@host');
  }
  return { username: user === '' ? undefined : decoded(user), password: decoded(password) };
}

function databaseOf(path: string, quoted: Quoted): number {
  if (path === '' || path === '/') return 0;
  const database = Number(/^\/(\d{1,4})$/.exec(path)?.[1] ?? Number.NaN);
  if (Number.isNaN(database))
    throw invalid(`the path of a redis url is a database number such as /0, got ${quoted(path)}`);
  return database;
}

function flagOf(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (text !== 'true' && text !== 'false') throw invalid(`${name} is true or false, got ${shown(text)}`);
  return text === 'true';
}

function replicasOf(query: URLSearchParams): ReplicaWait {
  const count = Number(query.get('replicas') ?? 0);
  if (!Number.isInteger(count) || count < 0 || count > MAX_REPLICAS) {
    throw invalid(`replicas is a whole number from 0 to ${MAX_REPLICAS}, got ${shown(query.get('replicas'))}`);
  }
  const text = query.get('replicasTimeout');
  if (text === null) return { count, timeoutMs: DEFAULT_REPLICA_WAIT_MS };
  if (count === 0) throw invalid('replicasTimeout needs replicas=N: say how many must have a write');
  // WAIT takes 0 for "for ever", and nothing here may wait that long.
  const timeoutMs = parseDuration(text, { name: 'replicasTimeout', minMs: 1, maxMs: MAX_REPLICA_WAIT_MS });
  return { count, timeoutMs };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid('the redis url has a % that encodes nothing: write a literal % as %25');
  }
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
