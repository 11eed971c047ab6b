// The short ways of the PostgreSQL store: who was granted a lease remembers its name for the release, lists lock in the order of hashes,
// and a namespace knows its counter. Each where the short way is not the right one.
import { spawnSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { makeId } from '../../src/domain/ids.js';
import type { AcquireRequest, EndRequest } from '../../src/domain/requests.js';
import type { Lease } from '../../src/domain/lease.js';
import { namesAbove } from '../../src/domain/resource-name.js';
import { openPostgres } from '../../src/stores/postgres/index.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { acquireRequest, exclusive } from '../support/domain-values.js';
import { PostgresSite } from '../support/postgres-harness.js';
import { findBinary, isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();

describe.skipIf(isSkipped('postgres'))('short ways of the PostgreSQL store', () => {
  let site: PostgresSite;
  let store: Store;
  let other: Store;
  let schema: string;
  let made = 0;

  beforeAll(async () => {
    site = await PostgresSite.start();
  });
  afterAll(() => site.stop());
  beforeEach(async () => {
    schema = `short ${(made += 1)}`;
    store = await openPostgres(site.server.url, { clock, schema });
    other = await openPostgres(site.server.url, { clock, schema });
  });
  afterEach(async () => {
    await Promise.all([store.close(), other.close()]);
  });

  function ask(name: string, bornAt: number): AcquireRequest {
    const [id, callerWall] = [makeId(bornAt, clock.randomText()), clock.wall()];
    return acquireRequest({ id, bornAt, owner: 'me', parts: [exclusive(name)], callerWall });
  }
  async function grant(where: Store, names: readonly string[]): Promise<Lease[]> {
    const { now } = await where.time();
    const { results } = await where.acquire(names.map((name) => ask(name, now)));
    return results.map((one) => {
      if (one.outcome === 'granted') return one.lease;
      throw new Error(`expected granted, got ${JSON.stringify(one)}`);
    });
  }
  const release = ({ id, epoch }: Lease): EndRequest => ({
    id,
    epoch,
    requestId: clock.randomText(),
    why: 'released',
  });
  async function loggedFor(leases: readonly Lease[]): Promise<unknown[]> {
    const ids = leases.map(({ id }) => id);
    const text = `SELECT v.id, v.name, v.owner, v.epoch::text, v.type FROM "${schema}".log k, "${schema}".log_events_v1(k) v
      WHERE v.id = ANY ($1) ORDER BY v.e, v.s`;
    return (await site.sql(text, [ids])).map((row) => Object.values(row).join(' '));
  }
  const logOf = (leases: readonly Lease[], type: number): string[] =>
    leases.map(({ id, parts, owner, epoch }) => `${id} ${String(parts[0]?.name)} ${owner} ${epoch} ${type}`);

  /** Makes one of the leases' names wait until `meanwhile` is done. */
  async function whileWaiting<T>(name: string, call: () => Promise<T>, meanwhile: () => Promise<unknown>): Promise<T> {
    const holder = new pg.Client(site.server.url);
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, "${schema}".seed_v1('default')))`, [name]);
      const answer = call();
      const waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
      while ((await site.sql(waiting)).length === 0) await pause(5);
      await meanwhile();
      await holder.query('ROLLBACK');
      return await answer;
    } finally {
      await holder.end();
    }
  }

  const ways = [1, 3].flatMap((count) => [`${count}, by who was granted it`, `${count}, by somebody else`]);
  for (const way of ways) {
    const names = Array.from({ length: Number.parseInt(way, 10) }, (_, i) => `a/${i}`);
    const releaser = (): Store => (way.endsWith('else') ? other : store);

    test(`S16, S9: a row that was renewed while its release waited is found where it lies now (${way})`, async () => {
      const leases = await grant(store, names);
      const renew = `UPDATE "${schema}".lease SET expires_at = expires_at + 1, renewals = 1 WHERE name = $1`;
      const { results } = await whileWaiting(
        'a/0',
        () => releaser().end(leases.map(release)),
        () => site.sql(renew, ['a/0']),
      );
      expect(results).toEqual(leases.map(() => ({ outcome: 'released', again: false, blockedMs: 0 })));
      expect(await loggedFor(leases)).toEqual([...logOf(leases, 1), ...logOf(leases, 3)]);
    });

    test(`S16, S9: a lease that somebody else ended while its release waited is answered so (${way})`, async () => {
      const leases = await grant(store, names);
      const [first = { id: '' }] = leases;
      const gone = `UPDATE "${schema}".lease SET status = 4, stands = false, reason = 'test' WHERE id = $1`;
      const { results } = await whileWaiting(
        'a/0',
        () => releaser().end(leases.map(release)),
        () => site.sql(gone, [first.id]),
      );
      expect(results.map(({ outcome }) => outcome)).toEqual(['revoked', ...leases.slice(1).map(() => 'released')]);
    });
  }

  for (const names of [['a/b/c/d'], ['a/b'], ['a/b/c/d', 'x']]) {
    test(`S16: a grant and a release wait for whoever has locked a name above (${names.join(', ')})`, async () => {
      const [deep = ''] = names;
      for (const name of [...namesAbove(deep), deep]) {
        const nothing = async (): Promise<void> => undefined;
        const leases = await whileWaiting(name, () => grant(store, names), nothing);
        await whileWaiting(name, () => store.end(leases.map(release)), nothing);
      }
      const trees = await store.acquire([
        { ...ask('a', (await store.time()).now), parts: [exclusive('a', 'subtree')] },
      ]);
      expect(trees.results[0]?.outcome).toBe('granted'); // they were released
    });
  }

  test('S1, S10: the first call in a new life of the server sees the subtrees and sets that stand', async () => {
    const { now } = await store.time();
    const tree = { ...ask('a', now), parts: [exclusive('a', 'subtree')] };
    const set = { ...ask('x', now), parts: [exclusive('x'), exclusive('y')] };
    const held = await store.acquire([tree, set]);
    expect(held.results.map(({ outcome }) => outcome)).toEqual(['granted', 'granted']);
    const first = async (names: readonly string[]): Promise<string[]> => {
      await site.sql(`UPDATE "${schema}".life SET started = started - interval '1 hour'`);
      const { results } = await store.acquire(names.map((name) => ask(name, now)));
      return results.map(({ outcome }) => outcome);
    };
    expect(await first(['a/b', 'y', 'c'])).toEqual(['refused', 'refused', 'granted']);
    expect([await first(['a/b']), await first(['y']), await first(['d'])]).toEqual([
      ['refused'],
      ['refused'],
      ['granted'],
    ]);
  });

  test('S18, S19: plans made while a table was empty look rows up, and what they are made with is gone with the call', async () => {
    const client = new pg.Client({ connectionString: site.server.url });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query(`VACUUM "${schema}".lease`); // empty for certain: the cheapest way through it is from end to end
    const { now, epoch } = await store.time();
    const id = makeId(now, clock.randomText());
    const calls: readonly (readonly [string, readonly unknown[]])[] = [
      [`acquire_one_v1('default', $1, 'a', NULL, NULL, 'me', 30000, 1, $2::bigint, $2::bigint, false)`, [id, now]],
      [`end_one_v1('default', $1, $2, 'r', 'released', 'a', NULL, NULL)`, [id, epoch + 1]],
    ];
    const scans = 'SELECT seq_scan::int FROM pg_stat_xact_user_tables WHERE schemaname = $1 AND relname = $2';
    for (const [call, values] of calls) {
      await client.query('BEGIN');
      await client.query(`SELECT "${schema}".${call}`, [...values]);
      expect((await client.query(scans, [schema, 'lease'])).rows).toEqual([{ seq_scan: 0 }]);
      await client.query('COMMIT');
      expect((await client.query('SHOW enable_seqscan')).rows).toEqual([{ enable_seqscan: 'on' }]);
      expect((await client.query('SHOW plan_cache_mode')).rows).toEqual([{ plan_cache_mode: 'auto' }]);
    }
    expect((await store.get([id])).items).toMatchObject([{ status: 'released' }]);
  });

  test('S20: a process stays awake for the answer to a release that is alone, and for no other; awake=false lets it sleep', async () => {
    const FEW = 5; // a connection that is lent anew takes two
    let turns = 0;
    const soon = (fn: () => void): void => {
      turns += 1;
      clock.soon(fn);
    };
    const open = (url: string): Promise<Store> => openPostgres(url, { clock: { ...clock, soon }, schema });
    const [awake, asleep] = [await open(site.server.url), await open(`${site.server.url}?awake=false`)];
    const client = new pg.Pool({ connectionString: site.server.url });
    onTestFinished(() => client.end());
    const beside = await openPostgres('postgres:?awake=false', { clock: { ...clock, soon }, schema, client });
    const pair = async (where: Store): Promise<number> => {
      turns = 0;
      const leases = await grant(where, ['a']);
      expect(turns).toBeLessThan(FEW);
      turns = 0;
      const { results } = await where.end(leases.map(release));
      expect(results).toMatchObject([{ outcome: 'released' }]);
      return turns;
    };
    await expect.poll(() => pair(awake), { timeout: 20_000, interval: 0 }).toBeGreaterThan(FEW); // once answers are quick
    for (let i = 0; i < 50; i += 1) expect(await pair(i % 2 ? asleep : beside)).toBeLessThan(FEW);
    await Promise.all([awake, asleep, beside].map((one) => one.close()));
  });

  test('S2: no session keeps numbers of a counter for itself', async () => {
    const counters = await site.sql(
      'SELECT DISTINCT cache_size::int AS cache FROM pg_sequences WHERE schemaname = $1',
      [schema],
    );
    expect(counters).toEqual([{ cache: 1 }]);
  });

  test('S21, S9: a lease named twice in a list is released once, and the second is told so', async () => {
    for (const where of [store, other]) {
      const [one, two] = (await grant(store, ['x', 'y'])) as [Lease, Lease];
      const { results } = await where.end([release(one), release(two), release(one)]);
      expect(results).toMatchObject([
        { outcome: 'released', again: false },
        { outcome: 'released', again: false },
        { outcome: 'released', again: true },
      ]);
      expect(await loggedFor([one, two])).toHaveLength(4);
    }
  });

  test('S6: the log has the releases of a list in the order of the list, each with its own facts', async () => {
    const leases = await grant(store, ['m/z', 'a', 'm/b/c', 'k', 'm']);
    const turned = [...leases].reverse();
    await other.end(turned.map(release));
    expect(await loggedFor(leases)).toEqual([...logOf(leases, 1), ...logOf(turned, 3)]);
  });

  test('S16: lists over names of several depths, some above others, in any order never wait for each other for ever', async () => {
    const names = ['a', 'a/b', 'a/b/c', 'b', 'b/c', 'c/d/e', 'c/d', 'ä', 'z/\u{1F512}', 'z/\uFFFD'];
    const shuffled = (): string[] => {
      const keyed = names.map((name) => ({ name, at: Math.random() }));
      return keyed.sort((x, y) => x.at - y.at).map(({ name }) => name);
    };
    const errors: unknown[] = [];
    const client = async (where: Store): Promise<void> => {
      for (let round = 0; round < 40; round += 1) {
        const { now } = await where.time();
        const requests = shuffled().map((name) => ask(name, now));
        const { results } = await where.acquire(requests);
        errors.push(...results.filter(({ outcome }) => outcome === 'failed'));
        const granted = results.flatMap((one) => (one.outcome === 'granted' ? [one.lease] : []));
        if (granted.length > 0) await where.end(granted.map(release));
      }
    };
    await Promise.all([client(store), client(other), client(store), client(other)]);
    expect(errors).toEqual([]);
    const deadlocks = `SELECT sum(deadlocks)::int AS count FROM pg_stat_database`;
    expect((await site.sql(deadlocks))[0]?.['count']).toBe(0);
    expect((await store.list({ limit: 10 })).items).toEqual([]);
  });

  test('S2: a namespace that was dumped and restored has its counter, wherever that lies now', async () => {
    const [before] = (await grant(store, ['kept'])) as [Lease];
    const dump = spawnSync(findBinary('pg_dump'), ['--inserts', `--schema="${schema}"`, '-d', site.server.url], {
      encoding: 'utf8',
    });
    expect(dump.stderr).toBe('');
    await site.sql('CREATE DATABASE restored');
    const url = site.server.url.replace(/\/holdfast$/, '/restored');
    const restore = new pg.Client(url);
    await restore.connect();
    await restore.query('CREATE SEQUENCE moves_every_number_by_one');
    await restore.query(dump.stdout.replaceAll(/^\\.*$/gm, ''));
    await restore.end();
    const restored = await openPostgres(url, { clock, schema });
    const [after] = (await grant(restored, ['new'])) as [Lease];
    expect(after.epoch).toBeGreaterThan(before.epoch);
    expect((await restored.end([release(before)])).results[0]?.outcome).toBe('released');
    await restored.close();
  });
});
