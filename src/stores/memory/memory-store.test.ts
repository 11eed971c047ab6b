// The memory store by hand, in a few lines: the suite in test/stores says the rest.
import { expect, test } from 'vitest';
import type { AcquireRequest } from '../../domain/requests.js';
import { FakeClock } from '../../testing/fake-clock.js';
import { MemoryStore } from './memory-store.js';

test('S1, S2: one holder at a time, and the next has the higher epoch', async () => {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  const ask = async (name: string): Promise<AcquireRequest> => ({
    id: clock.randomText(),
    bornAt: (await store.time()).now,
    owner: 'someone',
    parts: [{ name, scope: 'node', mode: 'exclusive' }],
    ttlMs: 1_000,
    priority: 0,
    join: false,
    holding: [],
    reclaim: false,
    maxRenewals: -1,
    minHoldMs: 0,
    lockDelayMs: 0,
    remote: false,
    callerWall: clock.wall(),
  });
  const first = (await store.acquire([await ask('orders/0')])).results[0];
  const second = (await store.acquire([await ask('orders/0')])).results[0];
  expect(first?.outcome).toBe('granted');
  expect(second).toMatchObject({
    outcome: 'refused',
    refusal: { reason: 'held', holderCount: 1, retryAfterMs: 1_000 },
  });
  await clock.advance(1_000);
  const third = (await store.acquire([await ask('orders/0')])).results[0];
  if (first?.outcome !== 'granted' || third?.outcome !== 'granted') throw new Error('not granted');
  expect(third.lease.epoch).toBeGreaterThan(first.lease.epoch);
});
