// Much of everything: reads, waiting writes, sweeps, the wait-for graph and lists stay bounded and leave the loop free.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Clock } from '../../src/domain/clock.js';
import type { Lease } from '../../src/domain/lease.js';
import type { Part } from '../../src/domain/part.js';
import type { AcquireRequest, ListFilter } from '../../src/domain/requests.js';
import { openSqlite, type SqliteStore } from '../../src/stores/sqlite/index.js';
import { systemClock } from '../../src/system-clock.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { ask, grant } from '../support/ask.js';
import { startChild, type Child } from '../support/child.js';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.js';

const BATCH = 250;
const PULSE_MS = 5;
const clock = systemClock();
let folder: TemporaryFolder;
let file: string;
let child: Child | undefined;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'leases.db');
  child = undefined;
});
afterEach(async () => {
  child?.process.kill('SIGKILL');
  await child?.ended;
  folder.remove();
});

const open = (by: Clock = clock): Promise<SqliteStore> => openSqlite(`sqlite:${file}`, { clock: by });
const node = (name: string): Part => ({ name, scope: 'node', mode: 'exclusive' });

/** One lease for each list of names, in batches; every one must have this outcome. */
async function acquireMany(
  store: SqliteStore,
  by: Clock,
  names: readonly (readonly string[])[],
  changes: Partial<AcquireRequest> = {},
  outcome = 'granted',
): Promise<Lease[]> {
  const template = await ask(store, by, 'any', changes);
  const leases: Lease[] = [];
  for (let at = 0; at < names.length; at += BATCH) {
    const requests = names.slice(at, at + BATCH).map((some, i) => ({
      ...template,
      id: `${template.id.slice(0, 12)}-${by.randomText().slice(0, 12)}-${at + i}`,
      parts: some.map(node),
    }));
    for (const result of (await store.acquire(requests)).results) {
      expect(result.outcome).toBe(outcome);
      if (result.outcome === 'granted') leases.push(result.lease);
    }
  }
  return leases;
}

interface Lag {
  readonly p95: number;
  readonly most: number;
}
/** How late the loop's pulses were while this went on, in milliseconds. */
async function lagWhile(work: Promise<unknown>): Promise<Lag> {
  const lags: number[] = [];
  let last = clock.monotonic();
  const beat = (): void => {
    lags.push(clock.monotonic() - last - PULSE_MS);
    last = clock.monotonic();
  };
  const pulse = setInterval(beat, PULSE_MS);
  await work.finally(() => {
    clearInterval(pulse);
  });
  beat();
  lags.sort((a, b) => a - b);
  return { p95: lags[Math.floor(lags.length * 0.95)] ?? 0, most: lags.at(-1) ?? 0 };
}

test('S20: a caller that only reads lets timers run', async () => {
  const store = await open();
  await acquireMany(
    store,
    clock,
    Array.from({ length: 1_000 }, (_, i) => [`a/${i}`]),
  );
  const reads: (() => Promise<unknown>)[] = [
    () => store.events({ limit: 50 }),
    () => store.list({ limit: 50 }),
    () => store.time(),
  ];
  for (const read of reads) {
    let ticks = 0;
    const pulse = setInterval(() => (ticks += 1), PULSE_MS);
    const until = clock.monotonic() + 400;
    while (clock.monotonic() < until) await read();
    clearInterval(pulse);
    expect(ticks).toBeGreaterThan(10);
  }
  await store.close();
});

test('S20: behind a process stopped inside a write, a hundred waiting calls all fail and the loop never stalls', async () => {
  const store = await open();
  await grant(store, clock, 'before');
  child = startChild('sqlite-child.mjs', file, 'frozen');
  await child.line('open');
  child.tell('freeze');
  await child.line('frozen');
  const usual = await lagWhile(delay(1_000));
  const start = clock.monotonic();
  const requests = await Promise.all(Array.from({ length: 100 }, (_, i) => ask(store, clock, `a/${i}`)));
  const calls = Promise.allSettled(requests.map((request) => store.acquire([request])));
  const lag = await lagWhile(calls);
  for (const one of await calls) {
    expect(one).toMatchObject({ status: 'rejected', reason: { code: 'STORE_UNAVAILABLE', retryable: true } });
  }
  expect(clock.monotonic() - start).toBeLessThan(8_000);
  expect(lag.p95).toBeLessThan(20 + usual.p95);
  expect(lag.most).toBeLessThan(100 + usual.most);
  child.process.kill('SIGCONT');
  await child.line('thawed');
  await grant(store, clock, 'a/0');
  await store.close();
});

