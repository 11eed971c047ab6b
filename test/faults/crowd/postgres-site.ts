// PostgreSQL: leases and counters in one database of a server of its own, every worker behind a proxy of its own.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { openPostgres } from '../../../src/stores/postgres/index.js';
import { systemClock } from '../../../src/system-clock.js';
import { startCutProxy } from '../../support/servers/cut-proxy.js';
import { startPostgres } from '../../support/servers/postgres-server.js';
import type { Grounds } from './grounds.js';
import { filesIn, openConnections, type Counts, type Site } from './site.js';
import type { IncrementRecord } from './verdict.js';

const SETTINGS = { max_connections: '120', max_wal_size: '64MB', min_wal_size: '32MB', shared_buffers: '32MB' };
/** Small, so that it is full when all are counted. */
const POOL_SIZE = 3;
const CLOSING_TURNS = 40;
const CLOSING_MS = 50;
const PATIENCE_MS = 5_000;

export async function postgresSite(grounds: Grounds, slots: number): Promise<Site> {
  const server = await startPostgres({ within: grounds.place, env: grounds.env('server'), settings: SETTINGS });
  const links = await Promise.all(Array.from({ length: slots }, () => startCutProxy(server.port)));
  const url = (slot: number): string => server.url.replace(`:${server.port}/`, `:${links[slot]?.port ?? server.port}/`);
  const ask = async <T>(sql: string): Promise<T[]> => {
    const client = new pg.Client({ connectionString: server.url, query_timeout: PATIENCE_MS });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query({ text: sql, rowMode: 'array' })).rows as T[];
    } finally {
      await client.end();
    }
  };
  await ask('CREATE TABLE counter (n int PRIMARY KEY, value int)');
  await ask('CREATE TABLE record (op text PRIMARY KEY, n int, epoch bigint, value int)');
  /** All sessions but the asking one, and those in a transaction. */
  const sessions = async (): Promise<[all: number, inTransaction: number]> => {
    const [row] = await ask<[string, string]>(
      `SELECT count(*), count(*) FILTER (WHERE state LIKE 'idle in transaction%') FROM pg_stat_activity
       WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    );
    return [Number(row?.[0]), Number(row?.[1])];
  };
  const counts = async (): Promise<Counts> => {
    const { connections } = openConnections(links);
    let [all, inTransaction] = await sessions();
    // Those that were closed a moment ago, the test's own among them, are on their way out.
    for (let turn = 0; turn < CLOSING_TURNS && all > connections; turn += 1) {
      await delay(CLOSING_MS);
      [all, inTransaction] = await sessions();
    }
    return {
      ...{ connections, 'server sessions': all, 'server sessions in a transaction': inTransaction },
      ...filesIn(grounds.temporary),
    };
  };
  return {
    name: 'postgres',
    grounds,
    connectionsPerWorker: POOL_SIZE + 2, // one listens, one counts
    isMonotonic: false, // it is only never behind the rows that a call touches
    url,
    counters: (slot) => ({ kind: 'postgres', url: url(slot) }),
    options: { poolSize: POOL_SIZE },
    drill: { looks: 2 * POOL_SIZE },
    links: (slot) => links.slice(slot, slot + 1),
    server: {
      port: server.port,
      kill: () => server.stop('immediate'),
      start: () => server.start(),
      answers: async () => (await ask('SELECT 1')).length === 1,
    },
    openStore: () => openPostgres(server.url, { clock: systemClock() }),
    async readCounters() {
      const records = await ask<[string, number, string, number]>('SELECT op, n, epoch, value FROM record');
      return {
        records: records.map(([op, n, epoch, value]): IncrementRecord => ({ op, n, epoch: Number(epoch), value })),
        values: new Map(await ask<[number, number]>('SELECT n, value FROM counter')),
      };
    },
    counts,
    async remove() {
      await Promise.all(links.map((link) => link.close()));
      await server.remove();
    },
  };
}
