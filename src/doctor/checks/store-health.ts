// What is behind the store: room, memory, connections, locks, and whether it keeps what it answered.
import type { PostgresHealth, RedisHealth, SqliteHealth } from '../../stores/store-health.js';
import type { Facts } from '../facts.js';
import { finding, type Finding, type Severity } from '../finding.js';
import { bytes, count, duration, typed } from '../words.js';

const MIB = 1024 * 1024;
const LONG_WAL = { warning: 64 * MIB, wrong: 512 * MIB };
const LITTLE_ROOM = { warning: 1024 * MIB, wrong: 100 * MIB };
const CONNECTIONS = { warning: 0.8, wrong: 0.95 };
const MEMORY = { warning: 0.75, wrong: 0.9 };
const TRANSACTION_MS = { warning: 60_000, wrong: 5 * 60_000 };
const LOCK_WAIT_MS = { warning: 1_000, wrong: 5_000 };
const DISK_PAGE = 'docs/runbooks/wal-and-disk.md';
const PRESSURE_PAGE = 'docs/runbooks/resource-pressure.md';

export function storeHealth({ health }: Facts): Finding[] {
  switch (health?.kind) {
    case 'sqlite':
      return ofFile(health);
    case 'postgres':
      return ofPostgres(health);
    case 'redis':
      return ofRedis(health);
    default:
      return [];
  }
}

interface Bounds {
  readonly warning: number;
  readonly wrong: number;
}

function above(value: number, { warning, wrong }: Bounds): Severity | undefined {
  if (value >= wrong) return 'wrong';
  return value >= warning ? 'warning' : undefined;
}

function one(
  severity: Severity | undefined,
  what: string,
  evidence: readonly string[],
  next: string,
  page?: string,
): Finding[] {
  return severity === undefined ? [] : [finding('store-health', severity, what, evidence, next, page)];
}

function ofFile({ path, fileBytes, walBytes, freeBytes, diskBytes, networkFileSystem }: SqliteHealth): Finding[] {
  const sizes = [`file ${bytes(fileBytes)}, WAL ${bytes(walBytes)}, free ${bytes(freeBytes)} of ${bytes(diskBytes)}`];
  const room = freeBytes <= LITTLE_ROOM.wrong ? 'wrong' : freeBytes <= LITTLE_ROOM.warning ? 'warning' : undefined;
  const network = `${path} is on ${networkFileSystem ?? ''}: its locks do not span machines, so one machine only may open it`;
  return [
    ...one(
      above(walBytes, LONG_WAL),
      `the WAL of ${path} is ${bytes(walBytes)} long`,
      sizes,
      `ls -l ${typed(path)}*`,
      DISK_PAGE,
    ),
    ...one(room, `only ${bytes(freeBytes)} are left on the disk of ${path}`, sizes, `df -h ${typed(path)}`, DISK_PAGE),
    ...one(networkFileSystem === undefined ? undefined : 'warning', network, [], `df -hT ${typed(path)}`, DISK_PAGE),
  ];
}

