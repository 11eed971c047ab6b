// What is announced in this process (H2, H3): every change of state once, in the order it happened, in a plain sentence,
// and nothing that did not happen.
import { describe, expect, test } from 'vitest';
import { grant } from '../../test/support/ask.js';
import { managerSite, watched, type Member } from '../../test/support/manager-site.js';

const sentences = ({ events }: Member): string[] => events.map(({ sentence }) => sentence);

describe('H3: announced once, in order', () => {
  test('the life of a lease that was waited for', async () => {
    const site = await managerSite();
    const first = await site.leases.acquire('orders/0', { ttl: '60s' });
    const second = watched(site.leases.acquire('orders/0', { owner: 'bob', ttl: '60s', wait: 'forever' }));
    await site.pass(10_000);
    await first.release();
    await site.pass(0);
    await second.now().value?.release();
    expect(sentences(site)).toEqual([
      `Acquired orders/0, epoch ${first.epoch}`,
      'bob is waiting for orders/0, place 1',
      `Released orders/0, epoch ${first.epoch}`,
      `Acquired orders/0, epoch ${second.now().value?.epoch ?? 0}`,
      `Released orders/0, epoch ${second.now().value?.epoch ?? 0}`,
    ]);
    expect(site.events[3]?.data).toMatchObject({ waitedMs: 10_000, ttlMs: 60_000 });
    expect(new Set(site.events.map(({ id }) => id)).size).toBe(5);
  });

  test('a refusal, with who has it and until when', async () => {
    const site = await managerSite();
    await grant(site.truth, site.clock, 'x', { owner: 'bob' });
    await site.leases.tryAcquire('x');
    expect(sentences(site)).toEqual(['Already held by bob until 2026-01-01T00:00:30.000Z']);
    expect(site.events[0]).toMatchObject({
      type: 'lease.refused',
      actor: 'alice',
      data: { by: 'bob', holderCount: 1, queueLength: 0 },
    });
    await site.leases.acquire('s', { mode: 'shared', limit: 1 });
    await site.leases.tryAcquire('s', { mode: 'shared', limit: 1 });
    expect(sentences(site).at(-1)).toBe('Refused s: limit');
  });

  test('a renewal that fails is told each time, the loss once', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: '10s' });
    site.store.order({ fault: 'fail', calls: 'renew', times: Infinity });
    await site.pass(20_000);
    expect(site.types().filter((type) => type === 'lease.renewal_failed')).toHaveLength(site.store.count('renew'));
    expect(site.types().filter((type) => type === 'lease.lost')).toHaveLength(1);
    expect(site.events.at(-1)).toMatchObject({ type: 'lease.lost', leaseId: lease.id, reason: 'LEASE_LOST' });
    expect(sentences(site).at(-1)).toBe('Lost lease for x (expired at 2026-01-01T00:00:10.000Z)');
    expect(sentences(site)[1]).toBe('Renewal failed: the store failed on order, before it was asked');
  });

  test('a wait that was given up: why', async () => {
    const site = await managerSite();
    await grant(site.truth, site.clock, 'x', { owner: 'bob', ttlMs: 600_000 });
    await expect(Promise.all([site.leases.acquire('x', { wait: 500 }), site.pass(600)])).rejects.toThrow();
    expect(sentences(site)).toEqual(['alice is waiting for x, place 1', 'alice stopped waiting for x: timeout']);
  });

  test('handed over, taken over, down and up again', async () => {
    const site = await managerSite();
    const bob = await site.join({ owner: 'bob' });
    const lease = await site.leases.acquire('x');
    await lease.downgrade();
    await lease.upgrade();
    const taken = await bob.leases.resume(await lease.delegate('bob'));
    expect(site.types()).toEqual(['lease.acquired', 'lease.downgraded', 'lease.upgraded', 'lease.delegated']);
    expect(sentences(site).at(-1)).toMatch(/^alice handed x to bob, epoch \d+$/);
    expect(bob.events[0]).toMatchObject({ epoch: taken.epoch, data: { resumed: true, fromOwner: 'bob' } });
  });

  test('several names are all named', async () => {
    const site = await managerSite();
    await site.leases.acquire(['b', 'a']);
    expect(site.events[0]).toMatchObject({ resource: 'a', resources: ['a', 'b'] });
  });
});

describe('A8: on', () => {
  test('S12: a listener that throws, or rejects, disturbs nobody; one that left hears nothing', async () => {
    const site = await managerSite();
    const heard: string[] = [];
    site.leases.on('*', () => {
      throw new Error('a listener that throws');
    });
    const rejecting = (): unknown => Promise.reject(new Error('one that rejects'));
    site.leases.on('lease.acquired', rejecting);
    const leave = site.leases.on('lease.acquired', ({ resource }) => void heard.push(resource ?? ''));
    await site.leases.acquire('a');
    leave();
    await site.leases.acquire('b');
    await site.pass(0);
    expect([heard, site.types()]).toEqual([['a'], ['lease.acquired', 'lease.acquired']]);
    expect(() => site.leases.on('lease.unheard' as never, () => undefined)).toThrow(/unknown event type/);
  });

  test('a listener may call back into the manager', async () => {
    const site = await managerSite();
    const done: string[] = [];
    site.leases.on('lease.lost', () => {
      watched(site.leases.acquire('again').then(() => done.push('again')));
    });
    await site.leases.acquire('x', { ttl: '2s', renew: 'manual' });
    await site.pass(2_000);
    expect(done).toEqual(['again']);
  });
});
