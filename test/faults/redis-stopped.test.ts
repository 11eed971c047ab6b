// A server that is stopped in order (SIGTERM) and started again, with what redis.conf has by default and with an append-only file: every
// answered write stands, up to the last one before it went, and a new incarnation begins above all of them (docs/stores/redis.md).
import { afterEach, describe, expect, test } from 'vitest';
import { connect } from '../../src/connect.js';
import type { Holdfast } from '../../src/holdfast.js';
import { openRedis } from '../../src/stores/redis/index.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { acquire, ask } from '../support/ask.js';
import { commit, lease as leaseNumber, peek, streamsOf } from '../support/redis-streams.js';
import { startRedis, type RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const TTL_MS = 120_000;
const ENOUGH = 100;
/** What redis.conf and a server without one have. */
const SAVE = '3600 1 300 100 60 10000';
const SETTINGS = {
  'snapshots, as by default': { save: SAVE },
  'snapshots and an append-only file': { save: SAVE, appendonly: 'yes' },
  'an append-only file alone': { save: '', appendonly: 'yes' },
} satisfies Record<string, Record<string, string>>;

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function opened(server: RedisServer): Promise<Store> {
  const store = await openRedis(server.url, { clock });
  endings.push(() => store.close());
  return store;
}
async function joined(server: RedisServer): Promise<Holdfast> {
  const leases = await connect(await opened(server), { services: 'off' });
  endings.push(() => leases.shutdown().catch(() => undefined));
  return leases;
}

/** What was answered, as it was answered, until the server answers nothing any more. */
interface Written {
  readonly held: Map<string, number>;
  readonly released: Map<string, number>;
  readonly committed: Map<number, number>;
}

async function writeUntilItIsGone(store: Store, worker: number, written: Written): Promise<void> {
  try {
    for (let i = 0; ; i += 1) {
      const given = await acquire(store, await ask(store, clock, `work/${worker}/${i}`, { ttlMs: TTL_MS }));
      if (given.outcome !== 'granted') throw new Error(`it was ${given.outcome}`);
      const { id, epoch } = given.lease;
      if (i % 2 === 0) {
        written.held.set(id, epoch);
      } else {
        const ended = await store.end([{ id, epoch, requestId: 'r', why: 'released' }]);
        expect(ended.results[0]?.outcome).toBe('released');
        written.released.set(id, epoch);
      }
      if (i % 5 !== 0) continue;
      const number = await leaseNumber(store, `op-${worker}-${i}`);
      if ((await commit(store, number, number.first)).outcome === 'committed')
        written.committed.set(number.first, worker);
    }
  } catch (error) {
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
  }
}

describe.skipIf(isSkipped('redis'))('a Redis server that is stopped in order', () => {
  test.each(Object.entries(SETTINGS))(
    'S1, S2, S8, N2: every answered write stands when it is started again: %s',
    async (_what, settings) => {
      const server = await startRedis({ settings });
      endings.push(() => server.remove());
      const [store, other] = [await opened(server), await opened(server)];
      await streamsOf(store).ready({ acceptLoss: true });
      await store.setSettings({ held_ttl_seconds: 77 });
      const { incarnation } = await store.time();
      const written: Written = { held: new Map(), released: new Map(), committed: new Map() };
      const workers = [store, other, store].map((through, worker) => writeUntilItIsGone(through, worker, written));
      await expect.poll(() => written.held.size).toBeGreaterThan(ENOUGH);
      await expect.poll(() => written.committed.size).toBeGreaterThan(ENOUGH / 10);
      await server.stop('SIGTERM');
      await Promise.all(workers);
      await server.start();

      const after = await opened(server);
      const ids = [...written.held.keys(), ...written.released.keys()];
      const found = new Map<string, string>();
      for (let from = 0; from < ids.length; from += ENOUGH) {
        for (const lease of (await after.get(ids.slice(from, from + ENOUGH))).items) {
          if (lease) found.set(lease.id, `${lease.status} ${lease.epoch}`);
        }
      }
      for (const [id, epoch] of written.held) expect(found.get(id)).toBe(`active ${epoch}`);
      for (const [id, epoch] of written.released) expect(found.get(id)).toBe(`released ${epoch}`);
      const stored = new Set((await peek(after)).map(([number, , operation]) => `${number} ${String(operation)}`));
      for (const number of written.committed.keys()) expect(stored).toContain(`${number} ${number}`);
      expect((await after.settings()).settings.held_ttl_seconds).toBe(77);
      const next = await acquire(after, await ask(after, clock, 'next'));
      const highest = Math.max(...written.held.values(), ...written.released.values());
      expect(next.outcome === 'granted' ? next.lease.epoch : 0).toBeGreaterThan(highest + 1);
      expect((await after.time()).incarnation).not.toBe(incarnation);
      process.stdout.write(
        `stopped in order: ${written.held.size} held, ${written.released.size} released, ${written.committed.size} committed, all there\n`,
      );
    },
  );

  test('S7, Q3: with the defaults a holder goes on holding, who waits is served, and who comes is refused meanwhile', async () => {
    const server = await startRedis({ settings: SETTINGS['snapshots, as by default'] });
    endings.push(() => server.remove());
    const [holder, waiter] = [await joined(server), await joined(server)];
    const held = await holder.acquire('door', { ttl: '1m' });
    const waiting = waiter.acquire('door', { wait: '30s' });
    await expect.poll(async () => (await holder.show('door')).queue.length).toBe(1);
    await server.stop('SIGTERM');
    await server.start();
    await expect.poll(() => held.tryRenew(), { timeout: 10_000 }).toBe(true);
    const view = await holder.show('door');
    expect(view.holders.map(({ id, epoch }) => ({ id, epoch }))).toEqual([{ id: held.id, epoch: held.epoch }]);
    expect(await (await joined(server)).tryAcquire('door')).toMatchObject({ ok: false });
    expect(await held.release()).toMatchObject({ outcome: 'released' });
    const next = await waiting;
    expect(next.epoch).toBeGreaterThan(held.epoch);
    await next.release();
  });
});
