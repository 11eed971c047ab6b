// Whether a server can keep what the store promises, judged from what it says of itself: pure functions over the text of INFO.
// Refused: too old, a replica, an eviction policy that may throw leases away. Durability is not refused but said (S2).
import { LeaseError } from '../../domain/errors.js';

export interface ServerFacts {
  readonly server: 'redis' | 'valkey';
  readonly version: string;
  readonly role: string;
  readonly cluster: boolean;
  readonly maxmemoryPolicy: string;
  readonly appendonly: boolean;
  /** `always`, `everysec`, `no`; undefined where CONFIG is forbidden. */
  readonly appendfsync: string | undefined;
  readonly connectedReplicas: number;
}

/** INFO as pairs; what is no pair is left out. */
export function parseInfo(text: string): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0 && !line.startsWith('#')) pairs.set(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return pairs;
}

/** `config` is what CONFIG GET answered, where it may be asked: INFO is enough for all but appendfsync. */
export function factsOf(info: ReadonlyMap<string, string>, config: ReadonlyMap<string, string>): ServerFacts {
  const valkey = info.get('valkey_version');
  return {
    server: valkey === undefined ? 'redis' : 'valkey',
    version: valkey ?? info.get('redis_version') ?? 'unknown',
    role: info.get('role') ?? 'unknown',
    cluster: info.get('cluster_enabled') === '1' || info.get('redis_mode') === 'cluster',
    maxmemoryPolicy: info.get('maxmemory_policy') ?? config.get('maxmemory-policy') ?? 'unknown',
    appendonly: info.get('aof_enabled') === '1',
    appendfsync: config.get('appendfsync'),
    connectedReplicas: Number(info.get('connected_slaves') ?? 0),
  };
}

/** Throws what stands against using this server. */
export function checkServer(facts: ServerFacts, where: string): void {
  const incompatible = (message: string): LeaseError =>
    new LeaseError('STORE_INCOMPATIBLE', message, { details: { ...facts } });
  const { server, version, role, maxmemoryPolicy } = facts;
  const [least, name] = server === 'valkey' ? [[7, 2], 'Valkey 7.2'] : [[7, 0], 'Redis 7.0'];
  if (version === 'unknown') throw incompatible(`${where} does not say its version: Redis 7.0 or Valkey 7.2 is needed`);
  if (isOlder(version, least as [number, number])) {
    throw incompatible(`${where} runs ${server} ${version}: ${name} or newer is needed, upgrade it`);
  }
  if (role !== 'master') {
    const message = `${where} is a replica: leases are taken at the primary, name it in the url`;
    throw new LeaseError('STORE_UNAVAILABLE', message, { details: { ...facts }, retryable: true });
  }
  if (maxmemoryPolicy.startsWith('allkeys-')) {
    throw incompatible(
      `${where} may throw leases away (maxmemory-policy ${maxmemoryPolicy}): CONFIG SET maxmemory-policy noeviction, or use a server of its own`,
    );
  }
}

/** What survives, in one phrase, for `info`. */
export function durabilityOf({ appendonly, appendfsync }: ServerFacts, replicas: number): string {
  const disk = !appendonly
    ? 'memory: a restart may lose answered writes (set appendonly yes)'
    : appendfsync === 'always'
      ? 'append-only file, written before each answer'
      : `append-only file, a crash of the machine may lose the last second (appendfsync ${appendfsync ?? 'unknown'})`;
  return replicas > 0 ? `${disk}; answered after ${replicas} replica${replicas > 1 ? 's' : ''} had it` : disk;
}

function isOlder(version: string, [major, minor]: readonly [number, number]): boolean {
  const [, first = '0', second = '0'] = /^(\d+)(?:\.(\d+))?/.exec(version) ?? [];
  return Number(first) < major || (Number(first) === major && Number(second) < minor);
}