test('S18, S3: a sweep that finds only renewed leases is bounded, says there is more, and expires none', async () => {
  const fake = new FakeClock();
  const store = await open(fake);
  const sweepAll = async (): Promise<{ leases: number; more: boolean }[]> => {
    const steps: { leases: number; more: boolean }[] = [];
    do {
      const { leases, more } = await store.sweep({ limit: 1_000 });
      steps.push({ leases, more });
      expect(steps.length).toBeLessThan(20);
    } while (steps.at(-1)?.more);
    return steps;
  };
  const names = Array.from({ length: 3_000 }, (_, i) => [`a/${i}`]);
  const leases = await acquireMany(store, fake, names, { ttlMs: 10_000 });
  await sweepAll(); // everything is listed by its first expiry
  await fake.advance(5_000);
  for (let at = 0; at < leases.length; at += BATCH) {
    const some = leases.slice(at, at + BATCH);
    const { results } = await store.renew(
      some.map(({ id, epoch }) => ({ id, epoch, requestId: 'once', ttlMs: 60_000, callerWall: fake.wall() })),
    );
    expect(results.every((result) => result.outcome === 'renewed')).toBe(true);
  }
  await fake.advance(10_000);
  const steps = await sweepAll();
  expect(steps[0]).toEqual({ leases: 0, more: true });
  expect(steps.every((step) => step.leases === 0)).toBe(true);
  expect(await store.events({ type: 'lease.expired', limit: 10 })).toMatchObject({ rows: [] });
  await fake.advance(60_000);
  const last = await sweepAll();
  expect(last.reduce((sum, step) => sum + step.leases, 0)).toBe(3_000);
  await store.close();
});

test('Q4, S18: the wait-for graph of five hundred tickets on one name is answered within two seconds', async () => {
  const store = await open();
  await grant(store, clock, 'door');
  const names = Array.from({ length: 500 }, () => ['door']);
  await acquireMany(store, clock, names, { join: true }, 'queued');
  const start = clock.monotonic();
  const { tickets } = await store.waitGraph();
  expect(clock.monotonic() - start).toBeLessThan(2_000);
  expect(tickets).toHaveLength(500);
  expect(tickets.at(-1)?.waitsForTickets).toHaveLength(499);
  await store.close();
});

test('A8: a list by name or prefix finds its leases beside twenty thousand, by any of their names, page by page', async () => {
  const fake = new FakeClock();
  const store = await open(fake);
  const crowd = Array.from({ length: 20_000 }, (_, i) => [`crowd/${i}`]);
  await acquireMany(store, fake, crowd);
  const one = await grant(store, fake, 'door');
  const sets = await acquireMany(store, fake, [
    ['a', 'tree/1'],
    ['tree', 'zebra'],
    ['tree/2', 'tree/3'],
    ['trees'],
    ['tree-house', 'z'],
    ['m', 'tree/4/deep', 'y'],
  ]);
  const pages = async (filter: Omit<ListFilter, 'limit'>, limit: number): Promise<string[]> => {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.list({ ...filter, limit, cursor });
      expect(page.items.length).toBeLessThanOrEqual(limit);
      ids.push(...page.items.map(({ id }) => id));
      cursor = page.cursor;
      expect(ids.length).toBeLessThan(100);
    } while (cursor !== undefined);
    return ids;
  };
  const idOf = (...at: number[]): (string | undefined)[] => at.map((i) => sets[i]?.id);
  expect(await pages({ resource: 'door' }, 10)).toEqual([one.id]);
  expect(await pages({ resource: 'door/x' }, 10)).toEqual([]);
  expect(await pages({ resource: 'tree/1' }, 10)).toEqual(idOf(0));
  expect(await pages({ resource: 'tree' }, 10)).toEqual(idOf(1));
  expect(await pages({ resource: 'crowd/19999' }, 10)).toHaveLength(1);
  for (const limit of [1, 2, 3, 10]) expect(await pages({ prefix: 'tree' }, limit)).toEqual(idOf(0, 5, 1, 2));
  expect(await pages({ prefix: 'tree/4' }, 1)).toEqual(idOf(5));
  expect(await pages({ prefix: 'crowd/777' }, 2)).toHaveLength(1);
  expect(await pages({ prefix: 'tree', owner: 'nobody' }, 2)).toEqual([]);
  await store.close();
});

