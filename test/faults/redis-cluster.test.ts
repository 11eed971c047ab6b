// Leases on a cluster of three while the namespace's slot moves from node to node, key by key: acquire, renew and release go on,
// nobody is ever inside together with another, and the log tells one story.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/connect.js';
import type { LeaseEvent } from '../../src/domain/events.js';
import type { Holdfast } from '../../src/holdfast.js';
import { openRedis } from '../../src/stores/redis/index.js';
import { keysOf } from '../../src/stores/redis/keys.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { grant } from '../support/ask.js';
import { CLUSTER_CLIENTS } from '../support/redis-clients.js';
import { startRedisCluster, type RedisCluster } from '../support/servers/redis-cluster.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const MOVES = 4;

/** Oldest first. */
async function logOf(leases: Holdfast, resource: string): Promise<readonly LeaseEvent[]> {
  const rows: LeaseEvent[] = [];
  let cursor: string | undefined;
  do {
    const page = await leases.history({ resource, limit: 1_000, ...(cursor === undefined ? {} : { cursor }) });
    rows.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined && rows.length < 100_000);
  return rows.toReversed();
}

describe.skipIf(isSkipped('redis'))('a Redis store on a cluster', () => {
  let cluster: RedisCluster;
  const endings: (() => unknown)[] = [];
  beforeAll(async () => {
    cluster = await startRedisCluster();
  });
  afterAll(async () => {
    for (const end of endings.splice(0).reverse()) await end();
    await cluster.remove();
  });
  async function member(client?: unknown): Promise<{ leases: Holdfast; store: Store }> {
    const store = await openRedis(client === undefined ? cluster.url : undefined, {
      clock,
      client,
      namespace: 'moving',
    });
    const leases = await connect(store, { services: 'off', ttl: '20s' });
    endings.push(async () => {
      await leases.shutdown();
      await store.close();
    });
    return { leases, store };
  }

  test('S1, S2, S6: while the slot moves, leases are taken, renewed and given back, one holder at a time', async () => {
    const members = [await member()];
    for (const make of Object.values(CLUSTER_CLIENTS)) {
      const given = await make(cluster.ports);
      endings.push(() => given.close());
      members.push(await member(given.client));
    }
    const [first] = members as [(typeof members)[0]];
    const moved = new AbortController();
    let inside = 0;
    let most = 0;
    const epochs: number[] = [];
    const held = await first.leases.acquire('steady');
    const workers = members.map(async ({ leases }) => {
      while (!moved.signal.aborted) {
        await leases.withLease('door', { wait: '30s' }, async (lease) => {
          inside += 1;
          most = Math.max(most, inside);
          epochs.push(lease.epoch);
          await lease.renew();
          inside -= 1;
        });
      }
    });
    const slot = await cluster.slotOf(keysOf('moving')[0] as string);
    for (let move = 0; move < MOVES; move += 1) {
      const before = epochs.length;
      await cluster.moveSlot(slot, ((await cluster.ownerOf(slot)) + 1) % 3, async () => {
        // Some keys are here and some are there: the next key waits until somebody has come and was sent away.
        const met = await cluster.replies('TRYAGAIN');
        await expect.poll(() => cluster.replies('TRYAGAIN'), { interval: 5 }).toBeGreaterThan(met);
      });
      await expect.poll(() => epochs.length, { timeout: 20_000 }).toBeGreaterThan(before + members.length);
    }
    moved.abort();
    await Promise.all(workers);
    expect(held.isHeld).toBe(true);
    await held.release();

    expect(most).toBe(1);
    expect(epochs).toEqual([...epochs].sort((a, b) => a - b));
    expect(new Set(epochs).size).toBe(epochs.length);
    const log = await logOf(first.leases, 'door');
    const turns = log.filter(({ type }) => type === 'lease.acquired' || type === 'lease.released');
    expect(turns.map(({ type }) => type)).toEqual(
      Array.from({ length: turns.length }, (_, index) => (index % 2 === 0 ? 'lease.acquired' : 'lease.released')),
    );
    expect(turns.length).toBe(2 * epochs.length);
  });

  test('namespaces lie on different nodes and know nothing of each other', async () => {
    const store = await openRedis(cluster.url, { clock, namespace: 'one' });
    endings.push(() => store.close());
    for (const name of ['one', 'two', 'three', 'four', 'five', 'six']) {
      await grant(store.within(name), clock, 'door');
    }
  });
});
