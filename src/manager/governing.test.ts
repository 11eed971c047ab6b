// Acting on leases one may not hold oneself: revocation (A7), raw renew and release in lists, the sweep by hand (A8).
import { describe, expect, test } from 'vitest';
import { grant } from '../../test/support/ask.js';
import { managerSite, watched } from '../../test/support/manager-site.js';
import type { RevokeInput } from './governing.js';

describe('A7: revoke', () => {
  test.each<[string, (id: string) => RevokeInput]>([
    ['a resource', () => ({ resource: 'a/b', reason: 'r' })],
    ['a tree', () => ({ under: 'a', reason: 'r' })],
    ['a lease', (leaseId) => ({ leaseId, reason: 'r' })],
    ['an owner', () => ({ owner: 'bob', reason: 'r' })],
  ])('%s: ends what matches, draws an epoch, and answers the records', async (_, order) => {
    const site = await managerSite();
    const lease = await grant(site.truth, site.clock, 'a/b', { owner: 'bob' });
    await grant(site.truth, site.clock, 'c', { owner: 'carol' });
    const before = (await site.truth.time()).epoch;
    const ended = await site.leases.revoke(order(lease.id));
    expect(ended).toMatchObject([{ id: lease.id, status: 'revoked', reason: 'r', owner: 'bob' }]);
    expect((await site.truth.time()).epoch).toBeGreaterThan(before);
    expect((await site.live()).map(({ owner }) => owner)).toEqual(['carol']);
    expect(site.store.calls.map(({ call }) => call)).toEqual(['time', 'revoke']);
  });

  test('nothing that matches is an answer, and draws no epoch', async () => {
    const site = await managerSite();
    const before = (await site.truth.time()).epoch;
    expect(await site.leases.revoke({ resource: 'nobody', reason: 'r' })).toEqual([]);
    expect((await site.truth.time()).epoch).toBe(before);
  });

  test('tickets too; a lease of this process is lost at once, its signal says why', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x');
    const waiting = watched(site.leases.acquire('x', { owner: 'bob', wait: 'forever' }));
    await site.pass(10);
    expect(await site.leases.revoke({ resource: 'x', reason: 'maintenance', actor: 'ops' })).toHaveLength(2);
    expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST', details: { how: 'revoked' } });
    await site.pass(3_000);
    expect(waiting.now().error).toMatchObject({ code: 'ACQUIRE_ABORTED' });
    const revoked = site.events.filter(({ type }) => type === 'lease.revoked').map(({ sentence }) => sentence);
    expect(revoked.toSorted()).toEqual([
      'ops revoked x from alice: maintenance',
      'ops revoked x from bob: maintenance',
    ]);
    expect(site.types().filter((type) => type === 'lease.lost')).toHaveLength(1);
  });

  test('the next holder is spared by a slow order and by its repeat', async () => {
    const site = await managerSite();
    const old = await grant(site.truth, site.clock, 'x', { owner: 'bob' });
    site.store.order({ calls: 'revoke', requestMs: 500 });
    const order = watched(site.leases.revoke({ resource: 'x', reason: 'r' }));
    await site.pass(100);
    await site.truth.end([{ id: old.id, epoch: old.epoch, requestId: 'e', why: 'released' }]);
    const next = await grant(site.truth, site.clock, 'x', { owner: 'carol' });
    await site.pass(500);
    expect(order.now().value).toEqual([]);
    expect((await site.live()).map(({ id }) => id)).toEqual([next.id]);
  });

  test('keepOut bars the old owner and nobody else', async () => {
    const site = await managerSite();
    await grant(site.truth, site.clock, 'x', { owner: 'bob' });
    await site.leases.revoke({ resource: 'x', reason: 'r', keepOut: '10s' });
    expect(await site.leases.tryAcquire('x', { owner: 'bob' })).toMatchObject({ ok: false });
    expect(await site.leases.tryAcquire('x', { owner: 'carol' })).toMatchObject({ ok: true });
  });

  test('S18: thousands end in steps, all of them', async () => {
    const site = await managerSite();
    for (let i = 0; i < 1_500; i += 1) await grant(site.truth, site.clock, `all/${i}`, { owner: 'bob' });
    expect(await site.leases.revoke({ under: 'all', reason: 'r' })).toHaveLength(1_500);
    expect([site.store.count('revoke'), await site.live()]).toEqual([2, []]);
  });

  test.each<[unknown, RegExp]>([
    [undefined, /revoke takes an order/],
    [{ reason: 'r' }, /exactly one of resource, under, leaseId, owner/],
    [{ resource: 'x', owner: 'y', reason: 'r' }, /exactly one of/],
    [{ resource: 'x' }, /reason must be text/],
    [{ resource: 'x', reason: '' }, /reason is from 1/],
    [{ resource: 'x', reason: 'r', actor: '' }, /actor is from 1/],
    [{ resource: 'x', reason: 'r', keepOut: '31d' }, /keepOut is from/],
  ])('refuses %o before anything is sent', async (order, message) => {
    const site = await managerSite();
    await expect(site.leases.revoke(order as RevokeInput)).rejects.toThrow(message);
    expect(site.store.count()).toBe(0);
  });

  test('a name that is none is refused by the store', async () => {
    const site = await managerSite();
    const bad = site.leases.revoke({ resource: '/x', reason: 'r' });
    await expect(bad).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('A8: raw renew and release', () => {
  test('S21: in lists, one call, each with its own answer in its own place', async () => {
    const site = await managerSite();
    const a = await grant(site.truth, site.clock, 'a', { maxRenewals: 0 });
    const b = await grant(site.truth, site.clock, 'b');
    const c = await grant(site.truth, site.clock, 'c', { maxHoldMs: 30_000 });
    await site.pass(1_000);
    const asked = [a, b, c].map(({ id, epoch }) => ({ id, epoch }));
    const stale = { id: b.id, epoch: b.epoch + 7 };
    const unknown = { id: 'nobody-knows-this-id', epoch: 5 };
    expect(await site.leases.renew([...asked, stale, unknown])).toMatchObject([
      { ok: false, code: 'MAX_RENEWALS' },
      { ok: true, renewals: 1, expiresAt: new Date(site.clock.wall() + 30_000).toISOString() },
      { ok: false, code: 'MAX_HOLD' },
      { ok: false, code: 'STALE_EPOCH' },
      { ok: false, code: 'NOT_HELD' },
    ]);
    expect(await site.leases.release([...asked, stale, unknown])).toEqual(
      ['released', 'released', 'released', 'superseded', 'already_ended'].map((outcome) => ({ outcome })),
    );
    expect([site.store.count('renew'), site.store.count('end')]).toEqual([1, 1]);
  });

  test('with a ttl of its own', async () => {
    const site = await managerSite();
    const { id, epoch } = await grant(site.truth, site.clock, 'a');
    expect(await site.leases.renew([{ id, epoch, ttl: '5m' }])).toMatchObject([{ ok: true }]);
    expect((await site.live())[0]?.ttlMs).toBe(300_000);
  });

  test('a list with something wrong in it is refused as a whole, before any of it is sent', async () => {
    const site = await managerSite();
    const { id, epoch } = await grant(site.truth, site.clock, 'a');
    const lists: unknown[] = [
      'x',
      [{ id, epoch }, null],
      [
        { id, epoch },
        { id: 'short', epoch },
      ],
      [{ id, epoch: NaN }],
      [{ id, epoch }, { id }],
    ];
    for (const list of lists) {
      await expect(site.leases.renew(list as [])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
      await expect(site.leases.release(list as [])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    await expect(site.leases.renew([{ id, epoch, ttl: 1 }])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(site.store.count()).toBe(0);
    expect(await site.leases.renew([])).toEqual([]);
  });

  test('a store that is away is an answer too', async () => {
    const site = await managerSite();
    const { id, epoch } = await grant(site.truth, site.clock, 'a');
    site.store.order({ fault: 'fail', calls: ['renew', 'end'], times: Infinity });
    expect(await site.leases.renew([{ id, epoch }])).toEqual([{ ok: false, code: 'STORE_UNAVAILABLE' }]);
    expect(await site.leases.release([{ id, epoch }])).toEqual([{ outcome: 'unknown' }]);
  });
});

describe('A8: sweep', () => {
  test('writes down what lapsed, all of it, and by how much', async () => {
    const site = await managerSite();
    for (let i = 0; i < 1_200; i += 1) await grant(site.truth, site.clock, `x/${i}`, { ttlMs: 1_000 });
    await site.pass(1_500);
    expect(await site.leases.sweep()).toEqual({ expired: 1_200, overrunMaxMs: 500 });
    expect(site.store.count('sweep')).toBeGreaterThanOrEqual(2);
    expect(await site.leases.sweep()).toEqual({ expired: 0, overrunMaxMs: 0 });
  });
});
