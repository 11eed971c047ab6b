// Lists in the log of the PostgreSQL store: kept as rows of many events (docs/decisions/0032), and read, filtered and pruned one by one as if
// each had a row of its own.
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { LogRow } from '../../src/domain/events.js';
import type { Lease } from '../../src/domain/lease.js';
import type { EventQuery } from '../../src/domain/requests.js';
import { openPostgres } from '../../src/stores/postgres/index.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { ask, grant } from '../support/ask.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
/** Two rows and a piece of each list. */
const COUNT = 150;
const FIRST = 'first';
const LAST = 'last';

describe.skipIf(isSkipped('postgres'))('lists in the log of the PostgreSQL store', () => {
  let server: PostgresServer;
  let store: Store;
  let sql: pg.Client;
  let schema: string;
  let count = 0;
  /** What each event is about, oldest first: a grant alone, a list of grants, their releases, a grant alone. */
  let told: string[];

  beforeAll(async () => {
    server = await startPostgres();
    sql = new pg.Client(server.url);
    await sql.connect();
  });
  afterAll(async () => {
    await sql.end();
    await server.remove();
  });
  beforeEach(async () => {
    count += 1;
    schema = `lists_${count}`;
    store = await openPostgres(server.url, { clock, schema });
    await grant(store, clock, FIRST);
    const leases = await grantAll((i) => ({ owner: i % 3 === 0 ? 'ann' : 'bob', ttlMs: 30_000 + (i % 2) }));
    const { results } = await store.end(
      leases.map(({ id, epoch }) => ({ id, epoch, requestId: clock.randomText(), why: 'released' as const })),
    );
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['released']));
    await grant(store, clock, LAST);
    const names = leases.map(({ parts }) => String(parts[0]?.name));
    told = [FIRST, ...names, ...names, LAST];
    return () => store.close();
  });

  test('S21: a list is few rows, whoever its owners are', async () => {
    expect(await rows()).toEqual([1, 64, 64, 22, 64, 64, 22, 1]);
  });

  test.for([1, 2, 7, 63, 64, 65, 150, 1_000])(
    'H1: %i at a time: all of them, once, in order, either way',
    async (limit) => {
      const forward = await walk({ limit }, false);
      expect(forward.map(nameOf)).toEqual(told);
      expect(forward.map(({ id }) => id)).toEqual(forward.map(({ id }) => id).sort());
      expect(new Set(forward.map(({ id }) => id)).size).toBe(told.length);
      expect(await walk({ limit }, true)).toEqual(forward.toReversed());
    },
  );

  test('H1: a reader goes on from any of them', async () => {
    const all = await walk({ limit: 1_000 }, false);
    for (const at of [0, 1, 63, 64, 65, 100, 149, 150, 151, 213, 250, 300, 301]) {
      const { id } = all[at] as LogRow;
      const [after, before] = [
        await read({ after: id, limit: 5 }),
        await read({ before: id, backward: true, limit: 5 }),
      ];
      expect(after.rows).toEqual(all.slice(at + 1, at + 6));
      expect(before.rows).toEqual(all.slice(Math.max(0, at - 5), at).toReversed());
    }
  });

  test('H2: each has the facts of its own', async () => {
    const all = await walk({ limit: 1_000 }, false);
    const [granted, released] = [all.slice(1, COUNT + 1), all.slice(COUNT + 1, -1)];
    granted.forEach((row, i) => {
      const ttlMs = 30_000 + (i % 2);
      expect(row).toMatchObject({ type: 'lease.acquired', to: 'active', owner: i % 3 === 0 ? 'ann' : 'bob' });
      expect(row.data).toEqual({ ttlMs, expiresAt: row.at + ttlMs, waitedMs: 0 });
      expect(row.epoch).toBeGreaterThan(all[i]?.epoch ?? 0);
    });
    released.forEach((row, i) => {
      const { leaseId, epoch, owner, at } = granted[i] as LogRow;
      expect(row).toMatchObject({ type: 'lease.released', from: 'active', to: 'released', leaseId, epoch, owner });
      expect(row.data).toEqual({ heldMs: row.at - at });
    });
  });

  test('H1, S18: what filters finds them in the middle of a row, either way, and page by page', async () => {
    const all = await walk({ limit: 1_000 }, false);
    const queries: [Omit<EventQuery, 'limit'>, (row: LogRow) => boolean][] = [
      [{ resource: told[70] }, (row) => row.resource === told[70]],
      [{ leaseId: all[70]?.leaseId }, ({ leaseId }) => leaseId === all[70]?.leaseId],
      [{ owner: 'ann' }, ({ owner }) => owner === 'ann'],
      [{ prefix: 'list/7' }, ({ resource = '' }) => resource === 'list/7' || resource.startsWith('list/7/')],
      [{ type: 'lease.released' }, ({ type }) => type === 'lease.released'],
      [
        { type: 'lease.acquired', owner: 'bob', prefix: 'list/3' },
        (row) => row.type === 'lease.acquired' && row.owner === 'bob' && /^list\/3\//.test(row.resource ?? ''),
      ],
      [{ since: all[200]?.at ?? 0, owner: 'bob' }, (row) => row.at >= (all[200]?.at ?? 0) && row.owner === 'bob'],
      [{ owner: 'nobody' }, () => false],
    ];
    for (const [query, matches] of queries) {
      const expected = all.filter(matches);
      for (const limit of [1, 4, 1_000]) {
        expect(await walk({ ...query, limit }, false)).toEqual(expected);
        expect(await walk({ ...query, limit }, true)).toEqual(expected.toReversed());
      }
    }
  });

  test('H4: a step of pruning ends where it must, also in the middle of a row', async () => {
    const all = await walk({ limit: 1_000 }, false);
    await expect.poll(async () => (await store.time()).now).toBeGreaterThan((all.at(-1) as LogRow).at);
    const upTo = (all[100] as LogRow).id;
    expect(await prune({ limit: 10 })).toMatchObject({ events: 10, more: true });
    expect(await rows()).toEqual([1 + 64 - 10, 64, 22, 64, 64, 22, 1]);
    expect((await walk({ limit: 20 }, false)).map(nameOf)).toEqual(told.slice(10));
    expect((await walk({ limit: 20 }, true)).map(nameOf)).toEqual(told.slice(10).toReversed());
    expect(await store.events({ after: (all[8] as LogRow).id, limit: 5 })).toMatchObject({ outcome: 'lost' });
    expect((await read({ after: (all[9] as LogRow).id, limit: 5 })).rows).toEqual(all.slice(10, 15));
    expect(await prune({ limit: 1_000, upTo })).toMatchObject({ events: 91 });
    expect(await walk({ limit: 20, owner: 'ann' }, false)).toEqual(
      all.slice(101).filter(({ owner }) => owner === 'ann'),
    );
    expect(await prune({ limit: 1_000, upTo })).toMatchObject({ events: 0 });
    expect(await prune({ limit: 1_000 })).toMatchObject({ events: told.length - 101, more: false });
    expect(await rows()).toEqual([]);
  });

  test('H4: of two who prune at once, neither takes for gone what the other has left', async () => {
    const last = (await walk({ limit: 1_000 }, false)).at(-1) as LogRow;
    await expect.poll(async () => (await store.time()).now).toBeGreaterThan(last.at);
    const other = await openPostgres(server.url, { clock, schema });
    const steps = [store, other, store, other].map((each, i) =>
      each.prune({ olderThanMs: 0, limit: 10 + 30 * (i % 2) }),
    );
    const pruned = (await Promise.all(steps)).map(({ events }) => events);
    expect(pruned).toEqual([10, 40, 10, 40]);
    const rest = told.slice(100);
    expect((await walk({ limit: 1_000 }, false)).map(nameOf)).toEqual(rest);
    expect((await walk({ limit: 1_000 }, true)).map(nameOf)).toEqual(rest.toReversed());
    await other.close();
  });

  test('O4: a column that a newer version adds to the log is none of ours', async () => {
    await sql.query(`ALTER TABLE ${schema}.log ADD COLUMN newer text`);
    expect((await walk({ limit: 7 }, false)).map(nameOf)).toEqual(told);
    const later = await openPostgres(server.url, { clock, schema }); // its sessions have never seen the table without it
    expect(await later.events({ limit: 3 })).toMatchObject({
      rows: told.slice(0, 3).map((resource) => ({ resource })),
    });
    await later.close();
  });

  test('S8: an id that is known, on a name that is free, is not granted again, alone or in a list', async () => {
    const request = await ask(store, clock, 'once');
    const [result] = (await store.acquire([request])).results;
    if (result?.outcome !== 'granted') throw new Error('not granted');
    const { id, epoch } = result.lease;
    await store.end([{ id, epoch, requestId: 'r', why: 'released' }]);
    const ended = { outcome: 'ended', status: 'released' };
    expect((await store.acquire([request])).results).toMatchObject([ended]);
    const others = [await ask(store, clock, 'x'), await ask(store, clock, 'y')] as const;
    const { results } = await store.acquire([others[0], request, others[1]]);
    expect(results).toMatchObject([{ outcome: 'granted' }, ended, { outcome: 'granted' }]);
  });

  async function grantAll(terms: (i: number) => { owner: string; ttlMs: number }): Promise<Lease[]> {
    const requests = await Promise.all(
      Array.from({ length: COUNT }, (_, i) => ask(store, clock, `list/${i % 10}/${i}`, terms(i))),
    );
    const { results } = await store.acquire(requests);
    return results.map((result) => {
      if (result.outcome !== 'granted') throw new Error(result.outcome);
      return result.lease;
    });
  }
  /** How many events each row has. */
  async function rows(): Promise<number[]> {
    const text = `SELECT coalesce(list_count, 1)::int AS count FROM ${schema}.log ORDER BY e, s`;
    return (await sql.query<{ count: number }>(text)).rows.map((row) => row.count);
  }
  async function read(query: EventQuery) {
    const answer = await store.events(query);
    if (answer.outcome !== 'rows') throw new Error('lost');
    return answer;
  }
  async function walk(query: EventQuery, backward: boolean): Promise<LogRow[]> {
    const found: LogRow[] = [];
    let from: string | undefined;
    for (let more = true; more;) {
      const page = await read({ ...query, backward, [backward ? 'before' : 'after']: from });
      expect(page.rows.length).toBeLessThanOrEqual(query.limit);
      found.push(...page.rows);
      [from, more] = [page.next, page.more];
    }
    return found;
  }
  const prune = (order: { readonly limit: number; readonly upTo?: string }) =>
    store.prune({ olderThanMs: 0, ...order });
  const nameOf = ({ resource }: LogRow): string => String(resource);
});
