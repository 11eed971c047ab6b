// SQLite for the conformance suite: a file in a folder of its own, its clock a fake one that all connections share.
import { join } from 'node:path';
import { openSqlite, type SqliteStore } from '../../src/stores/sqlite/index.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import type { Opened, StoreHarness } from '../../src/testing/store-conformance/harness.js';
import { temporaryFolder } from './temporary-folder.js';

let opens = 0;

export const sqliteHarness: StoreHarness = {
  name: 'SQLite',
  capabilities: { stepsWall: true, sequences: true },
  open: () => open({}),
  openNearLimit: () => open({ wall: Math.floor(Number.MAX_SAFE_INTEGER / 1_000) }),
};

async function open(fake: { wall?: number }): Promise<Opened> {
  const folder = temporaryFolder();
  opens += 1;
  const clock = new FakeClock({ seed: opens, ...fake });
  const opened: SqliteStore[] = [];
  const connect = async (): Promise<SqliteStore> => {
    const store = await openSqlite(`sqlite:${join(folder.path, 'leases.db')}`, { clock });
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
      folder.remove();
    },
  };
}
