// Everybody who waits in one process: whose turn it is (Q1), how tickets stay alive and in how many calls (Q2), what a
// wake-up does and what happens without one (Q3), and blocks (Q6).
import { describe, expect, test } from 'vitest';
import { grant } from '../../test/support/ask.js';
import { managerSite, watched, type ManagerSite } from '../../test/support/manager-site.js';
import type { StoreListener } from '../stores/store.js';
import type { AcquireOptions } from './face.js';

/** `count` waiters for x that write their name when they have it, and let it go at once. */
function queueUp(site: ManagerSite, names: readonly string[], options: (name: string) => AcquireOptions): string[] {
  const order: string[] = [];
  for (const name of names) {
    const done = site.leases.acquire('x', { wait: '60s', ...options(name) }).then(async (lease) => {
      order.push(name);
      await lease.release();
    });
    watched(done);
  }
  return order;
}

/** Whoever subscribes from now on. */
function listenersOf({ truth }: ManagerSite): StoreListener[] {
  const listeners: StoreListener[] = [];
  const subscribe = truth.subscribe.bind(truth);
  truth.subscribe = (listener) => {
    listeners.push(listener);
    return subscribe(listener);
  };
  return listeners;
}

describe('Q1: whose turn it is', () => {
  test('first come, first served, one after the other without a gap', async () => {
    const site = await managerSite();
    const first = await site.leases.acquire('x');
    const order = queueUp(site, ['a', 'b', 'c', 'd'], () => ({}));
    await site.pass(50);
    await first.release();
    await site.pass(10);
    expect(order).toEqual(['a', 'b', 'c', 'd']);
    expect(await site.live()).toEqual([]);
  });

  test('a step of priority is worth half a minute of waiting', async () => {
    const site = await managerSite();
    const first = await site.leases.acquire('x', { ttl: '60s' });
    const early = queueUp(site, ['early'], () => ({}));
    await site.pass(1_000);
    const late = queueUp(site, ['urgent'], () => ({ priority: 1 }));
    await site.pass(1_000);
    await first.release();
    await site.pass(0);
    expect([late, early]).toEqual([['urgent'], ['early']]);
    const types = site.events.filter(({ type }) => type === 'lease.acquired').map(({ leaseId }) => leaseId);
    expect(types).toHaveLength(3);
  });

  test('S10: all parts together or none, and what does not conflict does not wait', async () => {
    const site = await managerSite();
    await site.leases.acquire('a');
    const both = watched(site.leases.acquire(['a', 'b'], { wait: '5s' }));
    await site.pass(10);
    expect(both.now().state).toBe('open');
    expect(await site.leases.tryAcquire('b')).toMatchObject({
      ok: false,
      refusal: { reason: 'queue', queueLength: 1 },
    });
    expect(await site.leases.tryAcquire('c')).toMatchObject({ ok: true });
  });

  test('S1: leases are not re-entrant: two tasks of one process exclude each other', async () => {
    const site = await managerSite();
    await site.leases.acquire('x');
    expect(await site.leases.tryAcquire('x')).toMatchObject({ ok: false });
    const shared = await site.leases.acquire('s', { mode: 'shared', limit: 2 });
    await site.leases.acquire('s', { mode: 'shared', limit: 2 });
    const third = await site.leases.tryAcquire('s', { mode: 'shared', limit: 2 });
    expect(third).toMatchObject({ ok: false, refusal: { reason: 'limit', holderCount: 2 } });
    expect(await site.leases.tryAcquire('s')).toMatchObject({ ok: false, refusal: { reason: 'held' } });
    expect(shared.isHeld).toBe(true);
  });
});

