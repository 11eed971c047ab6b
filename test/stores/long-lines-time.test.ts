// S18: the steps of a long line take hardly longer than those of a short one. What Redis says of itself is in redis-line.test.ts;
// here the caller's time is measured, turn by turn, a short line and a long one beside each other.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AcquireRequest } from '../../src/domain/requests.js';
import { openPostgres } from '../../src/stores/postgres/index.js';
import { openSqlite } from '../../src/stores/sqlite/index.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { acquire, ask, grant } from '../support/ask.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { isSkipped } from '../support/servers/server-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const clock = systemClock();
const TURNS = 41;

interface Turn {
  readonly handOver: number;
  readonly join: number;
}

/** A line of this many. Each call of what it answers is one turn: the holder lets go, the first claims, a new one joins. */
async function line(store: Store, name: string, count: number): Promise<() => Promise<Turn>> {
  let held = await grant(store, clock, name);
  const waiting: AcquireRequest[] = [];
  for (let i = 0; i < count; i += 1) {
    waiting.push(await ask(store, clock, name, { join: true }));
    await acquire(store, waiting[i] as AcquireRequest);
  }
  return async () => {
    const next = await ask(store, clock, name, { join: true });
    const began = performance.now();
    await store.end([{ id: held.id, epoch: held.epoch, requestId: clock.randomText(), why: 'released' }]);
    const claimed = await acquire(store, waiting.shift() as AcquireRequest);
    const handOver = performance.now() - began;
    if (claimed.outcome !== 'granted') throw new Error(claimed.outcome);
    held = claimed.lease;
    const result = await acquire(store, next);
    waiting.push(next);
    expect(result).toMatchObject({ outcome: 'queued', place: count });
    return { handOver, join: performance.now() - began - handOver };
  };
}

/** How many times as long a line of 250 takes as one of 5. */
async function longToShort(store: Store): Promise<Turn> {
  const lines = [await line(store, 'short', 5), await line(store, 'long', 250)];
  const turns: Turn[][] = [[], []];
  for (let i = 0; i < TURNS; i += 1) {
    for (const [at, turn] of lines.entries()) turns[at]?.push(await turn());
  }
  const median = (at: number, of: keyof Turn): number =>
    (turns[at]?.map((turn) => turn[of]).sort((a, b) => a - b)[TURNS >> 1] as number) || 0;
  return { handOver: median(1, 'handOver') / median(0, 'handOver'), join: median(1, 'join') / median(0, 'join') };
}

describe('a long line in SQLite', () => {
  const folder = temporaryFolder();
  let store: Store;
  beforeAll(async () => {
    store = await openSqlite(join(folder.path, 'leases.db'), { clock });
  });
  afterAll(async () => {
    await store.close();
    folder.remove();
  });

  test('S18: the line is not read anew for every step', async () => {
    const { handOver, join } = await longToShort(store);
    expect(handOver).toBeLessThan(4);
    expect(join).toBeLessThan(4);
  });
});

describe.skipIf(isSkipped('postgres'))('a long line in PostgreSQL', () => {
  let server: PostgresServer;
  let store: Store;
  beforeAll(async () => {
    server = await startPostgres();
    store = await openPostgres(server.url, { clock });
  });
  afterAll(async () => {
    await store.close();
    await server.remove();
  });

  test('S18: the line is counted, not compared row by row', async () => {
    const { handOver, join } = await longToShort(store);
    expect(handOver).toBeLessThan(1.7);
    expect(join).toBeLessThan(1.7);
  });
});
