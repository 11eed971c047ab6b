// Pruning where so many ended leases still keep others out that a step sees nothing else (S18): they are passed over, and what came after
// them goes. The server's clock is stepped, so that nobody waits.
import { describe, expect, test } from 'vitest';
import { keysOf } from '../../src/stores/redis/keys.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { ask } from '../support/ask.js';
import { onRedis, type RedisSite } from '../support/redis-site.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const BATCH = 250;
const HOUR_MS = 3_600_000;
const [, ROWS = ''] = keysOf('default');

async function endMany(store: Store, count: number, minHoldMs: number): Promise<void> {
  const template = await ask(store, clock, 'any', { minHoldMs, ttlMs: 10_000 });
  for (let at = 0; at < count; at += BATCH) {
    const { results } = await store.acquire(
      Array.from({ length: Math.min(BATCH, count - at) }, (_, i) => {
        const id = `${template.id}-${at + i}`;
        return { ...template, id, parts: [{ name: id, scope: 'node', mode: 'exclusive' }] as const };
      }),
    );
    const granted = results.flatMap((result) => (result.outcome === 'granted' ? [result.lease] : []));
    await store.end(granted.map(({ id, epoch }) => ({ id, epoch, requestId: 'r', why: 'released' })));
  }
}

describe.skipIf(isSkipped('redis'))('pruning a Redis namespace', () => {
  let site: RedisSite;
  onRedis(clock, { stepClock: true }, (given) => {
    site = given;
  });

  test('H4, S18: ended ids go, however many before them still keep others out, and those go when they do not', async () => {
    const { store, server, admin } = site;
    const pruneAll = async (): Promise<number> => {
      for (let steps = 0, ids = 0; steps < 30; steps += 1) {
        const pruned = await store.prune({ olderThanMs: 0, limit: 1_000 });
        ids += pruned.ids;
        if (!pruned.more) return ids;
      }
      throw new Error('there is always more');
    };
    await endMany(store, 10_500, 24 * HOUR_MS);
    await endMany(store, 10, 0);
    server.clock.step(3 * 60_000);
    expect(await pruneAll()).toBe(10);
    expect(await pruneAll()).toBe(0);
    server.clock.step(25 * HOUR_MS);
    expect(await pruneAll()).toBe(10_500);
    expect(await admin.hKeys(ROWS)).toEqual(['']);
  });
});
