// Services over SQLite, with two connections to one file for two processes: one of them works, and the archive has every
// row that the file no longer has, also rows from before a pause of the history and from before a restart.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pruneHistory } from '../../src/services/history-pruner.js';
import { sweeper } from '../../src/services/sweeper.js';
import { openSqlite, type SqliteStore } from '../../src/stores/sqlite/index.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { grant } from '../support/ask.js';
import { endlessTurn, pass, serviceSite, settled } from '../support/service-site.js';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.js';

const DAY = 24 * 3_600_000;
const { logger } = serviceSite();
let clock: FakeClock;
let folder: TemporaryFolder;
let path: string;
const opened: SqliteStore[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  clock = new FakeClock();
  path = join(folder.path, 'history.jsonl');
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  folder.remove();
});

async function open(): Promise<SqliteStore> {
  const store = await openSqlite(`sqlite:${join(folder.path, 'leases.db')}`, { clock });
  opened.push(store);
  return store;
}
async function leases(store: SqliteStore, count: number, under: string): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const { id, epoch } = await grant(store, clock, `${under}/${i}`);
    await store.end([{ id, epoch, requestId: 'r', why: 'released' }]);
  }
}
async function prune(store: SqliteStore): Promise<void> {
  const { settings } = await store.settings();
  const changed = { ...settings, history_retention_days: 7, history_archive_path: path };
  const state = { isDone: false };
  const done = (): void => void (state.isDone = true);
  const work = pruneHistory({ store, clock, logger, owner: 'one' }, endlessTurn(), changed);
  work.then(done, done);
  while (!state.isDone) {
    await clock.advance(10);
    await settled();
  }
  await work;
}
const archived = (): { resource: string; type: string }[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { resource: string; type: string });

test('H4: the archive has every row, in order, over a pause of the history and a restart', async () => {
  let store = await open();
  await leases(store, 600, 'first');
  await store.setSettings({ keep_history: false });
  await leases(store, 5, 'unlogged');
  await store.setSettings({ keep_history: true });
  await leases(store, 20, 'second');
  await clock.advance(8 * DAY);
  await prune(store);
  expect(archived()).toHaveLength(1_240);
  await leases(store, 10, 'third');
  await store.close();
  clock.reboot('another-boot', 5_000);
  store = await open();
  await clock.advance(8 * DAY);
  await prune(store);
  const names = archived().map(({ resource, type }) => (resource ? `${resource} ${type.slice(6)}` : type));
  const both = (name: string): string[] => [`${name} acquired`, `${name} released`];
  const under = (name: string, count: number): string[] =>
    Array.from({ length: count }, (_, i) => both(`${name}/${i}`)).flat();
  expect(names.filter((name) => name !== 'store.incarnation')).toEqual([
    ...under('first', 600),
    ...under('second', 20),
    ...under('third', 10),
  ]);
  expect(await store.events({ backward: true, limit: 10 })).toMatchObject({ rows: [] });
});

test('O1, S3: two processes on one file sweep it once an interval between them', async () => {
  const stores = [await open(), await open()];
  const swept: number[] = [];
  const services = stores.map((store, i) => {
    const sweep = store.sweep.bind(store);
    store.sweep = (order) => {
      swept.push(i);
      return sweep(order);
    };
    return sweeper({ store, clock, logger, owner: `process-${i}` });
  });
  await grant(stores[0]!, clock, 'orders/0', { ttlMs: 1_000 });
  for (const service of services) service.start();
  await pass(clock, 300_000, 600);
  await Promise.all(services.map((service) => service.stop()));
  expect(swept.length).toBeGreaterThan(8);
  expect(swept.length).toBeLessThan(13);
  expect(await stores[1]!.events({ type: 'lease.expired', limit: 10 })).toMatchObject({ rows: [{}] });
});
