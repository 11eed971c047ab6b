// The file's upkeep: checkpoints and their worker, backups while others write, closing, and a WAL that stays short.
import { execFile } from 'node:child_process';
import { existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqlite, type SqliteStore } from '../../src/stores/sqlite/index.js';
import { systemClock } from '../../src/system-clock.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { acquire, ask, grant } from '../support/ask.js';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.js';

/** More than it takes to start the checkpoint worker. */
const COMMITS = 300;
const LONG_MS = 20_000;
const clock = systemClock();
let folder: TemporaryFolder;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'leases.db');
});
afterEach(() => {
  folder.remove();
});

const open = (path = file): Promise<SqliteStore> => openSqlite(`sqlite:${path}`, { clock });

async function commit(store: SqliteStore, count: number, under = 'a'): Promise<void> {
  for (let i = 0; i < count; i += 1) await grant(store, clock, `${under}/${i}`);
}

/** Fails instead of hanging. */
async function inTime<T>(what: string, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = delay(LONG_MS, undefined, { signal: over.signal }).then(() => {
    throw new Error(`${what} took more than ${LONG_MS} ms`);
  });
  late.catch(() => undefined);
  return Promise.race([work, late]).finally(() => {
    over.abort();
  });
}

test.each([
  ['while it is still starting', 0],
  ['long before', 500],
])('S20, A9: a checkpoint worker that dies %s does not hang close', async (_, pauseMs) => {
  const store = await open();
  await commit(store, COMMITS - 100);
  renameSync(file, `${file}-moved`); // the worker, started later, finds no file to open
  await commit(store, 100, 'b');
  await delay(pauseMs);
  if (pauseMs > 0) {
    const { details } = await store.info();
    expect(details['checkpointTrouble']).toEqual(expect.any(String));
    await commit(store, COMMITS, 'c');
  }
  await inTime('close', store.close());
});

test('S20: a program given on the command line as a module checkpoints and closes', async () => {
  const built = new URL('../../dist/', import.meta.url).href;
  const program = `
    import { makeId, systemClock } from '${built}index.js';
    import { openSqlite } from '${built}stores/sqlite/index.js';
    const clock = systemClock();
    const store = await openSqlite(${JSON.stringify(`sqlite:${file}`)}, { clock });
    for (let i = 0; i < ${COMMITS}; i += 1) await store.setSettings({ max_renewals: i });
    await new Promise((resolve) => clock.after(500, resolve, true));
    const { details } = await store.info();
    await store.close();
    console.log(makeId(0, 'x'.repeat(20)).length > 0, details.checkpointTrouble);
  `;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { timeout: LONG_MS });
  expect((await run).stdout.trim()).toBe('true undefined');
});

test('A8, S2: a backup comes to its end while another connection never stops writing, and is a life of its own', async () => {
  const [store, writer] = [await open(), await open()];
  const metadata = { text: 'x'.repeat(3_000) };
  const template = await ask(store, clock, 'lease', { metadata });
  for (let batch = 0; batch < 10; batch += 1) {
    const requests = Array.from({ length: 200 }, (_, i) => ({
      ...template,
      id: `${template.id.slice(0, 16)}${batch}x${i}`,
      parts: [{ name: `lease/${batch}/${i}`, scope: 'node' as const, mode: 'exclusive' as const }],
    }));
    await store.acquire(requests);
  }
  const before = await grant(store, clock, 'before');
  const stop = new AbortController();
  let writes = 0;
  const writing = (async () => {
    for (; !stop.signal.aborted; writes += 1) {
      await grant(writer, clock, `writer/${writes}`);
      await nextTurn();
    }
  })();
  const path = join(folder.path, 'backup.db');
  await inTime('the backup', store.backup(path)).finally(() => {
    stop.abort();
  });
  await writing;
  expect(writes).toBeGreaterThan(5);
  const copy = await open(path);
  expect((await copy.time()).incarnation).not.toBe((await store.time()).incarnation);
  expect((await copy.get([before.id])).items[0]).toMatchObject({ epoch: before.epoch, status: 'expired' });
  expect((await grant(copy, clock, 'before')).epoch).toBeGreaterThan(before.epoch);
  for (const one of [copy, store, writer]) await one.close();
});

