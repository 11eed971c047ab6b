// The tail of the SQLite store: rows that ids and names do not lead to yet (docs/decisions/0012), and the grant that is its
// own log row. What the suite asks of every store is asked over short tails in sqlite-tail-programs.test.ts.
import { join } from 'node:path';
import Driver from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Lease } from '../../src/domain/lease.js';
import type { LogRow } from '../../src/domain/events.js';
import { freshAnchor, writeAnchor } from '../../src/stores/sqlite/file-clock.js';
import { acquire as acquireStep } from '../../src/stores/protocol/acquire.js';
import { openSqlite, SqliteStore } from '../../src/stores/sqlite/index.js';
import { checksum } from '../../src/stores/sqlite/open-file.js';
import { APPLICATION_ID, MIGRATIONS, SPAN } from '../../src/stores/sqlite/schema.js';
import { TAIL_BOUNDS, type TailBounds } from '../../src/stores/sqlite/tail.js';
import { systemClock } from '../../src/system-clock.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { acquire, ask, grant } from '../support/ask.js';
import { startChild, type Child } from '../support/child.js';
import { indexed, indexTroubles, openFile, openWithTail } from '../support/sqlite-tail.js';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.js';

let folder: TemporaryFolder;
let file: string;
let clock: FakeClock;
let opened: SqliteStore[];
let child: Child | undefined;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'leases.db');
  clock = new FakeClock();
  opened = [];
  child = undefined;
});
afterEach(async () => {
  child?.process.kill('SIGKILL');
  await child?.ended;
  for (const store of opened) await store.close();
  expect(indexTroubles(file)).toEqual([]);
  folder.remove();
});

async function open(options: { readOnly?: boolean } = {}): Promise<SqliteStore> {
  const store = await openSqlite(`sqlite:${file}`, { clock, ...options });
  opened.push(store);
  return store;
}
function openShort(bounds: TailBounds): SqliteStore {
  const store = openWithTail(file, clock, bounds);
  opened.push(store);
  return store;
}
async function release(store: SqliteStore, { id, epoch }: Lease, requestId = `end-${id}`): Promise<string> {
  const [result] = (await store.end([{ id, epoch, requestId, why: 'released' }])).results;
  return result?.outcome ?? 'nothing';
}
const outcomeOf = async (store: SqliteStore, name: string): Promise<string> =>
  (await acquire(store, await ask(store, clock, name))).outcome;

