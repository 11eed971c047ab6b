// S16, S13, G1 on PostgreSQL: what is decided after waiting, and what is never waited for. The two regression cases stand beside
// the naive SQL they are about, which is shown to go wrong in the same situation.
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeId } from '../../src/domain/ids.js';
import type { Part } from '../../src/domain/part.js';
import type { AcquireRequest } from '../../src/domain/requests.js';
import { openPostgres } from '../../src/stores/postgres/index.js';
import type { AcquireResult, Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { PostgresSite } from '../support/postgres-harness.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const node = (name: string): Part => ({ name, scope: 'node', mode: 'exclusive' });
const subtree = (name: string): Part => ({ name, scope: 'subtree', mode: 'exclusive' });

describe.skipIf(isSkipped('postgres'))('locks of the PostgreSQL store', () => {
  let site: PostgresSite;
  let store: Store;
  let other: Store;
  let clients: pg.Client[] = [];
  let made = 0;
  let schema: string;

  beforeAll(async () => {
    site = await PostgresSite.start();
  });
  afterAll(() => site.stop());
  beforeEach(async () => {
    schema = `locks_${(made += 1)}`;
    store = await openPostgres(site.server.url, { clock, schema });
    other = await openPostgres(site.server.url, { clock, schema });
  });
  afterEach(async () => {
    await Promise.all(clients.map((one) => one.end()));
    clients = [];
    await Promise.all([store.close(), other.close()]);
  });

  async function client(): Promise<pg.Client> {
    const made = new pg.Client(site.server.url);
    await made.connect();
    clients.push(made);
    return made;
  }

  async function ask(parts: readonly Part[], more: Partial<AcquireRequest> = {}): Promise<AcquireRequest> {
    const { now: bornAt } = await store.time();
    return {
      id: makeId(bornAt, clock.randomText()),
      bornAt,
      owner: 'me',
      parts,
      ttlMs: 30_000,
      priority: 0,
      join: false,
      holding: [],
      reclaim: false,
      maxRenewals: -1,
      minHoldMs: 0,
      lockDelayMs: 0,
      remote: false,
      callerWall: clock.wall(),
      ...more,
    };
  }
  async function acquire(where: Store, request: AcquireRequest): Promise<AcquireResult> {
    const result = (await where.acquire([request])).results[0];
    if (result === undefined || result.outcome === 'failed') throw result?.error ?? new Error('no result');
    return result;
  }
  async function grant(...parts: Part[]) {
    const result = await acquire(store, await ask(parts));
    if (result.outcome !== 'granted') throw new Error(`expected granted, got ${JSON.stringify(result)}`);
    return result.lease;
  }

  /** Resolves once so many backends of this database wait for an advisory lock. */
  async function untilSomebodyWaits(count = 1): Promise<void> {
    for (let tries = 0; tries < 2_000; tries += 1) {
      const rows = await site.sql(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`);
      if (rows.length >= count) return;
    }
    throw new Error(`fewer than ${count} wait for a lock`);
  }

  /** Holds the lock that the store takes for a name until it is told to let go. */
  async function holdName(name: string): Promise<() => Promise<void>> {
    const holder = await client();
    await holder.query('BEGIN');
    await holder.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, "${schema}".seed_v1('default')))`, [name]);
    return async () => {
      await holder.query('ROLLBACK');
    };
  }

  test('S16, Q1: a lease named in holding does not end between the look and the grant', async () => {
    const held = await grant(node('x'));
    const waits = await acquire(store, await ask([node('x'), node('y')], { owner: 'you', join: true }));
    expect(waits.outcome).toBe('queued');
    const request = await ask([node('y')], { holding: [held.id] }); // passes that ticket over while the lease is held
    const letGo = await holdName('x');
    const ended = store.end([{ id: held.id, epoch: held.epoch, requestId: 'release-of-x', why: 'released' }]);
    await untilSomebodyWaits();
    const asked = acquire(other, request);
    await untilSomebodyWaits(2);
    await letGo();
    expect((await ended).results[0]).toMatchObject({ outcome: 'released' });
    expect(await asked).toMatchObject({ outcome: 'refused', refusal: { reason: 'queue' } });
  });

  test('S16: a child that waited for its subtree sees what was granted meanwhile, and is refused', async () => {
    const letGo = await holdName('t');
    const tree = acquire(store, await ask([subtree('t')]));
    await untilSomebodyWaits();
    const child = acquire(other, await ask([node('t/x')]));
    await untilSomebodyWaits(2);
    await letGo();
    const outcomes = (await Promise.all([tree, child])).map(({ outcome }) => outcome).sort();
    expect(outcomes).toEqual(['granted', 'refused']);
  });

  test('S16: the naive CTE that locks and looks in one statement grants the subtree and its child together', async () => {
    await site.sql(`CREATE TABLE "${schema}".naive (name text, tree boolean)`);
    const lockAndLook = `WITH locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(42))
      INSERT INTO "${schema}".naive SELECT $1, $2 FROM locked
      WHERE NOT EXISTS (SELECT FROM "${schema}".naive n WHERE n.name = $1 OR (n.tree AND starts_with($1, n.name || '/')))`;
    const [first, second] = [await client(), await client()];
    await first.query('BEGIN');
    await first.query(lockAndLook, ['t', true]);
    const waiting = second.query(lockAndLook, ['t/x', false]);
    await untilSomebodyWaits();
    await first.query('COMMIT');
    await waiting;
    expect((await site.sql(`SELECT name FROM "${schema}".naive`)).length).toBe(2);
  });

  test('S16, S13: who waited for a lock that was rolled back is granted from the time after the wait', async () => {
    const letGo = await holdName('slow');
    const waiting = acquire(store, await ask([node('slow')], { ttlMs: 1_000 }));
    await untilSomebodyWaits();
    site.server.clock.step(5_000);
    await letGo();
    const result = await waiting;
    const { now } = await store.time();
    expect(result.outcome).toBe('granted');
    expect(result.outcome === 'granted' && result.lease.expiresAt > now).toBe(true);
  });

  test('S16: the naive update that reads the clock before it waits for the row grants a lease that is over', async () => {
    await site.sql(`CREATE TABLE "${schema}".naive (name text PRIMARY KEY, until timestamptz)`);
    await site.sql(`INSERT INTO "${schema}".naive VALUES ('slow', now())`);
    const [first, second] = [await client(), await client()];
    await first.query('BEGIN');
    await first.query(`UPDATE "${schema}".naive SET until = 'infinity' WHERE name = 'slow'`);
    const [{ pid } = { pid: 0 }] = (await second.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
    const update = `UPDATE "${schema}".naive SET until = clock_timestamp() + interval '1 s' WHERE name = 'slow' RETURNING until`;
    const waiting = second.query<{ until: Date }>(update);
    for (let waits = false; !waits;) {
      const rows = await site.sql('SELECT 1 FROM pg_locks WHERE pid = $1 AND NOT granted', [pid]);
      waits = rows.length > 0;
    }
    site.server.clock.step(5_000);
    await first.query('ROLLBACK');
    const { until } = (await waiting).rows[0] as { until: Date };
    const { now } = await store.time();
    expect(until.getTime()).toBeLessThan(now);
  });

  test('S16, Q6: the lock delay of a lapsed lease keeps others out, also while somebody else writes its end down', async () => {
    const lapsing = await ask([subtree('a')], { ttlMs: 100, lockDelayMs: 30_000 });
    expect(await acquire(store, lapsing)).toMatchObject({ outcome: 'granted' });
    await pause(150);
    const writing = await client(); // another caller that found it lapsed, and has not committed yet
    await writing.query('BEGIN');
    await writing.query(`SELECT FROM "${schema}".lease WHERE id = $1 FOR UPDATE`, [lapsing.id]);
    const asked = await acquire(other, await ask([node('a/x')], { owner: 'you' }));
    expect(asked).toMatchObject({ outcome: 'refused', refusal: { reason: 'lock_delay' } });
    await writing.query('ROLLBACK');
  });

  test('S16, S18: a sweep of leases with many names takes no more locks than there is room for, and ends them all', async () => {
    const parts = (lease: number) =>
      Array.from({ length: 20 }, (_, i) => node(`build/${lease}/of/${i + 10}/deep/down`));
    const count = 150; // 150 times 20 times 6 locks: more than the lock table of a server with the usual settings
    for (let i = 0; i < count; i += 1)
      expect(await acquire(store, await ask(parts(i), { ttlMs: 100 }))).toMatchObject({ outcome: 'granted' });
    await pause(150);
    let swept = 0;
    for (let more = true; more;) {
      const step = await other.sweep({ limit: 1_000 });
      swept += step.leases;
      more = step.more;
    }
    expect(swept).toBe(count);
  });

  test.each(['SERIALIZABLE', 'REPEATABLE READ'])(
    'S16, H1: %s is refused: nothing is written, and the log is not read, which would pass over rows',
    async (level) => {
      const caller = await client();
      const read = `events_v1('default', false, '', 0, 0, false, 10, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`;
      for (const call of [`sweep_v1('default', 1)`, read]) {
        await caller.query(`BEGIN ISOLATION LEVEL ${level}`);
        await expect(caller.query(`SELECT "${schema}".${call}`)).rejects.toMatchObject({ code: 'HF001' });
        await caller.query('ROLLBACK');
      }
      expect((await caller.query(`SELECT "${schema}".${read} AS reply`)).rowCount).toBe(1);
    },
  );

  test('S16, S8: two acquires under one id with other content: one is granted, the other is a mismatch', async () => {
    for (let round = 0; round < 20; round += 1) {
      const first = await ask([node(`left/${round}`)]);
      const second = { ...first, parts: [node(`right/${round}`)] };
      const results = await Promise.all([acquire(store, first), acquire(other, second)]);
      expect(results.map(({ outcome }) => outcome).sort()).toEqual(['granted', 'mismatch']);
    }
  });

  test('S16, S9: an end and its acquire in a race: the id is over or was never granted, whoever was first', async () => {
    for (let round = 0; round < 20; round += 1) {
      const request = await ask([node(`race/${round}`)]);
      const cancel = { id: request.id, requestId: clock.randomText(), why: 'cancelled' as const };
      const [acquired] = await Promise.all([acquire(store, request), other.end([cancel])]);
      expect(['granted', 'ended']).toContain(acquired.outcome);
      expect((await store.list({ resource: `race/${round}`, limit: 1 })).items).toEqual([]);
    }
  });

  describe('a lease pinned by a transaction of its caller (G1)', () => {
    const PIN = (name: string): string => `SELECT id FROM "${schema}".lease WHERE name = '${name}' FOR KEY SHARE`;

    test('S16: is renewed, and neither released, delegated, revoked nor swept', async () => {
      const lease = await grant(node('pinned'));
      const caller = await client();
      await caller.query('BEGIN');
      await caller.query(PIN('pinned'));
      const authority = { id: lease.id, epoch: lease.epoch };
      const newer = (): string => clock.randomText();
      const renewed = await store.renew([{ ...authority, requestId: newer(), callerWall: clock.wall() }]);
      expect(renewed.results[0]?.outcome).toBe('renewed');
      const ended = await store.end([{ ...authority, requestId: newer(), why: 'released' }]);
      expect(ended.results[0]?.outcome).toBe('pinned');
      const changed = await store.change([{ ...authority, kind: 'delegate', requestId: newer(), toOwner: 'heir' }]);
      expect(changed.results[0]?.outcome).toBe('pinned');
      const order = { reason: 'test', actor: 'test', upToEpoch: lease.epoch, keepOutMs: 0 };
      expect((await store.revoke({ ...order, target: { leaseId: lease.id } })).ended).toEqual([]);
      site.server.clock.step(60_000);
      expect((await store.sweep({ limit: 10 })).leases).toBe(0);
      await caller.query('COMMIT');
      expect((await store.sweep({ limit: 10 })).leases).toBe(1);
    });

    test('S16, S3: counts as held past its expiry, with the reason, and is free when the transaction is over', async () => {
      await grant(node('held'));
      const caller = await client();
      await caller.query('BEGIN');
      await caller.query(PIN('held'));
      site.server.clock.step(60_000);
      const refused = await acquire(other, await ask([node('held')]));
      expect(refused).toMatchObject({ outcome: 'refused', refusal: { reason: 'pinned', holderCount: 1 } });
      await caller.query('COMMIT');
      expect((await acquire(other, await ask([node('held')]))).outcome).toBe('granted');
    });

    test('S16: other leases of the same list are released all the same', async () => {
      const [pinned, free] = [await grant(node('one')), await grant(node('two'))];
      const caller = await client();
      await caller.query('BEGIN');
      await caller.query(PIN('one'));
      const requests = [pinned, free].map(({ id, epoch }) => ({ id, epoch, requestId: 'r', why: 'released' as const }));
      expect((await store.end(requests)).results.map(({ outcome }) => outcome)).toEqual(['pinned', 'released']);
      await caller.query('COMMIT');
    });
  });

  test('S13: a clock stepped back prolongs a lease and revives none; now is never below the rows a call touches', async () => {
    const over = await acquire(store, await ask([node('over')], { ttlMs: 1_000 }));
    site.server.clock.step(10_000);
    const late = { epoch: 0, requestId: 'late', callerWall: clock.wall() };
    const lease = await grant(node('kept'));
    if (over.outcome !== 'granted') throw new Error('not granted');
    const { results } = await store.renew([{ ...late, id: over.lease.id, epoch: over.lease.epoch }]);
    expect(results[0]).toMatchObject({ outcome: 'notHeld', status: 'expired' });
    site.server.clock.step(-20_000);
    const again = await store.renew([{ ...late, requestId: 'again', id: over.lease.id, epoch: over.lease.epoch }]);
    expect(again.results[0]).toMatchObject({ outcome: 'notHeld', status: 'expired' });
    const renewed = await store.renew([{ ...late, id: lease.id, epoch: lease.epoch }]);
    expect(renewed.now).toBeGreaterThanOrEqual(lease.acquiredAt);
    expect(renewed.results[0]).toMatchObject({ outcome: 'renewed' });
    const refused = await acquire(other, await ask([node('kept')], { bornAt: (await store.time()).now }));
    expect(refused.outcome).toBe('refused');
    site.server.clock.step(20_000);
  });

  test('S13, Q1: who joins a line after the clock was stepped back comes last', async () => {
    const held = await grant(node('line'));
    const join = async () => {
      const request = await ask([node('line')], { join: true });
      return { request, result: await acquire(store, request) };
    };
    const waiting = [await join(), await join()];
    site.server.clock.step(-5_000);
    waiting.push(await join());
    const places = waiting.map(({ result }) => (result.outcome === 'queued' ? result.place : result.outcome));
    expect(places).toEqual([1, 2, 3]);
    await store.end([{ id: held.id, epoch: held.epoch, requestId: 'over', why: 'released' }]);
    const [record] = (await store.get([waiting[2]?.request.id ?? ''])).items;
    const answers = await store.acquire([(waiting[0] as (typeof waiting)[0]).request]);
    expect(answers.results[0]?.outcome).toBe('granted');
    expect(answers.now).toBeGreaterThanOrEqual(record?.renewedAt ?? Infinity);
    site.server.clock.step(5_000);
  });
});
