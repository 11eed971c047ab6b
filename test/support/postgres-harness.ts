// PostgreSQL for the conformance suite: one server of the tests' own whose clock is stepped to let time pass. Each `open` has a
// schema to itself; one that was closed is emptied and used again, which is quicker than making one and as empty. With a pooler in
// front, everything a store does but listening goes through that (S19), the making of its schema too.
import pg from 'pg';
import { openPostgres } from '../../src/stores/postgres/index.js';
import { quoteName } from '../../src/stores/postgres/quote.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import type { Opened, StoreHarness } from '../../src/testing/store-conformance/harness.js';
import { startPgbouncer, type PgbouncerServer } from './servers/pgbouncer-server.js';
import { startPostgres, type PostgresServer } from './servers/postgres-server.js';

/** Tests wait for nobody's disk; what survives a crash is tested elsewhere. */
const QUICK = { fsync: 'off', full_page_writes: 'off', autovacuum_naptime: '5s' };
const NEAR_LIMIT = Number.MAX_SAFE_INTEGER - 900;
const TABLES = ['lease', 'lease_part', 'log', 'life', 'namespace', 'stream', 'stream_next', 'span', 'reader'];
const EMPTY = TABLES.map((table) => `DELETE FROM {s}.${table}`).join(';');

export class PostgresSite {
  readonly server: PostgresServer;
  readonly pooler: PgbouncerServer | undefined;
  readonly #admin: pg.Pool;
  readonly #free: string[] = [];
  #made = 0;

  constructor(server: PostgresServer, pooler?: PgbouncerServer) {
    this.server = server;
    this.pooler = pooler;
    this.#admin = new pg.Pool({ connectionString: server.url, max: 2 });
    this.#admin.on('error', () => undefined);
  }

  static async start(): Promise<PostgresSite> {
    return new PostgresSite(await startPostgres({ stepClock: true, settings: QUICK }));
  }

  /** The same behind PgBouncer in transaction mode. */
  static async startPooled(): Promise<PostgresSite> {
    const server = await startPostgres({ stepClock: true, settings: QUICK });
    return new PostgresSite(server, await startPgbouncer(server));
  }

  /** Where a store connects to. */
  get way(): { readonly url: string; readonly listenUrl?: string } {
    return this.pooler ? { url: this.pooler.url, listenUrl: this.server.url } : { url: this.server.url };
  }

  async sql(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    const { rows } = await this.#admin.query(text, [...values]);
    return rows as Record<string, unknown>[];
  }

  async open(epoch?: number): Promise<Opened> {
    const clock = systemClock();
    const used = this.#free.pop();
    if (used !== undefined) await this.sql(EMPTY.replaceAll('{s}', quoteName(used)));
    const schema = used ?? `suite ${(this.#made += 1)}`;
    const opened: Store[] = [];
    const connect = async (): Promise<Store> => {
      const { url, listenUrl } = this.way;
      const store = await openPostgres(url, { clock, schema, poolSize: 3, listenUrl });
      opened.push(store);
      return store;
    };
    const store = await connect();
    if (epoch !== undefined) {
      await store.setSettings({}); // makes the namespace, and its counter with it
      const [row] = await this.sql(`SELECT id FROM ${quoteName(schema)}.namespace WHERE name = 'default'`);
      await this.sql('SELECT setval($1, $2)', [`${quoteName(schema)}.epoch_${String(row?.['id'])}`, epoch]);
    }
    return {
      store,
      another: connect,
      passTime: async (ms) => this.server.clock.step(ms),
      wall: () => clock.wall() + this.server.clock.offsetMs,
      randomText: () => clock.randomText(),
      letHintsArrive: () =>
        new Promise((resolve) => {
          clock.after(5, resolve, true);
        }),
      close: async () => {
        await Promise.all(opened.map((one) => one.close()));
        this.#free.push(schema);
      },
    };
  }

  async stop(): Promise<void> {
    await this.#admin.end();
    await this.pooler?.remove();
    await this.server.remove();
  }
}

/** `site` is there once the test file's first hook has run. */
export function postgresHarness(site: () => PostgresSite): StoreHarness {
  return {
    name: 'PostgreSQL',
    capabilities: { sequences: true },
    open: () => site().open(),
    openNearLimit: () => site().open(NEAR_LIMIT),
  };
}