function ofPostgres(health: PostgresHealth): Finding[] {
  const { connections, maxConnections, transactions, lockWaits, seesAllSessions } = health;
  const longest = transactions[0];
  const wait = lockWaits.toSorted((a, b) => b.waitedMs - a.waitedMs)[0];
  const blind = seesAllSessions
    ? []
    : ['sessions of other roles are hidden from this one: GRANT pg_read_all_stats shows them'];
  const ages = transactions.map(
    ({ pid, application, state, ageMs }) => `pid ${pid} (${application}, ${state}): ${duration(ageMs)}`,
  );
  const waits = lockWaits.map(
    ({ pid, on, waitedMs, blockedBy }) =>
      `pid ${pid} has waited ${duration(waitedMs)} for ${on}, behind ${blockedBy.length === 0 ? 'nobody by now' : `pid ${blockedBy.join(', ')}`}`,
  );
  const full = `${connections} of ${maxConnections} connections are taken`;
  return [
    ...one(
      above(connections / maxConnections, CONNECTIONS),
      full,
      blind,
      'psql -c "SELECT state, count(*) FROM pg_stat_activity GROUP BY state"',
      PRESSURE_PAGE,
    ),
    ...one(
      above(longest?.ageMs ?? 0, TRANSACTION_MS),
      `a transaction has been open for ${duration(longest?.ageMs ?? 0)}: readers of the log and vacuum stay behind it`,
      [...ages, ...blind],
      `psql -c "SELECT pg_terminate_backend(${longest?.pid ?? 0})"`,
    ),
    ...one(
      above(wait?.waitedMs ?? 0, LOCK_WAIT_MS),
      `${count(lockWaits.length, 'session waits', 'sessions wait')} for locks of ours, the longest for ${duration(wait?.waitedMs ?? 0)}`,
      waits,
      `psql -c "SELECT pid, state, query FROM pg_stat_activity WHERE pid IN (${(wait?.blockedBy ?? []).join(', ') || 'NULL'})"`,
    ),
    ...one(
      health.isReplica ? 'wrong' : undefined,
      'this server is a replica: leases are taken at the primary',
      [],
      'holdfast whoami',
    ),
    ...one(
      health.fsync ? undefined : 'wrong',
      'fsync is off: a power cut may damage everything',
      [],
      'psql -c "SHOW fsync"',
    ),
    ...one(
      health.synchronousCommit === 'off' ? 'warning' : undefined,
      'synchronous_commit is off: a crash may lose answered writes',
      [],
      'psql -c "SHOW synchronous_commit"',
    ),
  ];
}

function ofRedis(health: RedisHealth): Finding[] {
  const { usedBytes, maxBytes, policy, evictedKeys, clients, maxClients } = health;
  const memory = [`${bytes(usedBytes)} used of ${maxBytes === 0 ? 'no limit' : bytes(maxBytes)}, policy ${policy}`];
  const evicts = policy.startsWith('allkeys-') ? 'wrong' : evictedKeys > 0 ? 'warning' : undefined;
  return [
    ...one(
      maxBytes === 0 ? undefined : above(usedBytes / maxBytes, MEMORY),
      `${Math.round((100 * usedBytes) / Math.max(1, maxBytes))} % of the memory is used: at 100 % nothing new can be taken, renewals and releases still work`,
      memory,
      'redis-cli INFO memory',
      PRESSURE_PAGE,
    ),
    ...one(
      evicts,
      policy.startsWith('allkeys-')
        ? `maxmemory-policy ${policy} may throw leases away`
        : `${count(evictedKeys, 'key')} of others were evicted: ours have no ttl and stay, but the memory is short`,
      memory,
      'redis-cli CONFIG GET maxmemory-policy',
      PRESSURE_PAGE,
    ),
    ...one(
      health.appendWritesOk && health.snapshotsOk ? undefined : 'wrong',
      `the last ${health.appendWritesOk ? 'snapshot' : 'write of the append-only file'} failed: the server may refuse writes, and a restart loses them`,
      [`append-only file ${health.appendWritesOk ? 'ok' : 'failed'}, snapshot ${health.snapshotsOk ? 'ok' : 'failed'}`],
      'redis-cli INFO persistence',
      DISK_PAGE,
    ),
    ...one(
      health.appendonly ? undefined : 'note',
      'nothing is written before an answer (appendonly no): a restart may lose answered writes, epochs and guards protect',
      [],
      'redis-cli CONFIG GET appendonly',
      DISK_PAGE,
    ),
    ...one(
      maxClients === 0 ? undefined : above(clients / maxClients, CONNECTIONS),
      `${clients} of ${maxClients} connections are taken`,
      [`${health.rejectedConnections} were refused since the server started`],
      'redis-cli CLIENT LIST',
      PRESSURE_PAGE,
    ),
  ];
}
