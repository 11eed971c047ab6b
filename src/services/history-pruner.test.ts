// The pruner: rows go by age, into the archive first where there is one, and a crash loses and doubles nothing.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { grant } from '../../test/support/ask.js';
import { endlessTurn, pass, serviceSite, settled, type ServiceSite } from '../../test/support/service-site.js';
import { temporaryFolder, type TemporaryFolder } from '../../test/support/temporary-folder.js';
import type { Settings } from '../domain/settings.js';
import { historyPruner, pruneHistory } from './history-pruner.js';
import { INTERNAL_NAMESPACE, takeTurn, type Work } from './turn.js';

const DAY = 24 * 3_600_000;

/** Each lease is two rows of the log. */
async function leases({ store, clock }: ServiceSite, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const lease = await grant(store, clock, `orders/${i}`);
    await store.end([{ id: lease.id, epoch: lease.epoch, requestId: 'r', why: 'released' }]);
  }
}
async function rowIds(store: ServiceSite['store']): Promise<string[]> {
  const events = await store.events({ backward: true, limit: 1_000 });
  return events.outcome === 'rows' ? events.rows.map((row) => row.id).reverse() : [];
}
async function prune(site: ServiceSite, changes: Partial<Settings> = {}): Promise<Work> {
  const { settings } = await site.store.settings();
  const work = pruneHistory(site, endlessTurn(), { ...settings, history_retention_days: 7, ...changes });
  const state = { isDone: false };
  const done = (): void => void (state.isDone = true);
  work.then(done, done);
  while (!state.isDone) {
    await site.clock.advance(10); // pauses between its steps
    await settled(); // and what the file system needs
  }
  return work;
}

describe('H4: without an archive', () => {
  test('H4, S18: old rows and ended ids go in steps, young ones stay', async () => {
    const site = serviceSite();
    await leases(site, 700);
    await site.clock.advance(8 * DAY);
    await leases(site, 2);
    const order = vi.spyOn(site.store, 'prune');
    expect(await prune(site)).toBe('done');
    expect(await rowIds(site.store)).toHaveLength(4);
    expect(order).toHaveBeenCalledTimes(2); // 1,400 rows
  });

  test('H4: as a service it prunes by itself, and the log of the turns after a day', async () => {
    const site = serviceSite();
    const inside = site.store.within(INTERNAL_NAMESPACE);
    await leases(site, 5);
    const signal = new AbortController().signal;
    const turn = { service: 'other', namespace: 'default', everyMs: 1_000, owner: 'x', clock: site.clock, signal };
    await takeTurn(site.store, turn, () => Promise.resolve('done'));
    const first = await rowIds(inside);
    await site.clock.advance(31 * DAY);
    const service = historyPruner(site);
    service.start();
    await pass(site.clock, 60_000);
    expect(await rowIds(site.store)).toEqual([]);
    expect(await rowIds(inside)).not.toEqual(expect.arrayContaining(first));
    await service.stop();
  });

  test('S18: a turn has a bounded number of steps, and the rest is for the next', async () => {
    const site = serviceSite();
    const reply = { now: 1, incarnation: 'x', settingsVersion: 1, events: 1_000, ids: 0 };
    const order = vi.spyOn(site.store, 'prune').mockResolvedValue({ ...reply, more: true });
    expect(await prune(site)).toBe('more');
    expect(order).toHaveBeenCalledTimes(200);
  });
});

