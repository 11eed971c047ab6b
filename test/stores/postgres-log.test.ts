// The log of the PostgreSQL store: behind a slow transaction (H1), while it is pruned (H4), and a stretch at a time (S18).
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventQuery } from '../../src/domain/requests.js';
import { openPostgres } from '../../src/stores/postgres/index.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { grant as grantOn } from '../support/ask.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const LONG = { owner: 'me', ttlMs: 600_000 };
const grant = (store: Store, name: string) => grantOn(store, clock, name, LONG);

describe.skipIf(isSkipped('postgres'))('the log of the PostgreSQL store', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());
  const open = ({ schema }: { readonly schema: string }): Promise<Store> => openPostgres(server.url, { clock, schema });

  test('H1: a reader stays behind a transaction that is slow to commit, and then misses nothing', async () => {
    const [store, other] = [await open({ schema: 'slow' }), await open({ schema: 'slow' })];
    const start = await page(store);
    const slow = new pg.Client(server.url);
    await slow.connect();
    await slow.query('BEGIN');
    const values = ['held/up', 'me-and-my-slow-transaction', clock.wall()];
    await slow.query(
      `SELECT slow.acquire_plain_v1('default', ARRAY[$1::text], '{held}', ARRAY[$2::text], '{me}', '{600000}', '{1}',
         ARRAY[$3::bigint], ARRAY[$3::float8], '{false}')`,
      values.map(String),
    );
    await grant(other, 'quick/1');
    await grant(other, 'quick/2');
    const behind = await page(store, start.next);
    expect(names(behind)).toEqual([]);
    expect(names(await page(store, undefined, true))).toEqual([]);
    await slow.query('COMMIT');
    const rest = await page(store, behind.next);
    expect(names(rest)).toEqual(['held/up', 'quick/1', 'quick/2']);
    expect(names(await page(store, start.next))).toEqual(names(rest));
    await slow.end();
    await Promise.all([store.close(), other.close()]);
  });

  test('H1: a writer that comes while the log is being read is ahead of the reader, and holds nothing up', async () => {
    const store = await open({ schema: 'ahead' });
    await grant(store, 'a');
    const writer = new pg.Client(server.url);
    await writer.connect();
    await writer.query('BEGIN');
    // As if others had drawn between the reader's look at the counters and this one's: its locks are beyond what was seen.
    await writer.query(
      `SELECT pg_advisory_xact_lock_shared((seed & 2147483646)::integer, ((epoch + 1) & 2147483647)::integer),
              pg_advisory_xact_lock_shared(((seed & 2147483646) + 1)::integer, ((row + 1) & 2147483647)::integer)
       FROM (SELECT ahead.seed_v1('default') AS seed, pg_sequence_last_value('ahead.epoch_1'::regclass) AS epoch,
               pg_sequence_last_value('ahead.log_row'::regclass) AS row) n`,
    );
    const first = await page(store);
    expect(names(first)).toEqual(['a']);
    await grant(store, 'b');
    await writer.query('ROLLBACK');
    expect(names(await page(store, first.next))).toEqual(['b']);
    await writer.end();
    await store.close();
  });

  test('H1: rows that are pruned while a reader is on its way to them are said to be lost', async () => {
    const store = await open({ schema: 'pruned' });
    const start = await page(store);
    await grant(store, 'a');
    await grant(store, 'b');
    const pruner = new pg.Client(server.url);
    await pruner.connect();
    await pruner.query('BEGIN');
    await pruner.query('LOCK TABLE pruned.log IN ACCESS EXCLUSIVE MODE'); // the reader has looked at everything else by then
    const reading = store.events({ after: start.next, limit: 10 });
    const waits = `SELECT 1 FROM pg_locks WHERE relation = 'pruned.log'::regclass AND NOT granted`;
    while ((await pruner.query(waits)).rowCount === 0);
    await pruner.query(`WITH gone AS (DELETE FROM pruned.log WHERE name = 'a' RETURNING e, s)
      UPDATE pruned.namespace SET pruned_e = gone.e, pruned_s = gone.s FROM gone`);
    await pruner.query('COMMIT');
    expect(await reading).toMatchObject({ outcome: 'lost' });
    expect(names(await page(store))).toEqual(['b']);
    await pruner.end();
    await store.close();
  });

  test('H4, S18: a step of pruning reads no more ended ids than it may take, and a thousand, however many there are', async () => {
    const store = await open({ schema: 'many' });
    await grant(store, 'a');
    const client = new pg.Client(server.url);
    await client.connect();
    await client.query(`INSERT INTO many.lease (ns, status, stands, content, epoch, grant_epoch, ttl_ms, acquired_at, renewed_at,
        expires_at, check_at, skew_ms, arrival, arrived_at, id, name, owner, ended_at)
      SELECT ns, 2, false, content, epoch, epoch, ttl_ms, i, i, i, i, 0, -i, i, 'id' || i, 'n' || i, owner, 20000 - i
      FROM many.lease, generate_series(1, 20000) i`);
    await client.query('ANALYZE many.lease');
    await client.query('BEGIN');
    await client.query("SELECT many.prune_v1('default', 1000, 120000, false, NULL, NULL, NULL, 100)");
    const read = "SELECT pg_stat_get_xact_tuples_returned('many.lease_ended'::regclass)::integer AS count";
    const [{ count }] = (await client.query<{ count: number }>(read)).rows as [{ count: number }];
    expect(count).toBeGreaterThanOrEqual(100);
    expect(count).toBeLessThanOrEqual(1_200);
    await client.query('ROLLBACK');
    await client.query('BEGIN');
    await client.query("SELECT 1 FROM many.lease WHERE id = 'id10000' FOR UPDATE"); // the one it would begin with
    expect(await store.prune({ olderThanMs: 1_000, limit: 1_000 })).toMatchObject({ ids: 1_000, more: true });
    await client.query('ROLLBACK');
    const { rows } = await client.query('SELECT count(*)::integer AS kept FROM many.lease WHERE status = 2');
    expect(rows).toEqual([{ kept: 19_000 }]);
    await client.end();
    await store.close();
  });

  test('H1, S18: a read that filters looks at 10,000 rows a call, says where it stopped, and misses nothing, either way', async () => {
    const store = await open({ schema: 'stretch' });
    const first = await grant(store, 'a');
    const client = new pg.Client(server.url);
    await client.connect();
    await client.query(`INSERT INTO stretch.log (ns, type, e, s, at, name, names, id, owner)
      SELECT ns, 1, e + i, s + 256 * i, at, 'other', CASE WHEN i % 10000 = 0 THEN '{other,a/b}'::text[] END, 'id' || i, owner
      FROM stretch.log, generate_series(1, 25000) i`);
    await client.query(
      `SELECT setval('stretch.log_row', 60000), setval(epochs, $1) FROM stretch.namespace WHERE name = 'default'`,
      [first.epoch + 60_000],
    );
    await client.query('ANALYZE stretch.log');
    await client.end();
    const last = await grant(store, 'b');
    const walk = async (query: Pick<EventQuery, 'resource' | 'prefix' | 'owner'>, backward: boolean) => {
      const pages: string[][] = [];
      let from: string | undefined;
      for (let more = true; more;) {
        const answer = await store.events({ ...query, limit: 2, backward, [backward ? 'before' : 'after']: from });
        if (answer.outcome !== 'rows') throw new Error('lost');
        pages.push(answer.rows.map(({ leaseId }) => leaseId ?? ''));
        [from, more] = [answer.next, answer.more];
      }
      return pages;
    };
    expect(await walk({ resource: 'a' }, false)).toEqual([[first.id], [], []]);
    expect(await walk({ resource: 'a' }, true)).toEqual([[], [], [first.id]]);
    expect(await walk({ resource: 'b' }, false)).toEqual([[], [], [last.id]]);
    expect(await walk({ resource: 'a/b' }, false)).toEqual([[], ['id10000'], ['id20000']]);
    expect(await walk({ prefix: 'a' }, true)).toEqual([['id20000'], ['id10000'], [first.id]]);
    expect(await walk({ owner: 'nobody' }, false)).toEqual([[], [], []]);
    await store.close();
  });

  test('H1: a long transaction of somebody else in the same database holds nothing up', async () => {
    const store = await open({ schema: 'foreign' });
    const foreign = new pg.Client(server.url);
    await foreign.connect();
    await foreign.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await foreign.query('SELECT pg_advisory_xact_lock(7), txid_current()');
    await grant(store, 'a');
    expect(names(await page(store))).toEqual(['a']);
    await foreign.query('ROLLBACK');
    await foreign.end();
    await store.close();
  });

  async function page(store: Store, after?: string, backward = false) {
    const answer = await store.events({ after, backward, limit: 100 });
    if (answer.outcome !== 'rows') throw new Error('lost');
    return answer;
  }
  const names = ({ rows }: Awaited<ReturnType<typeof page>>) => rows.map(({ resource }) => resource);
});
