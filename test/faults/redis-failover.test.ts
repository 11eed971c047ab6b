// A primary killed and replaced by its replica. What the replica had is there; what it had not is lost, and with it the exclusion
// of those leases: the page says so. What is never lost is the order of epochs (S2), so that guards refuse the old holder.
import { afterEach, describe, expect, test } from 'vitest';
import { connect } from '../../src/connect.js';
import type { LeaseError } from '../../src/domain/errors.js';
import type { Lease } from '../../src/domain/lease.js';
import type { RenewRequest } from '../../src/domain/requests.js';
import { openRedis } from '../../src/stores/redis/index.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { grant } from '../support/ask.js';
import { startRedisPair, type RedisPair } from '../support/servers/redis-pair.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function site(query = ''): Promise<{ pair: RedisPair; store: Store }> {
  const pair = await startRedisPair();
  endings.push(() => pair.remove());
  const store = await openRedis(`${pair.url}${query}`, { clock });
  endings.push(() => store.close());
  return { pair, store };
}
function renewal({ id, epoch }: Lease): RenewRequest {
  return { id, epoch: epoch, ttlMs: 60_000, requestId: clock.randomText(), callerWall: clock.wall() };
}
async function afterFailover<T>(call: () => Promise<T>): Promise<T> {
  let result: T | undefined;
  await expect
    .poll(
      () =>
        call().then(
          (value) => void (result = value),
          (error: unknown) => (error as LeaseError).code,
        ),
      { timeout: 10_000 },
    )
    .toBeUndefined();
  return result as T;
}

describe.skipIf(isSkipped('redis'))('a Redis primary that is replaced by its replica', () => {
  test('S2: what was not replicated is lost, and no epoch comes twice', async () => {
    const { pair, store } = await site();
    const kept = await grant(store, clock, 'kept', { ttlMs: 60_000 });
    await pair.caughtUp();
    await pair.holdReplication();
    const unkept: number[] = [];
    const lostLeases: Lease[] = [];
    for (let index = 0; index < 50; index += 1) {
      const lease = await grant(store, clock, `lost/${index}`, { ttlMs: 60_000 });
      lostLeases.push(lease);
      unkept.push(lease.epoch);
    }
    const { incarnation } = await store.time();
    await pair.failOver();

    const shown = await afterFailover(() => store.show('kept', 0));
    expect(shown.holders.map(({ id, epoch }) => ({ id, epoch }))).toEqual([{ id: kept.id, epoch: kept.epoch }]);
    expect((await store.show('lost/0', 0)).holders).toEqual([]);
    const next = await grant(store, clock, 'lost/0', { ttlMs: 60_000 });
    expect(next.epoch).toBeGreaterThan(Math.max(...unkept));
    expect((await store.time()).incarnation).not.toBe(incarnation);

    const renewed = await store.renew([renewal(lostLeases[0] as Lease)]);
    expect(renewed.results[0]).toMatchObject({ outcome: 'notHeld', status: 'unknown' });
    const still = await store.renew([renewal(kept)]);
    expect(still.results[0]).toMatchObject({ outcome: 'renewed' });
  });

  test('S9, S15: with replicas=1 what the replica does not have is not answered as granted', async () => {
    const { pair, store } = await site('?replicas=1&replicasTimeout=100ms');
    await afterFailover(() => grant(store, clock, 'both'));
    await pair.holdReplication();
    await expect(grant(store, clock, 'alone')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  test('S7: a manager keeps what was replicated and loses the rest at its next renewal, by a definite no', async () => {
    const { pair, store } = await site();
    const leases = await connect(store, { services: 'off', ttl: 2_000 });
    endings.push(() => leases.shutdown());
    const kept = await leases.acquire('kept');
    await pair.caughtUp();
    await pair.holdReplication();
    const lost = await leases.acquire('lost', { renew: 'manual', ttl: '1m' });
    await pair.failOver();
    await afterFailover(() => kept.renew());
    expect(kept.isHeld).toBe(true);
    await expect(lost.renew()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(lost.isHeld).toBe(false);
    const again = await leases.acquire('lost');
    expect(again.epoch).toBeGreaterThan(lost.epoch);
  });
});
