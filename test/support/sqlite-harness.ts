// SQLite for the conformance suite: a file in a folder of its own, its clock a fake one that all connections share.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { openSqlite, type SqliteStore } from '../../src/stores/sqlite/index.js';
import type { Clock } from '../../src/domain/clock.js';
import { indexTroubles, openWithTail } from './sqlite-tail.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import type { Opened, StoreHarness } from '../../src/testing/store-conformance/harness.js';
import { temporaryFolder } from './temporary-folder.js';

let opens = 0;

type Connect = (path: string, clock: Clock) => Promise<SqliteStore>;
const NEAR_LIMIT = { wall: Math.floor(Number.MAX_SAFE_INTEGER / 1_000) };

export const sqliteHarness = harness('SQLite', (path, clock) => openSqlite(`sqlite:${path}`, { clock }));

/** Each connection in turn lets a tail of another length stand: none at all, a few rows, as many as there are. */
export const sqliteTailHarness = harness('SQLite with short tails', async (path, clock) => {
  opens += 1;
  return openWithTail(path, clock, [TAILS.none, TAILS.few, TAILS.all][opens % 3] ?? TAILS.few);
});
const TAILS = { none: { most: 0, stretch: 1 }, few: { most: 5, stretch: 2 }, all: { most: 100_000, stretch: 1 } };

function harness(name: string, connect: Connect): StoreHarness {
  return {
    name,
    capabilities: { stepsWall: true, sequences: true },
    open: () => open({}, connect),
    openNearLimit: () => open(NEAR_LIMIT, connect),
  };
}

async function open(fake: { wall?: number }, connectTo: Connect): Promise<Opened> {
  const folder = temporaryFolder();
  const path = join(folder.path, 'leases.db');
  opens += 1;
  const clock = new FakeClock({ seed: opens, ...fake });
  const opened: SqliteStore[] = [];
  const connect = async (): Promise<SqliteStore> => {
    const store = await connectTo(path, clock);
    opened.push(store);
    return store;
  };
  return {
    store: await connect(),
    another: connect,
    passTime: (ms) => clock.advance(ms),
    wall: clock.wall,
    stepWall: (ms) => clock.stepWall(ms),
    randomText: clock.randomText,
    async close() {
      for (const store of opened) await store.close();
      const troubles = indexTroubles(path);
      folder.remove();
      assert.deepEqual(troubles, []);
    },
  };
}