describe('Q2: tickets stay alive', () => {
  test('refreshed every 3 s, and none dies while its waiter waits', async () => {
    const site = await managerSite();
    await grant(site.truth, site.clock, 'x', { ttlMs: 3_600_000 });
    const waiting = watched(site.leases.acquire('x', { wait: 'forever' }));
    await site.pass(0);
    const start = site.clock.monotonic();
    site.store.forgetCalls();
    await site.pass(30_000);
    expect(site.store.calls.map(({ at }) => at - start)).toEqual(
      [3, 6, 9, 12, 15, 18, 21, 24, 27, 30].map((s) => s * 1_000),
    );
    expect(waiting.now().state).toBe('open');
    expect(await site.live('pending')).toHaveLength(1);
  });

  test('S18: a hundred tickets are refreshed in one call', async () => {
    const site = await managerSite();
    for (let i = 0; i < 100; i += 1) await grant(site.truth, site.clock, `x/${i}`, { ttlMs: 3_600_000 });
    for (let i = 0; i < 100; i += 1) watched(site.leases.acquire(`x/${i}`, { wait: 'forever' }));
    await site.pass(0);
    site.store.forgetCalls();
    await site.pass(9_000);
    expect(site.store.calls.map(({ call, asked }) => `${call} ${asked.length}`)).toEqual(
      Array.from({ length: 3 }, () => 'acquire 100'),
    );
  });

  test('who joins a little later goes along with the others', async () => {
    const site = await managerSite();
    for (let i = 0; i < 9; i += 1) {
      await grant(site.truth, site.clock, `x/${i}`, { ttlMs: 3_600_000 });
      watched(site.leases.acquire(`x/${i}`, { wait: 'forever' }));
      await site.pass(100);
    }
    site.store.forgetCalls();
    await site.pass(30_000);
    expect(site.store.count()).toBeLessThanOrEqual(11);
  });

  test('a dead head holds up the others for the rest of its 10 s at most', async () => {
    const site = await managerSite();
    const first = await site.leases.acquire('x', { ttl: '60s' });
    const other = await site.join({ owner: 'bob' });
    const dead = watched(other.leases.acquire('x', { wait: 'forever' }));
    await site.pass(100);
    other.store.order({ fault: 'loseRequest', times: Infinity });
    other.store.loseWakes(Infinity);
    const waiting = watched(site.leases.acquire('x', { wait: 'forever' }));
    await site.pass(100);
    await first.release();
    await site.pass(9_700);
    expect(waiting.now().state).toBe('open');
    await site.pass(200);
    expect(waiting.now().state).toBe('done');
    expect(dead.now().state).toBe('open');
  });
});

describe('Q3: wake-ups', () => {
  test('a lost one costs one refresh', async () => {
    const site = await managerSite();
    const first = await site.leases.acquire('x', { ttl: '60s' });
    const waiting = watched(site.leases.acquire('x', { wait: 'forever' }));
    await site.pass(100);
    site.store.loseWakes(Infinity);
    await first.release();
    await site.pass(2_800);
    expect(waiting.now().state).toBe('open');
    await site.pass(200);
    expect(waiting.now().state).toBe('done');
  });

  test('a needless one costs one call and does no harm', async () => {
    const site = await managerSite();
    await grant(site.truth, site.clock, 'x', { ttlMs: 60_000 });
    const listeners = listenersOf(site);
    const { leases, store } = await site.join({ owner: 'bob' });
    const waiting = watched(leases.acquire('x', { wait: 'forever' }));
    await site.pass(100);
    store.forgetCalls();
    const ids = (await site.live('pending')).map(({ id }) => id);
    for (const listener of listeners) listener.wake?.([...ids, 'an-id-nobody-knows']);
    await site.pass(10);
    expect([waiting.now().state, store.count()]).toEqual(['open', 1]);
  });

  test('a wake-up that comes while the question is on its way is not forgotten', async () => {
    const site = await managerSite();
    const first = await grant(site.truth, site.clock, 'x', { ttlMs: 60_000 });
    const waiting = watched(site.leases.acquire('x', { wait: 'forever' }));
    await site.pass(100);
    site.store.order({ calls: 'acquire', replyMs: 200 });
    await site.pass(2_900); // the refresh has been decided, its answer is on its way
    await site.truth.end([{ id: first.id, epoch: first.epoch, requestId: 'e', why: 'released' }]);
    await site.pass(200);
    expect(waiting.now().state).toBe('done');
  });

  test('nor is one that overtakes the answer to the first question, or to one under a new id', async () => {
    const site = await managerSite();
    let holder = await grant(site.truth, site.clock, 'x', { ttlMs: 60_000 });
    const waiting = watched(site.leases.acquire('x', { wait: 'forever' }));
    const freed = async (): Promise<void> => {
      await site.truth.end([{ id: holder.id, epoch: holder.epoch, requestId: 'e', why: 'released' }]);
      await site.pass(500);
    };
    site.store.order({ calls: 'acquire', replyMs: 200 });
    await site.pass(0);
    await freed();
    const lease = waiting.now().value;
    expect(lease?.isHeld).toBe(true);
    await lease?.release();

    holder = await grant(site.truth, site.clock, 'x', { ttlMs: 60_000 });
    const again = watched(site.leases.acquire('x', { wait: 'forever' }));
    await site.pass(10);
    const [first] = await site.live('pending');
    site.store.order({ fault: 'loseRequest', calls: 'acquire', times: 4 });
    await site.pass(11_000); // it has died, and the next question is told so
    site.store.order({ calls: 'acquire', replyMs: 200, times: Infinity });
    let ticket = first;
    while (ticket === undefined || ticket.id === first?.id) {
      await site.pass(20);
      [ticket] = await site.live('pending');
    }
    await freed();
    expect(again.now().value?.isHeld).toBe(true);
  });

  test('the death of a holder is noticed on time, without any message', async () => {
    const site = await managerSite();
    site.store.loseWakes(Infinity);
    await grant(site.truth, site.clock, 'x', { owner: 'dead', ttlMs: 4_321 });
    const waiting = watched(site.leases.acquire('x', { wait: 'forever' }));
    await site.pass(4_320);
    expect(waiting.now().state).toBe('open');
    await site.pass(10);
    expect(waiting.now().state).toBe('done');
  });

  test('when the connection is up again everybody asks', async () => {
    const site = await managerSite();
    const first = await grant(site.truth, site.clock, 'x', { ttlMs: 60_000 });
    const listeners = listenersOf(site);
    const { leases, store } = await site.join({ owner: 'bob' });
    const waiting = watched(leases.acquire('x', { wait: 'forever' }));
    await site.pass(100);
    store.loseWakes(Infinity);
    await site.truth.end([{ id: first.id, epoch: first.epoch, requestId: 'e', why: 'released' }]);
    await site.pass(10);
    expect(waiting.now().state).toBe('open');
    for (const listener of listeners) listener.up?.();
    await site.pass(0);
    expect(waiting.now().state).toBe('done');
  });
});

