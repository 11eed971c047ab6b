// Every store, with eight clients at once and some answers lost on purpose: one order of the operations explains what was
// answered (contract, section 12). HISTORIES_REPORT=file gets a line for each, for `make prove`.
import { appendFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { MemoryStore } from '../../src/stores/memory/index.js';
import { openSqlite } from '../../src/stores/sqlite/index.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import type { Opened, StoreHarness } from '../../src/testing/store-conformance/index.js';
import { linearPart, type LinearOptions } from '../../src/testing/store-conformance/linear-part.js';
import { historyLines } from '../../src/testing/store-conformance/history-file.js';
import { currentCommit } from '../simulation/story.js';
import { httpHarness } from '../support/http-harness.js';
import { PostgresSite, postgresHarness } from '../support/postgres-harness.js';
import { redisHarness } from '../support/redis-harness.js';
import { isSkipped } from '../support/servers/server-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const clock = systemClock();
const runner = { describe, test };

/** Everything but what it would take pages to say. */
function optionsFor(store: string): LinearOptions {
  const file = process.env['HISTORIES_REPORT'];
  return {
    clock,
    keep: (history, seed) => {
      const path = join(tmpdir(), `holdfast-history-${store.toLowerCase().replaceAll(' ', '-')}-${seed}.jsonl`);
      writeFileSync(path, `${historyLines(history, { store, seed, commit: currentCommit() }).join('\n')}\n`);
      return path;
    },
    tell: (found) => {
      if (file) appendFileSync(file, `${JSON.stringify({ store, ...found, prefix: undefined })}\n`);
    },
  };
}

/** A store of this process, by the real clock. */
function harness(name: string, place: () => { connect: () => Promise<Store>; remove: () => void }): StoreHarness {
  const open = async (): Promise<Opened> => {
    const { connect, remove } = place();
    const stores: Store[] = [];
    const another = async (): Promise<Store> => {
      const store = await connect();
      stores.push(store);
      return store;
    };
    const close = async (): Promise<void> => {
      for (const store of stores) await store.close();
      remove();
    };
    return {
      store: await another(),
      another,
      passTime: (ms) => delay(ms),
      wall: () => clock.wall(),
      randomText: () => clock.randomText(),
      close,
    };
  };
  return { name, open };
}

const memory = harness('memory', () => {
  const store = new MemoryStore({ clock });
  return { connect: async () => store, remove: () => undefined };
});
const sqlite = harness('SQLite', () => {
  const folder = temporaryFolder();
  const url = `sqlite:${join(folder.path, 'leases.db')}`;
  return { connect: () => openSqlite(url, { clock }), remove: () => folder.remove() };
});

linearPart(memory, runner, optionsFor('memory'));
linearPart(sqlite, runner, optionsFor('SQLite'));
linearPart(httpHarness('HTTP', sqlite), runner, optionsFor('SQLite over HTTP'));

describe.skipIf(isSkipped('postgres'))('on a server', () => {
  let site: PostgresSite;
  beforeAll(async () => {
    site = await PostgresSite.start();
  });
  afterAll(() => site.stop());
  linearPart(
    postgresHarness(() => site),
    runner,
    optionsFor('PostgreSQL'),
  );
});

describe.skipIf(isSkipped('redis'))('on a server', () => {
  const redis = redisHarness();
  beforeAll(redis.start);
  afterAll(redis.stop);
  linearPart(redis, runner, optionsFor('Redis'));
});
