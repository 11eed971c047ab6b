// S2: FLUSHALL under processes that are at work. Everything is forgotten, and no epoch comes twice, however soon the next flush is: the
// counter begins at the wall time in microseconds, and nobody grants more than one lease in each of them.
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/connect.js';
import type { Holdfast } from '../../src/holdfast.js';
import { openRedis } from '../../src/stores/redis/index.js';
import { systemClock } from '../../src/system-clock.js';
import { ask, grant } from '../support/ask.js';
import { onRedis, type RedisSite } from '../support/redis-site.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();

describe.skipIf(isSkipped('redis'))('a Redis that is flushed under a live process', () => {
  let site: RedisSite;
  onRedis(clock, {}, (given) => {
    site = given;
  });

  test('S2: however often, and however soon one after the other, epochs go on rising', async () => {
    const { store, admin } = site;
    const drawn: number[] = [];
    for (let i = 0; i < 300; i += 1) {
      const { epoch } = await grant(store, clock, 'door');
      drawn.push(epoch);
      await admin.flushAll();
    }
    expect(drawn).toEqual([...new Set(drawn)].sort((a, b) => a - b));
  });

  test('S2: also under a crowd that takes leases, one by one and in lists, over several connections', async () => {
    const { server, store, admin } = site;
    const other = await openRedis(server.url, { clock });
    onTestFinished(() => other.close());
    const over = new AbortController();
    const drawn: number[] = [];
    const workers = [store, other, store, other].map(async (through, worker) => {
      while (!over.signal.aborted) {
        const names = Array.from({ length: worker < 2 ? 1 : 40 }, (_, i) => `crowd/${worker}/${i}`);
        const asked = await Promise.all(names.map((name) => ask(through, clock, name)));
        const { results } = await through.acquire(asked);
        const granted = results.flatMap((result) => (result.outcome === 'granted' ? [result.lease] : []));
        drawn.push(...granted.map(({ epoch }) => epoch));
        await through.end(granted.map(({ id, epoch }) => ({ id, epoch, requestId: 'r', why: 'released' })));
      }
    });
    for (let flushes = 0; flushes < 100; flushes += 1) {
      await admin.flushAll();
      if (flushes % 2 === 1) continue; // two of them at once, too
      const before = drawn.length;
      await expect.poll(() => drawn.length, { interval: 1 }).toBeGreaterThan(before);
    }
    over.abort();
    await Promise.all(workers);
    expect(new Set(drawn).size).toBe(drawn.length);
  });

  test('S2, S4, Q3, H1: a holder is told a definite no, who waits is served by a higher epoch, who watches is told', async () => {
    const { server, admin } = site;
    const join = async (owner: string): Promise<Holdfast> => {
      const leases = await connect(server.url, { services: 'off', owner });
      onTestFinished(() => leases.shutdown().catch(() => undefined));
      return leases;
    };
    const [holder, waiter, watcher] = [await join('holder'), await join('waiter'), await join('watcher')];
    const held = await holder.acquire('door', { ttl: '1m' });
    const after = (await holder.history({ limit: 1 })).items[0]?.id ?? '';
    const waiting = waiter.acquire('door', { wait: '30s' });
    await expect.poll(async () => (await holder.show('door')).queue.length).toBe(1);
    const told: string[] = [];
    const watching = (async () => {
      for await (const { type, owner } of watcher.watch({ resource: 'door', after })) {
        told.push(type === 'events.lost' ? type : `${type} ${owner}`);
        if (told.at(-1) === 'lease.acquired waiter') break;
      }
    })();
    await expect.poll(() => told).toEqual(['lease.queued waiter']);
    await admin.flushAll();
    await expect(held.renew()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(held.isHeld).toBe(false);
    const next = await waiting; // at its next refresh, 3 s at most (Q2)
    expect(next.epoch).toBeGreaterThan(held.epoch);
    await watching;
    expect(told).toContain('events.lost');
    await next.release();
  });
});