describe('H4: with an archive', () => {
  let folder: TemporaryFolder;
  let path: string;
  beforeEach(() => {
    folder = temporaryFolder();
    path = join(folder.path, 'history.jsonl');
  });
  afterEach(() => folder.remove());
  const archived = (): string[] =>
    readFileSync(path, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { id: string }).id);
  const withArchive = (site: ServiceSite): Promise<Work> => prune(site, { history_archive_path: path });

  test('H4: every row that goes stands in the file, in order, and none that stays', async () => {
    const site = serviceSite();
    await leases(site, 1_100);
    const before = [...(await rowIds(site.store))];
    await site.clock.advance(5 * DAY);
    expect(await withArchive(site)).toBe('done');
    expect(archived()).toEqual([]);
    await leases(site, 3);
    await site.clock.advance(3 * DAY);
    expect(await withArchive(site)).toBe('done');
    expect(archived()).toHaveLength(2_200);
    expect(archived().slice(-1_000)).toEqual(before.slice(-1_000));
    expect(new Set(archived()).size).toBe(2_200);
    expect(await rowIds(site.store)).toHaveLength(6);
    await site.clock.advance(5 * DAY);
    await withArchive(site);
    expect(archived()).toHaveLength(2_206);
    expect(await rowIds(site.store)).toEqual([]);
  });

  test('H4: a crash between the append and the prune neither loses nor doubles a row', async () => {
    const site = serviceSite();
    await leases(site, 10);
    const all = await rowIds(site.store);
    await site.clock.advance(8 * DAY);
    vi.spyOn(site.store, 'prune').mockRejectedValueOnce(new Error('killed'));
    await expect(withArchive(site)).rejects.toThrow('killed');
    expect(archived()).toEqual(all);
    expect(await rowIds(site.store)).toEqual(all);
    // And one in the middle of the append: the last line is torn.
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.slice(0, -20));
    expect(await withArchive(site)).toBe('done');
    expect(archived()).toEqual(all);
    expect(await rowIds(site.store)).toEqual([]);
  });

  test('H4: when the file cannot be written nothing is pruned, and the error says why', async () => {
    const site = serviceSite();
    await leases(site, 3);
    await site.clock.advance(8 * DAY);
    mkdirSync(path);
    await expect(withArchive(site)).rejects.toThrow(/EISDIR/);
    expect(await rowIds(site.store)).toHaveLength(6);
  });

  test('H4: rows from before a pause of the history are archived too', async () => {
    for (const startsEmpty of [true, false]) {
      const site = serviceSite();
      const own = join(folder.path, `${String(startsEmpty)}.jsonl`);
      const run = (): Promise<Work> => prune(site, { history_archive_path: own });
      if (!startsEmpty) {
        await leases(site, 2);
        await site.clock.advance(8 * DAY);
        await run();
      }
      await leases(site, 600);
      const before = (await rowIds(site.store)).slice(-1_000);
      await site.store.setSettings({ keep_history: false });
      await leases(site, 1);
      await site.store.setSettings({ keep_history: true });
      await site.clock.advance(DAY);
      await leases(site, 2);
      const after = (await rowIds(site.store)).slice(-4);
      await site.clock.advance(6.5 * DAY);
      await run(); // only what is before the pause is old enough
      await site.clock.advance(2 * DAY);
      await run();
      const ids = readFileSync(own, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: string }).id);
      expect(ids).toHaveLength(startsEmpty ? 1_204 : 1_208);
      expect(ids.slice(-1_004)).toEqual([...before, ...after]);
      expect(new Set(ids).size).toBe(ids.length);
      expect(await rowIds(site.store)).toEqual([]);
    }
  });

  test('H4: an archive of an earlier life of the store is gone on with from the oldest row', async () => {
    const old = serviceSite(1);
    await leases(old, 2);
    await old.clock.advance(8 * DAY);
    await withArchive(old);
    const fresh = serviceSite(2);
    await leases(fresh, 3);
    const all = await rowIds(fresh.store);
    await fresh.clock.advance(8 * DAY);
    expect(await withArchive(fresh)).toBe('done');
    expect(archived().slice(4)).toEqual(all);
    expect(await rowIds(fresh.store)).toEqual([]);
  });

  test('H4: with keep_history off ended ids are forgotten all the same', async () => {
    const site = serviceSite();
    await site.store.setSettings({ keep_history: false });
    const lease = await grant(site.store, site.clock, 'orders/0');
    await site.store.end([{ id: lease.id, epoch: lease.epoch, requestId: 'r', why: 'released' }]);
    await site.clock.advance(8 * DAY);
    await withArchive(site);
    expect((await site.store.get([lease.id])).items).toEqual([undefined]);
  });

  test('H4: a turn that is over appends nothing more and prunes nothing', async () => {
    const site = serviceSite();
    await leases(site, 3);
    await site.clock.advance(8 * DAY);
    const { settings } = await site.store.settings();
    const over = new AbortController();
    vi.spyOn(site.store, 'events').mockImplementationOnce(async () => {
      over.abort(new Error('over'));
      return { now: 1, incarnation: 'x', settingsVersion: 1, outcome: 'rows', rows: [], next: 'x', more: false };
    });
    const change = { ...settings, history_retention_days: 7, history_archive_path: path };
    await expect(pruneHistory(site, endlessTurn(over.signal), change)).rejects.toThrow('over');
    expect(archived()).toEqual([]);
    expect(await rowIds(site.store)).toHaveLength(6);
  });
});