describe('Q6: blocks', () => {
  test('minHold keeps it taken after an early release, and is waited for on time', async () => {
    const site = await managerSite();
    const job = await site.leases.acquire('cron', { minHold: '10s' });
    await site.pass(1_000);
    await job.release();
    const refused = await site.leases.tryAcquire('cron');
    expect(refused).toMatchObject({ ok: false, refusal: { reason: 'min_hold', retryAfterMs: 9_000, holderCount: 0 } });
    const waiting = watched(site.leases.acquire('cron', { wait: '20s' }));
    await site.pass(8_990);
    expect(waiting.now().state).toBe('open');
    await site.pass(20);
    expect(waiting.now().state).toBe('done');
  });

  test('lockDelay after an expiry; a reclaim by the same owner does not wait for it', async () => {
    const site = await managerSite();
    const other = await site.join({ owner: 'bob' });
    const lost = await other.leases.acquire('x', { ttl: '2s', renew: 'manual', lockDelay: '30s' });
    await site.pass(2_100);
    expect(lost.signal.aborted).toBe(true);
    expect(await site.leases.tryAcquire('x')).toMatchObject({ ok: false, refusal: { reason: 'lock_delay' } });
    const again = await other.leases.acquire('x', { reclaim: true, wait: 0 });
    expect(again.epoch).toBeGreaterThan(lost.epoch);
  });

  test('A4: reclaim replaces the owner’s own live lease in one step, ahead of the queue', async () => {
    const site = await managerSite();
    const old = await site.leases.acquire('x', { ttl: '10s' });
    const waiting = watched(site.leases.acquire('x', { owner: 'bob', wait: 'forever' }));
    await site.pass(10);
    const fresh = await site.leases.acquire('x', { reclaim: true, wait: 0 });
    expect(fresh.id).not.toBe(old.id);
    await site.pass(7_000);
    expect(old.signal.reason).toMatchObject({ code: 'LEASE_LOST' });
    expect([fresh.isHeld, waiting.now().state]).toEqual([true, 'open']);
  });
});