test('A9: close twice: both answer when the file is closed', async () => {
  const store = await open();
  await commit(store, COMMITS);
  const first = store.close();
  await store.close();
  expect(existsSync(`${file}-wal`)).toBe(false);
  await first;
  await store.close();
});

test('A9: after close every call fails with SHUTTING_DOWN', async () => {
  const store = await open();
  const request = await ask(store, clock, 'a');
  const { id, epoch } = await grant(store, clock, 'b');
  const authority = { id, epoch, requestId: 'r' };
  const order = { target: { resource: 'a' }, reason: 'r', actor: 'a', upToEpoch: epoch, keepOutMs: 0 };
  await store.close();
  const calls: Record<string, () => Promise<unknown>> = {
    acquire: () => acquire(store, request),
    renew: () => store.renew([{ ...authority, callerWall: 0 }]),
    end: () => store.end([{ ...authority, why: 'released' }]),
    change: () => store.change([{ ...authority, kind: 'downgrade' }]),
    revoke: () => store.revoke(order),
    failTicket: () => store.failTicket({ id, cycle: [id] }),
    sweep: () => store.sweep({ limit: 1 }),
    events: () => store.events({ limit: 1 }),
    prune: () => store.prune({ olderThanMs: 1, limit: 1 }),
    settings: () => store.settings(),
    setSettings: () => store.setSettings({}),
    waitGraph: () => store.waitGraph(),
    get: () => store.get([id]),
    list: () => store.list({ limit: 1 }),
    show: () => store.show('a', 1),
    info: () => store.info(),
    time: () => store.time(),
    backup: () => store.backup(join(folder.path, 'backup.db')),
    within: () => store.within('other').time(),
  };
  const codes = await Promise.all(
    Object.entries(calls).map(async ([name, call]) => {
      const code = await call().then(
        () => 'answered',
        (error: unknown) => (error as { code?: string }).code,
      );
      return [name, code];
    }),
  );
  expect(Object.fromEntries(codes)).toEqual(
    Object.fromEntries(Object.keys(calls).map((name) => [name, 'SHUTTING_DOWN'])),
  );
});

test('S20: the WAL stays short when many short connections write while another keeps the file open', async () => {
  const staying = await open();
  for (let i = 0; i < 30; i += 1) {
    const short = await open();
    await commit(short, 200, `of-${i}`);
    await short.close();
  }
  expect(statSync(`${file}-wal`).size).toBeLessThan(16 * 1024 * 1024);
  expect((await staying.list({ prefix: 'of-29', limit: 1_000 })).items).toHaveLength(200);
  await staying.close();
});

test('Q3: the file is polled while a ticket is refreshed, and no longer when its client is gone', async () => {
  const fake = new FakeClock();
  const store = await openSqlite(`sqlite:${file}`, { clock: fake });
  store.subscribe({ wake: () => undefined });
  await grant(store, fake, 'a', { ttlMs: 600_000 });
  const quiet = fake.pendingTimers;
  const waiting = await ask(store, fake, 'a', { join: true });
  for (let refresh = 0; refresh < 3; refresh += 1) {
    expect(await acquire(store, waiting)).toMatchObject({ outcome: 'queued' });
    await fake.advance(9_000);
    expect(fake.pendingTimers).toBe(quiet + 1);
  }
  await fake.advance(2_000);
  expect(fake.pendingTimers).toBe(quiet);
  await acquire(store, await ask(store, fake, 'a', { join: true }));
  expect(fake.pendingTimers).toBe(quiet + 1);
  await store.close();
});
