// A primary killed and replaced by its replica, over a url and over the caller's own clients. What the replica had is there; what it
// had not is lost, and with it the exclusion of those leases: the page says so. What is never lost is the order of epochs (S2), so
// that guards refuse the old holder. Prints what each failover kept and lost.
import { afterEach, describe, expect, test } from 'vitest';
import { connect } from '../../src/connect.js';
import type { LeaseError } from '../../src/domain/errors.js';
import type { Lease } from '../../src/domain/lease.js';
import type { RenewRequest } from '../../src/domain/requests.js';
import { openRedis } from '../../src/stores/redis/index.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { acquire, ask, grant } from '../support/ask.js';
import { failoverTable } from '../support/failover-table.js';
import { SINGLE_CLIENTS } from '../support/redis-clients.js';
import { startRedisPair, type RedisPair } from '../support/servers/redis-pair.js';
import { startRedis } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const note = failoverTable();
const LOST = 50;
const AT_ONCE = { 'repl-diskless-sync-delay': '0' };

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function site(kind: string, query = ''): Promise<{ pair: RedisPair; store: Store }> {
  const pair = await startRedisPair(AT_ONCE);
  endings.push(() => pair.remove());
  const given = await SINGLE_CLIENTS[kind]?.(pair.port);
  endings.push(() => given?.close());
  const url = given === undefined ? pair.url : 'redis:';
  const store = await openRedis(`${url}${query}`, { clock, client: given?.client });
  endings.push(() => store.close());
  return { pair, store };
}
async function direct(port: number): Promise<Store> {
  const store = await openRedis(`redis://127.0.0.1:${port}`, { clock });
  endings.push(() => store.close());
  return store;
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
/** How many of them the store still knows as they were answered. */
async function standing(store: Store, leases: readonly Lease[]): Promise<number> {
  const { results } = await store.renew(leases.map(renewal));
  return results.filter(({ outcome }) => outcome === 'renewed').length;
}

const KINDS = ['a url', 'redis 6', 'ioredis 5', 'ioredis 6'];

describe.skipIf(isSkipped('redis')).each(KINDS)(
  'a Redis primary that is replaced by its replica, through %s',
  (kind) => {
    test('S2: what was not replicated is lost, and no epoch comes twice', async () => {
      const { pair, store } = await site(kind);
      const kept = await grant(store, clock, 'kept', { ttlMs: 60_000 });
      await pair.caughtUp();
      await pair.holdReplication();
      const unkept: Lease[] = [];
      for (let index = 0; index < LOST; index += 1) {
        unkept.push(await grant(store, clock, `lost/${index}`, { ttlMs: 60_000 }));
      }
      const { incarnation } = await store.time();
      await pair.failOver();

      const shown = await afterFailover(() => store.show('kept', 0));
      expect(shown.holders.map(({ id, epoch }) => ({ id, epoch }))).toEqual([{ id: kept.id, epoch: kept.epoch }]);
      expect((await store.show('lost/0', 0)).holders).toEqual([]);
      const next = await grant(store, clock, 'lost/0', { ttlMs: 60_000 });
      const before = Math.max(...unkept.map(({ epoch }) => epoch));
      expect(next.epoch).toBeGreaterThan(before);
      expect((await store.time()).incarnation).not.toBe(incarnation);

      const renewed = await store.renew([renewal(unkept[0] as Lease)]);
      expect(renewed.results[0]).toMatchObject({ outcome: 'notHeld', status: 'unknown' });
      const [stay, gone] = [await standing(store, [kept]), LOST - (await standing(store, unkept))];
      expect([stay, gone]).toEqual([1, LOST]);
      note({ what: 'primary of a pair', client: kind, kept: stay, lost: gone, before, after: next.epoch });
    });

    test('S9, S15: with replicas=1 what the replica does not have is not answered as granted', async () => {
      const { pair, store } = await site(kind, '?replicas=1&replicasTimeout=100ms');
      const both = await afterFailover(() => grant(store, clock, 'both', { ttlMs: 60_000 }));
      await pair.holdReplication();
      await expect(grant(store, clock, 'alone')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
      await pair.failOver();
      // The next primary has no replica, so its writes are unknown too; what it has can be looked at.
      const shown = await afterFailover(() => store.show('both', 0));
      expect(shown.holders.map(({ id, epoch }) => ({ id, epoch }))).toEqual([{ id: both.id, epoch: both.epoch }]);
    });

    test('S15: with replicas=1 a write that only the dead primary had is not vouched for by a replica of the next', async () => {
      const { pair, store } = await site(kind, '?replicas=1&replicasTimeout=4s');
      const truth = await direct(pair.primary.port);
      await afterFailover(() => grant(store, clock, 'both'));
      await pair.holdReplication();
      const request = await ask(store, clock, 'alone', { ttlMs: 60_000 });
      const granting = acquire(store, request).then(
        ({ outcome }) => outcome,
        (error: unknown) => (error as LeaseError).code,
      );
      await expect.poll(async () => (await truth.show('alone', 0)).holders.length).toBe(1); // now it waits for replicas
      await pair.failOver();
      const third = await startRedis({ settings: { replicaof: `127.0.0.1 ${pair.replica.port}` } });
      endings.push(() => third.remove());
      expect(await granting).toBe('STORE_UNAVAILABLE');
      expect((await afterFailover(() => store.show('alone', 0))).holders).toEqual([]);
      const again = await afterFailover(() => acquire(store, request));
      expect(again).toMatchObject({ outcome: 'granted' }); // repeated by its id (S15), and now two have it
    });

    test('S7: a manager keeps what was replicated and loses the rest at its next renewal, by a definite no', async () => {
      const { pair, store } = await site(kind);
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
  },
);
