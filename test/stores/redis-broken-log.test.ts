// A key of the namespace that somebody else has overwritten: calls are refused, and once it is moved away everything goes on. Redis does not
// take a script back that fails in its middle, so what such a call may leave behind must not lead anybody astray.
import { describe, expect, test } from 'vitest';
import type { AcquireRequest } from '../../src/domain/requests.js';
import { keysOf } from '../../src/stores/redis/keys.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { ask, grant } from '../support/ask.js';
import { readCounters } from '../support/redis-counters.js';
import { onRedis, type Admin } from '../support/redis-site.js';
import type { RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const [, , INDEX = '', , QUEUE = '', DYING = '', LOG = ''] = keysOf('default');
let server: RedisServer;
let admin: Admin;
let store: Store;

const FOREIGN = { code: 'STORE_INCOMPATIBLE', retryable: false };
const overwrite = async (): Promise<void> => {
  await admin.del(LOG);
  await admin.set(LOG, "somebody else's");
};
const join = (name: string, owner: string): Promise<AcquireRequest> => ask(store, clock, name, { owner, join: true });
async function outcomeOf(request: AcquireRequest): Promise<string | undefined> {
  return (await store.acquire([request])).results[0]?.outcome;
}

describe.skipIf(isSkipped('redis'))('a log that was overwritten', () => {
  onRedis(clock, { stepClock: true }, (site) => {
    ({ server, admin, store } = site);
  });

  test('A11, S9: while somebody joins: when it is moved away the namespace is used as before, and nobody waits in it', async () => {
    const held = await grant(store, clock, 'a', { ttlMs: 60_000 });
    await overwrite();
    await expect(store.acquire([await join('a', 'second')])).rejects.toMatchObject(FOREIGN);
    await admin.del(LOG);
    server.clock.step(11_000);
    await store.sweep({ limit: 100 });
    expect((await store.get([held.id])).items[0]).toMatchObject({ status: 'active' });
    const { results } = await store.end([{ id: held.id, epoch: held.epoch, requestId: 'r', why: 'released' }]);
    expect(results[0]).toMatchObject({ outcome: 'released' });
    expect((await grant(store, clock, 'a', { ttlMs: 60_000 })).epoch).toBeGreaterThan(held.epoch);
  });

  test('A11, S9: while the first in line claims and dies: nothing of the claim is there, and its ticket ends like any other', async () => {
    const held = await grant(store, clock, 'b', { ttlMs: 60_000 });
    const next = await join('b', 'next');
    expect(await outcomeOf(next)).toBe('queued');
    await store.end([{ id: held.id, epoch: held.epoch, requestId: 'r', why: 'released' }]);
    await overwrite();
    await expect(store.acquire([next])).rejects.toMatchObject(FOREIGN);
    await admin.del(LOG);
    server.clock.step(11_000);
    await store.sweep({ limit: 100 });
    expect((await store.get([next.id])).items[0]).toMatchObject({ status: 'failed' });
    const waiting = (await admin.zRangeByLex(INDEX, '[w', '(x')).length;
    const lines = [await admin.zCard(QUEUE), await admin.zCard(DYING)].map((count) => count - 1);
    expect([Number((await readCounters(admin)).split(' ')[5]), waiting, ...lines]).toEqual([0, 0, 0, 0]);
  });
});
