// The small store of docs/guide/writing-a-store.md passes the conformance suite.
import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TinyStore } from '../../examples/tiny-store.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { makeId, normaliseParts, type AcquireRequest } from '../../src/index.js';
import { storeConformance, type Opened } from '../../src/testing/store-conformance/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';

let opens = 0;

async function open(fake: { wall?: number } = {}): Promise<Opened> {
  const folder = temporaryFolder();
  const clock = new FakeClock({ seed: (opens += 1), ...fake });
  const store = TinyStore.open(join(folder.path, 'leases.json'), clock);
  return {
    store,
    another: async () => store,
    passTime: (ms) => clock.advance(ms),
    wall: clock.wall,
    stepWall: (ms) => clock.stepWall(ms),
    randomText: clock.randomText,
    close: async () => {
      await store.close();
      folder.remove();
    },
  };
}

const openNearLimit = (): Promise<Opened> => open({ wall: Math.floor(Number.MAX_SAFE_INTEGER / 1_000) });
const harness = { name: 'tiny', capabilities: { stepsWall: true }, open: () => open(), openNearLimit };
storeConformance(harness, { describe, test, skip: test.skip });

async function ask(store: TinyStore, clock: FakeClock): Promise<AcquireRequest> {
  const { now: bornAt } = await store.time();
  const terms = {
    priority: 0,
    join: false,
    holding: [],
    reclaim: false,
    maxRenewals: -1,
    minHoldMs: 0,
    lockDelayMs: 0,
  };
  const who = { id: makeId(bornAt, clock.randomText()), bornAt, owner: 'someone', remote: false };
  return { ...who, ...terms, parts: normaliseParts('a'), ttlMs: 30_000, callerWall: clock.wall() };
}

test('S2, S6: a write that fails has changed nothing, and a file opened again goes on with higher epochs', async () => {
  const folder = temporaryFolder();
  const path = join(folder.path, 'leases.json');
  const clock = new FakeClock();
  const first = TinyStore.open(path, clock);
  mkdirSync(`${path}.new`);
  await expect(first.acquire([await ask(first, clock)])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  rmdirSync(`${path}.new`);
  const granted = (await first.acquire([await ask(first, clock)])).results[0];
  if (granted?.outcome !== 'granted') throw new Error('not granted');
  const second = TinyStore.open(path, clock);
  expect((await second.get([granted.lease.id])).items[0]?.status).toBe('expired');
  const next = (await second.acquire([await ask(second, clock)])).results[0];
  if (next?.outcome !== 'granted') throw new Error('not granted');
  expect(next.lease.epoch).toBeGreaterThan(granted.lease.epoch);
  folder.remove();
});