describe('found before they are indexed', () => {
  test('S1, S8: two connections take turns: each sees what the other appended, changed and ended', async () => {
    const [one, two] = [await open(), await open()];
    const asked = await ask(one, clock, 'a/b');
    const first = await acquire(one, asked);
    expect(await acquire(two, asked)).toMatchObject({ outcome: 'granted', again: true });
    expect(await outcomeOf(two, 'a/b')).toBe('refused');
    const tree = await ask(two, clock, 'a', { parts: [{ name: 'a', scope: 'subtree', mode: 'exclusive' }] });
    expect((await acquire(two, tree)).outcome).toBe('refused');
    expect(first.outcome === 'granted' && (await release(two, first.lease))).toBe('released');
    expect(await acquire(one, asked)).toMatchObject({ outcome: 'ended', status: 'released' });
    const held = await grant(one, clock, 'a/b');
    expect(await outcomeOf(two, 'a/b')).toBe('refused');
    expect(await release(one, held)).toBe('released');
    expect((await acquire(two, tree)).outcome).toBe('granted');
    expect(await outcomeOf(one, 'a/b')).toBe('refused');
    expect(indexed(file)).toMatchObject({ indexedTo: 0, ids: 0, names: [] });
  });

  test("S6, S8: what a step appended before it failed is forgotten: its row is another's", async () => {
    const held = openFile(file, clock, TAIL_BOUNDS);
    const store = new SqliteStore(held, 'default', []);
    opened.push(store);
    const lost = await ask(store, clock, 'a');
    const failing = (): unknown =>
      held.write('default', (step) => {
        expect(acquireStep(step, lost).outcome).toBe('granted');
        throw new Error('no room');
      });
    expect(failing).toThrow('no room');
    const theirs = await grant(await open(), clock, 'b');
    expect((await store.get([lost.id, theirs.id])).items).toMatchObject([undefined, { id: theirs.id }]);
    expect((await acquire(store, lost)).outcome).toBe('granted');
    expect(await outcomeOf(store, 'b')).toBe('refused');
  });

  test.each([
    ['opened again', {}],
    ['opened to look only', { readOnly: true }],
  ])('A8, S8: a file with a tail, %s, is read as a whole', async (_, options) => {
    const store = await open();
    const held = await grant(store, clock, 'held/1', { owner: 'somebody' });
    const over = await grant(store, clock, 'over/1');
    await release(store, over);
    await store.close();
    expect(indexed(file).ids).toBe(0);
    const again = await open(options);
    const { items } = await again.get([held.id, over.id]);
    expect(items.map((lease) => lease?.status)).toEqual(['active', 'released']);
    const listed = async (filter: object): Promise<string[]> =>
      (await again.list({ limit: 10, ...filter })).items.map(({ id }) => id);
    for (const filter of [{}, { resource: 'held/1' }, { prefix: 'held' }, { owner: 'somebody' }]) {
      expect(await listed(filter)).toEqual([held.id]);
    }
    expect(await listed({ prefix: 'over' })).toEqual([]);
    expect((await again.show('held/1', 5)).holders.map(({ id }) => id)).toEqual([held.id]);
    expect(await again.events({ leaseId: over.id, limit: 10 })).toMatchObject({
      rows: [{ type: 'lease.acquired' }, { type: 'lease.released' }],
    });
  });

  test('A8, A7: a list and a revocation find what is indexed and what is not, in one order', async () => {
    const store = openShort({ most: 6, stretch: 2 });
    for (const name of ['t/5', 't/1', 't/9', 't/3', 't/7', 't/2', 't/8', 't']) await grant(store, clock, name);
    const { names } = indexed(file);
    expect(names.length).toBeGreaterThan(0);
    expect(names.length).toBeLessThan(8);
    const pages: (string | undefined)[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.list({ limit: 3, cursor });
      pages.push(...page.items.map(({ parts }) => parts[0]?.name));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(pages).toEqual(['t', 't/1', 't/2', 't/3', 't/5', 't/7', 't/8', 't/9']);
    const order = { reason: 'r', actor: 'a', upToEpoch: (await store.time()).epoch, keepOutMs: 0 };
    const { ended } = await store.revoke({ ...order, target: { under: 't' } });
    expect(ended).toHaveLength(8);
    expect((await store.list({ limit: 10 })).items).toEqual([]);
  });
});

describe('indexed behind the writers', () => {
  test('S18: the tail stays within its bound, a stretch at a time, and only what stands gets its name indexed', async () => {
    const bounds = { most: 40, stretch: 10 };
    const open = openFile(file, clock, bounds);
    const store = new SqliteStore(open, 'default', []);
    opened.push(store);
    const long = await grant(store, clock, 'long');
    let before = 0;
    for (let i = 0; i < 100; i += 1) {
      await release(store, await grant(store, clock, `short/${i % 7}`));
      const { indexedTo, last } = indexed(file);
      expect(indexedTo - before).toBeLessThanOrEqual(bounds.stretch);
      expect(last - indexedTo).toBeLessThanOrEqual(bounds.most);
      before = indexedTo;
    }
    expect(indexed(file)).toMatchObject({ names: ['long'] });
    expect(indexed(file).ids).toBeGreaterThan(60);
    expect(open.read('default', ({ space }) => space.tail.arrivalOf(long.id))).toBeUndefined();
    expect(await outcomeOf(store, 'long')).toBe('refused');
    expect(await release(store, long)).toBe('released');
    expect(indexed(file).names).toEqual([]);
    expect((await store.get([long.id])).items[0]?.status).toBe('released');
  });

  test('S18, S21: a batch that appends more than the bound is indexed in its own step', async () => {
    const store = openShort({ most: 4, stretch: 2 });
    const template = await ask(store, clock, 'any');
    const requests = Array.from({ length: 200 }, (_, i) => ({
      ...template,
      id: `${template.id.slice(0, 16)}-${i}`,
      parts: [{ name: `n/${i}`, scope: 'node' as const, mode: 'exclusive' as const }],
    }));
    await store.acquire(requests);
    const { last, indexedTo } = indexed(file);
    expect(last - indexedTo).toBeLessThanOrEqual(4);
    const other = await open();
    for (const name of ['n/0', 'n/100', 'n/199']) expect(await outcomeOf(other, name)).toBe('refused');
  });

  test('S6: killed while it appends and indexes, everything answered is found again', async () => {
    child = startChild('sqlite-child.mjs', file, 'killed');
    await child.line('open');
    child.tell('churn');
    const { lines } = child;
    await vi.waitUntil(() => lines.length > 2 * TAIL_BOUNDS.most, { timeout: 60_000 });
    child.process.kill('SIGKILL');
    await child.ended;
    expect(indexTroubles(file)).toEqual([]);
    const { indexedTo, last } = indexed(file);
    expect(indexedTo).toBeGreaterThan(0);
    expect(last - indexedTo).toBeGreaterThan(0);
    const store = await openSqlite(`sqlite:${file}`, { clock: systemClock() });
    opened.push(store);
    const ids = lines.filter((line) => line.startsWith('granted')).map((line) => line.split(' ')[1] ?? '');
    for (let at = 0; at < ids.length; at += 500) {
      const { items } = await store.get(ids.slice(at, at + 500));
      expect(items.every((lease) => lease !== undefined)).toBe(true);
    }
  });

  test('S13, S2: a restart of the machine ends what is in the tail too', async () => {
    const store = await open();
    const [local, remote] = [
      await grant(store, clock, 'local'),
      await grant(store, clock, 'remote', { remote: true, ttlMs: 20_000 }),
    ];
    await store.close();
    clock.reboot('another-boot', 50);
    const after = await open();
    const { items, now } = await after.get([local.id, remote.id]);
    expect(items).toMatchObject([{ status: 'expired' }, { status: 'active', expiresAt: now + 20_000 }]);
  });

  test('O4: a file of the first schema is migrated with all that stands in it, and shut to code of that schema', async () => {
    const [first] = MIGRATIONS;
    const raw = new Driver(file);
    raw.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA journal_mode = WAL; ${first?.sql ?? ''}
      CREATE TABLE migration (name TEXT PRIMARY KEY, checksum TEXT NOT NULL, applied_at TEXT NOT NULL)`);
    if (first) raw.prepare("INSERT INTO migration VALUES (?, ?, '')").run(first.name, checksum(first));
    const anchor = freshAnchor(clock, file, 0);
    writeAnchor(raw, anchor);
    raw.exec(`INSERT INTO namespace VALUES (1, 'default', 0, 7, 0, 0, '{}', 1, 0, 0)`);
    const add = raw.prepare(
      `INSERT INTO journal (row, ns, id, state, name, owner, epoch, status, expires_at, acquired_at, ended_at, ttl_ms, content,
         skew_ms) VALUES (?, 1, ?, ?, ?, 'o', ?, ?, ?, ?, ?, 30000, 1, 0)`,
    );
    const at = anchor.wallBase;
    add.run(SPAN + 1, 'held-0000000000000000', 1, 'held', 8, 1, at + 30_000, at, null);
    add.run(SPAN + 2, 'over-0000000000000000', 0, 'over', 9, 2, at + 30_000, at, at);
    raw
      .prepare(
        "INSERT INTO journal (row, ns, state, type, at, wall_at, counter, data) VALUES (?, 1, 0, 3, ?, ?, 9, '{}')",
      )
      .run(SPAN + 3, at, at);
    const older = raw.prepare("SELECT * FROM namespace WHERE name = 'default'"); // how code of that schema begins a step
    expect(older.get()).toMatchObject({ epoch: 7 });
    const store = await open();
    expect(() => older.get()).toThrow('no such table');
    raw.close();
    expect((await store.migrate()).applied).toEqual(MIGRATIONS.slice(1).map(({ name }) => name));
    expect(indexed(file)).toEqual({ indexedTo: 3, last: 3, ids: 2, names: ['held'] });
    const { items } = await store.get(['held-0000000000000000', 'over-0000000000000000']);
    expect(items.map((lease) => lease?.status)).toEqual(['active', 'released']);
    expect(await outcomeOf(store, 'held')).toBe('refused');
    expect((await grant(store, clock, 'over')).epoch).toBe(10);
  });
});

describe('a grant that is its own log row', () => {
  const KEEP_MS = 120_000;
  const eventsOf = async (store: SqliteStore, leaseId: string): Promise<readonly LogRow[]> => {
    const answer = await store.events({ leaseId, limit: 100 });
    return answer.outcome === 'rows' ? answer.rows : [];
  };

  test('H1, S6: says the same whatever becomes of the lease, and is found by its first owner', async () => {
    const store = await open();
    const lease = await grant(store, clock, 'a', { owner: 'one', ttlMs: 30_000 });
    const [told] = await eventsOf(store, lease.id);
    expect(told).toMatchObject({
      type: 'lease.acquired',
      resource: 'a',
      owner: 'one',
      epoch: lease.epoch,
      from: undefined,
      to: 'active',
      at: lease.acquiredAt,
      data: { ttlMs: 30_000, expiresAt: lease.expiresAt, waitedMs: 0 },
    });
    const { id } = lease;
    await clock.advance(10);
    await store.renew([{ id, epoch: lease.epoch, requestId: 'r1', ttlMs: 50_000, callerWall: clock.wall() }]);
    expect((await eventsOf(store, id))[0]).toEqual(told);
    await clock.advance(10);
    const [handed] = (
      await store.change([{ id, epoch: lease.epoch, requestId: 'r2', kind: 'delegate', toOwner: 'two' }])
    ).results;
    expect(handed).toMatchObject({ outcome: 'changed', lease: { owner: 'two', ttlMs: 50_000 } });
    const epoch = handed?.outcome === 'changed' ? handed.lease.epoch : 0;
    await store.change([{ id, epoch, requestId: 'r3', kind: 'downgrade' }]);
    expect((await eventsOf(store, id))[0]).toEqual(told);
    await release(store, { ...lease, epoch });
    for (const reader of [store, await open()]) {
      expect((await eventsOf(reader, id))[0]).toEqual(told);
      const by = async (owner: string): Promise<string[]> => {
        const answer = await reader.events({ owner, limit: 10 });
        return answer.outcome === 'rows' ? answer.rows.map(({ type }) => type) : [];
      };
      expect(await by('one')).toEqual(['lease.acquired']);
      expect(await by('two')).toEqual(['lease.delegated', 'lease.downgraded', 'lease.released']);
    }
  });

  test('H4: pruning takes the event and leaves the lease that lives on', async () => {
    const store = await open();
    const lease = await grant(store, clock, 'a', { ttlMs: 600_000 });
    await clock.advance(KEEP_MS + 1);
    expect(await store.prune({ olderThanMs: KEEP_MS, limit: 10 })).toMatchObject({ events: 1, ids: 0, more: false });
    expect(await eventsOf(store, lease.id)).toEqual([]);
    expect((await store.get([lease.id])).items[0]).toMatchObject({ status: 'active', epoch: lease.epoch });
    expect(await outcomeOf(await open(), 'a')).toBe('refused');
    expect(await release(store, lease)).toBe('released');
    expect((await grant(await open(), clock, 'a')).epoch).toBeGreaterThan(lease.epoch);
  });

  test.each([
    ['in the tail', TAIL_BOUNDS],
    ['indexed', { most: 0, stretch: 1 }],
  ])(
    'H4, S8: pruning takes a lease that is long over, %s, and leaves the event the archive has not seen',
    async (_, bounds) => {
      const store = openShort(bounds);
      await release(store, await grant(store, clock, 'archived'));
      const archived = await store.events({ limit: 10 });
      const lease = await grant(store, clock, 'a', { owner: 'one' });
      const { id, epoch } = lease;
      await store.renew([{ id, epoch, requestId: 'r', ttlMs: 60_000, callerWall: clock.wall() }]);
      await release(store, lease);
      const told = await eventsOf(store, id);
      expect(told.map(({ type }) => type)).toEqual(['lease.acquired', 'lease.released']);
      await clock.advance(KEEP_MS + 1);
      const upTo = archived.outcome === 'rows' ? archived.next : undefined;
      const pruned = await store.prune({ olderThanMs: 1_000, upTo, limit: 10 });
      expect(pruned).toMatchObject({ events: 2, ids: 2, more: false });
      expect((await store.get([id])).items).toEqual([undefined]);
      for (const reader of [store, await open()]) {
        expect(await eventsOf(reader, id)).toEqual(told);
        expect(await reader.events({ owner: 'one', type: 'lease.acquired', limit: 5 })).toMatchObject({
          rows: [told[0]],
        });
      }
      expect((await grant(store, clock, 'a')).epoch).toBeGreaterThan(epoch);
      expect(await store.prune({ olderThanMs: 1_000, limit: 10 })).toMatchObject({ events: 2, ids: 0, more: false });
      expect(await eventsOf(store, id)).toEqual([]);
    },
  );
});
