// The manager as a whole: what it holds, what it counts, the options that pass through it to the store, and that every
// call answers with one kind of error.
import { describe, expect, test } from 'vitest';
import { recordingObserver, type RecordingObserver } from '../../test/support/recording-observer.js';
import { managerSite, pass, watched } from '../../test/support/manager-site.js';
import { LeaseError } from '../domain/errors.js';
import type { AcquireRequest } from '../domain/requests.js';
import { MemoryStore } from '../stores/memory/memory-store.js';
import { FakeClock } from '../testing/fake-clock.js';
import { FaultyStore } from '../testing/faulty-store.js';
import { LeaseManager } from './lease-manager.js';

interface Counted {
  readonly manager: LeaseManager;
  readonly observer: RecordingObserver;
  readonly store: FaultyStore;
  readonly clock: FakeClock;
  readonly told: (what: string) => unknown[];
}

function counted(): Counted {
  const clock = new FakeClock();
  const store = new FaultyStore(new MemoryStore({ clock }), clock);
  const observer = recordingObserver();
  const defaults = { owner: 'me', renewAt: 0.6, minTtlMs: 100, adaptiveTtlMs: () => 30_000 };
  const manager = new LeaseManager(store, clock, defaults, observer);
  const told = (what: string): unknown[] =>
    observer.told.filter(([first]) => first === what).map(([, second]) => second);
  return { manager, observer, store, clock, told };
}

describe('A6, A8: what is held', () => {
  test('from its grant until it is let go or lost, and not a moment longer', async () => {
    const site = await managerSite();
    const [a, b] = [await site.leases.acquire('a'), await site.leases.acquire('b', { ttl: '2s', renew: 'manual' })];
    expect(site.leases.held()).toEqual([a, b]);
    await a.release();
    await site.pass(2_000);
    expect([site.leases.held(), b.signal.aborted]).toEqual([[], true]);
  });

  test('A4: what was asked for is what is sent, unchanged, each time it is repeated', async () => {
    const site = await managerSite();
    site.store.order({ fault: 'failAfter', calls: 'acquire' });
    const asked = site.leases.acquire([{ name: 'b', mode: 'shared', limit: 4 }, 'a'], {
      ...{ owner: 'worker', ttl: '20s', priority: 7, maxRenewals: 9, maxHold: '1h', minHold: '5s', lockDelay: '6s' },
      ...{ reclaim: true, operationId: 'job', metadata: { n: 1 }, wait: '5s' },
    });
    await site.pass(60);
    const lease = await asked;
    const [first, second] = site.store.calls.flatMap((one) => one.asked as AcquireRequest[]);
    expect(first).toMatchObject({
      ...{ owner: 'worker', ttlMs: 20_000, priority: 7, maxRenewals: 9, maxHoldMs: 3_600_000, minHoldMs: 5_000 },
      ...{ lockDelayMs: 6_000, reclaim: true, operationId: 'job', metadata: { n: 1 }, join: true, remote: false },
      parts: [
        { name: 'a', scope: 'node', mode: 'exclusive' },
        { name: 'b', scope: 'node', mode: 'shared', limit: 4 },
      ],
    });
    expect(second).toBe(first);
    expect(lease.resources).toEqual(['a', 'b']);
    expect(lease.toJSON()).toMatchObject({ owner: 'worker', operationId: 'job', metadata: { n: 1 } });
  });

  test('A11: bad resources and bad options are refused before anything is sent', async () => {
    const site = await managerSite();
    const bad: unknown[] = [
      [],
      '',
      '/a',
      'a//b',
      '../a',
      7,
      null,
      { mode: 'shared' },
      ['a', { name: 'a', mode: 'shared' }],
    ];
    for (const resources of bad) {
      await expect(site.leases.acquire(resources as string)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
      await expect(site.leases.tryAcquire(resources as string)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    for (const options of [{ priority: NaN }, { metadata: () => 1 }, { lockDelay: '2m' }, { retries: 3 }]) {
      await expect(site.leases.acquire('x', options as object)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    expect(site.store.count()).toBe(0);
  });
});

describe('O2: what is counted', () => {
  test('every acquire once, by how it ended', async () => {
    const { manager, clock, store, told } = counted();
    const lease = await manager.acquire('x');
    await manager.tryAcquire('x');
    const controller = new AbortController();
    watched(manager.acquire('x', { wait: 1_000 }));
    watched(manager.acquire('x', { signal: controller.signal }));
    watched(lease.acquire('x', { wait: 1_000 }));
    await pass(clock, 500);
    controller.abort();
    await pass(clock, 600);
    store.order({ fault: 'fail', calls: 'acquire', times: 2 });
    watched(manager.tryAcquire('y'));
    await pass(clock, 100);
    expect(told('acquisition').toSorted()).toEqual(['aborted', 'conflict', 'deadlock', 'error', 'success', 'timeout']);
  });

  test('renewals by how they ended, stale epochs, how many are held and for how long', async () => {
    const { manager, clock, store, observer, told } = counted();
    const lease = await manager.acquire('x', { ttl: '10s', maxRenewals: 1 });
    await pass(clock, 6_000);
    store.order({ fault: 'fail', calls: 'renew' });
    await pass(clock, 7_000);
    expect(told('renewals')).toEqual(['success', 'error', 'limit']);
    const stale = await manager.acquire('y', { ttl: '10s' });
    const request = { kind: 'delegate', id: stale.id, epoch: stale.epoch, requestId: 'd', toOwner: 'bob' } as const;
    await store.change([request]);
    expect(await stale.release()).toMatchObject({ outcome: 'superseded' });
    expect(told('conflict')).toHaveLength(1);
    expect(told('held')).toEqual([1, 2, 1]);
    expect(observer.told.find(([what]) => what === 'holdEnded')).toEqual(['holdEnded', stale.parts, 0, stale.id]);
    expect(lease.isHeld).toBe(true);
  });

  test('every call of the store, with how long it took', async () => {
    const { manager, clock, store, observer } = counted();
    await manager.link.settings();
    store.order({ calls: 'acquire', replyMs: 40 });
    const asked = manager.acquire('x');
    await pass(clock, 40);
    await asked;
    expect(observer.told.filter(([what]) => what === 'storeCall')).toEqual([
      ['storeCall', 'settings', 'ok', 0],
      ['storeCall', 'acquire', 'ok', 40],
    ]);
  });
});

test('A11: whatever goes wrong is a LeaseError with a code and a sentence', async () => {
  const site = await managerSite();
  const lease = await site.leases.acquire('x');
  await lease.release();
  const failures = await Promise.allSettled([
    lease.renew(),
    lease.upgrade(),
    lease.downgrade(),
    lease.delegate('bob'),
    lease.acquire('y'),
    site.leases.resume('nonsense'),
    site.leases.acquire(''),
    site.leases.backup('/nowhere'),
    site.leases.config.get('nothing' as never),
  ]);
  for (const failure of failures) {
    expect(failure.status).toBe('rejected');
    if (failure.status === 'rejected') expect(failure.reason).toBeInstanceOf(LeaseError);
  }
});