test('S4, S21: renewals in one batch are each written, whether they end alike or not, a twice renewed and a late one too', async () => {
  const fake = new FakeClock();
  const [store, other] = [await open(fake), await open(fake)];
  const late = await grant(store, fake, 'late', { ttlMs: 100 });
  const leases: Lease[] = [];
  for (let i = 0; i < 70; i += 1)
    leases.push(await grant(store, fake, `many/${i}`, { ttlMs: i < 66 ? 30_000 : 40_000 }));
  await fake.advance(1_000);
  const renewal = ({ id, epoch }: Lease, requestId: string) => ({ id, epoch, requestId, callerWall: fake.wall() });
  const [first] = leases as [Lease];
  const asked = [
    ...leases.map((lease) => renewal(lease, `r-${lease.id}`)),
    renewal(first, 'again'),
    renewal(late, 'late'),
  ];
  const { now, results } = await store.renew(asked);
  expect(results.map(({ outcome }) => outcome)).toEqual([...leases.map(() => 'renewed'), 'renewed', 'notHeld']);
  for (const reader of [store, other]) {
    const { items } = await reader.get([...leases, late].map(({ id }) => id));
    for (const [i, lease] of leases.entries()) {
      expect(items[i]).toMatchObject({ renewals: i === 0 ? 2 : 1, renewedAt: now, expiresAt: now + lease.ttlMs });
    }
    expect(items.at(-1)?.status).toBe('expired');
  }
  await store.close();
  await other.close();
});

test('S4, S21: in a batch renewed for one ttl, each lease keeps the later of its two ends', async () => {
  const fake = new FakeClock();
  const [store, other] = [await open(fake), await open(fake)];
  const names = (of: string): string[][] => Array.from({ length: 16 }, (_, i) => [`${of}/${i}`]);
  const long = await acquireMany(store, fake, names('long'), { ttlMs: 60_000 });
  const short = await acquireMany(store, fake, names('short'), { ttlMs: 30_000 });
  await fake.advance(1_000);
  const mixed = long.flatMap((one, i) => [one, short[i] as Lease]);
  const { now } = await store.renew(
    mixed.map(({ id, epoch }, i) => ({ id, epoch, requestId: 'r', ttlMs: 30_000, callerWall: fake.wall() - i })),
  );
  const { items } = await other.get(mixed.map(({ id }) => id));
  for (const [i, lease] of mixed.entries()) {
    const expiresAt = Math.max(lease.expiresAt, now + 30_000);
    expect(items[i]).toMatchObject({ id: lease.id, expiresAt, ttlMs: 30_000, renewals: 1, skewMs: -i || 0 });
  }
  await store.close();
  await other.close();
});

test('A8, S18: history since a moment ends there, however much came before it', async () => {
  const fake = new FakeClock();
  const store = await open(fake);
  await acquireMany(
    store,
    fake,
    Array.from({ length: 10_500 }, (_, i) => [`n/${i}`]),
  );
  await fake.advance(1_000);
  const { acquiredAt: since } = await grant(store, fake, 'z');
  const page = await store.events({ backward: true, since, limit: 10 });
  expect(page).toMatchObject({ outcome: 'rows', rows: [{ resource: 'z' }], more: false });
  const { next = '' } = page as { next?: string };
  expect(await store.events({ backward: true, before: next, limit: 10 })).toMatchObject({ rows: [], more: false });
  const older = await store.events({ backward: true, since: since - 1, resource: 'z', limit: 10 });
  expect(older).toMatchObject({ rows: [{ resource: 'z' }], more: false });
  const all = await store.events({ backward: true, since: since - 1_000, resource: 'z', limit: 10 });
  expect(all).toMatchObject({ rows: [{ resource: 'z' }], more: true });
  await store.close();
});
