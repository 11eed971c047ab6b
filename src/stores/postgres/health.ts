// What the server says of itself, for `holdfast doctor`. One statement over the catalog: it waits for no lock on our tables,
// so that it answers when they are locked. The text of other people's queries is not read: it may hold anything.
import type { PostgresHealth, PostgresLockWait, PostgresTransaction } from '../store-health.js';
import type { PostgresLink } from './link.js';

const TEXT = `
SELECT json_build_object(
  'maxConnections', current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
  'connections', (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
  'isReplica', pg_is_in_recovery(),
  'fsync', current_setting('fsync') = 'on',
  'synchronousCommit', current_setting('synchronous_commit'),
  'seesAllSessions', pg_has_role('pg_read_all_stats', 'MEMBER'),
  'transactions', (SELECT coalesce(json_agg(t), '[]') FROM (
    SELECT pid, coalesce(nullif(application_name, ''), usename, 'unnamed') AS application, coalesce(state, 'unknown') AS state,
      floor(extract(epoch FROM clock_timestamp() - xact_start) * 1000)::bigint AS "ageMs"
    FROM pg_stat_activity
    WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid() AND backend_type = 'client backend'
    ORDER BY xact_start LIMIT 10) t),
  'lockWaits', (SELECT coalesce(json_agg(w), '[]') FROM (
    SELECT l.pid, coalesce(c.relname, 'a name') AS "on", pg_blocking_pids(l.pid) AS "blockedBy",
      greatest(0, floor(extract(epoch FROM clock_timestamp() - coalesce(a.state_change, a.query_start)) * 1000))::bigint AS "waitedMs"
    FROM pg_locks l
    JOIN pg_stat_activity a ON a.pid = l.pid AND a.datname = current_database()
    LEFT JOIN pg_class c ON c.oid = l.relation
    LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE NOT l.granted AND (n.nspname = $1 OR l.locktype = 'advisory')
    ORDER BY a.query_start LIMIT 10) w)
) AS health`;

interface Columns {
  readonly connections: number;
  readonly maxConnections: number;
  readonly isReplica: boolean;
  readonly fsync: boolean;
  readonly synchronousCommit: string;
  readonly seesAllSessions: boolean;
  readonly transactions: readonly PostgresTransaction[];
  readonly lockWaits: readonly PostgresLockWait[];
}

export async function healthOfServer(link: PostgresLink, schema: string): Promise<PostgresHealth> {
  const [row] = await link.query({ name: 'hf_health', text: TEXT }, [schema]);
  const health = row?.['health'];
  const columns = (typeof health === 'string' ? JSON.parse(health) : health) as Columns;
  return { kind: 'postgres', ...columns };
}
