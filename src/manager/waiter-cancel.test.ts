// S9: cancelling at every step. Whatever was on its way, afterwards there is neither ticket nor lease in the store.
import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { grant } from '../../test/support/ask.js';
import { managerSite, watched, type ManagerSite, type Watched } from '../../test/support/manager-site.js';
import type { HeldLease } from './face.js';

interface Cancelled {
  readonly site: ManagerSite;
  readonly controller: AbortController;
  readonly waiting: { now(): Watched<HeldLease> };
}

/** An acquire of `x` that can be cancelled, after `prepare` has set the scene. */
async function asking(prepare: (site: ManagerSite) => unknown = () => undefined): Promise<Cancelled> {
  const site = await managerSite();
  await prepare(site);
  const controller = new AbortController();
  const waiting = watched(site.leases.acquire('x', { wait: '20s', ttl: '20s', signal: controller.signal }));
  return { site, controller, waiting };
}

async function expectNothingLeft({ site, controller, waiting }: Cancelled, mine = 0): Promise<void> {
  const reason = new Error('enough');
  controller.abort(reason);
  await site.pass(0);
  expect(waiting.now().error).toMatchObject({ code: 'ACQUIRE_ABORTED', cause: reason });
  await site.pass(5_000);
  expect((await site.live()).filter(({ owner }) => owner === 'alice')).toHaveLength(mine);
  expect((await site.leases.health()).waiting).toBe(0);
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
}
const held = (site: ManagerSite): Promise<unknown> => grant(site.truth, site.clock, 'x', { owner: 'bob' });

describe('cancelled by its signal', () => {
  test('S9: before the call: nothing is sent at all', async () => {
    const site = await managerSite();
    const signal = AbortSignal.abort(new Error('no'));
    await expect(site.leases.acquire('x', { signal })).rejects.toMatchObject({ code: 'ACQUIRE_ABORTED' });
    await expect(site.leases.tryAcquire('x', { signal })).rejects.toMatchObject({ code: 'ACQUIRE_ABORTED' });
    expect(site.store.count()).toBe(0);
  });

  test('S9: right after the call: nothing is sent either', async () => {
    const site = await managerSite();
    const controller = new AbortController();
    const waiting = watched(site.leases.acquire('x', { signal: controller.signal }));
    controller.abort();
    await site.pass(0);
    expect(waiting.now().error).toMatchObject({ code: 'ACQUIRE_ABORTED' });
    expect(site.store.count()).toBe(0);
  });

  test('S9: while the settings are read again before it asks', async () => {
    const cancelled = await asking(async ({ truth, leases, store }) => {
      await truth.setSettings({ held_ttl_seconds: 60 });
      await leases.now();
      store.order({ calls: 'settings', replyMs: 200 });
    });
    await cancelled.site.pass(100);
    cancelled.controller.abort();
    await cancelled.site.pass(100);
    expect(cancelled.waiting.now().error).toMatchObject({ code: 'ACQUIRE_ABORTED' });
    expect(cancelled.site.store.count('acquire')).toBe(0);
  });

  test('S9: while it stands in the line behind another call: it never leaves', async () => {
    const cancelled = await asking(async (site) => {
      site.store.order({ calls: 'acquire', requestMs: 50 });
      watched(site.leases.acquire('other'));
      await site.pass(0);
    });
    await cancelled.site.pass(10);
    await expectNothingLeft(cancelled, 1);
    const sent = cancelled.site.store.calls.filter(({ call }) => call === 'acquire');
    expect(sent).toHaveLength(1);
  });

  test('S9: while the acquire is on its way: it is refused when it arrives', async () => {
    const cancelled = await asking(({ store }) => store.order({ calls: 'acquire', requestMs: 1_000 }));
    await cancelled.site.pass(500);
    await expectNothingLeft(cancelled);
  });

  test('S9: while the acquire is on its way and arrives before the end does', async () => {
    const cancelled = await asking(({ store }) =>
      store.order({ calls: 'acquire', requestMs: 100 }).order({ calls: 'end', requestMs: 500 }),
    );
    await cancelled.site.pass(50);
    await expectNothingLeft(cancelled);
  });

  test('S9: while it is queued: the ticket leaves', async () => {
    const cancelled = await asking(held);
    await cancelled.site.pass(1_000);
    expect(await cancelled.site.live('pending')).toHaveLength(1);
    await expectNothingLeft(cancelled);
    expect(cancelled.site.types()).toEqual(['lease.queued', 'lease.failed']);
    expect(cancelled.site.events[1]).toMatchObject({ reason: 'cancelled', leaseId: expect.any(String) as string });
  });

  test('S9: while a refresh of its ticket is on its way', async () => {
    const cancelled = await asking(held);
    await cancelled.site.pass(100);
    cancelled.site.store.order({ calls: 'acquire', requestMs: 500 });
    await cancelled.site.pass(3_000);
    await expectNothingLeft(cancelled);
  });

  test('S9: while the grant’s reply is on its way: the grant is ended', async () => {
    const cancelled = await asking(({ store }) => store.order({ calls: 'acquire', replyMs: 1_000 }));
    await cancelled.site.pass(500);
    expect(await cancelled.site.live('active')).toHaveLength(1);
    await expectNothingLeft(cancelled);
  });

  test('S9: while the reply to its claim is on its way', async () => {
    const site = await managerSite();
    const first = await site.leases.acquire('x');
    const controller = new AbortController();
    const waiting = watched(site.leases.acquire('x', { ttl: '5s', signal: controller.signal }));
    await site.pass(100);
    site.store.order({ calls: 'acquire', replyMs: 1_000 });
    await first.release();
    await site.pass(100);
    expect(await site.live('active')).toHaveLength(1);
    await expectNothingLeft({ site, controller, waiting });
  });

  test('S9: when the grant’s reply was lost, and the first end too', async () => {
    const cancelled = await asking(({ store }) =>
      store.order({ fault: 'loseReply', calls: 'acquire' }).order({ fault: 'loseRequest', calls: 'end' }),
    );
    await cancelled.site.pass(500);
    await expectNothingLeft(cancelled);
  });

  test('S9: between two attempts, while the store errs', async () => {
    const cancelled = await asking(({ store }) => store.order({ fault: 'failAfter', calls: 'acquire' }));
    await cancelled.site.pass(20);
    await expectNothingLeft(cancelled);
  });

  test('S15: an abort after the grant was told is too late: the lease is the caller’s', async () => {
    const { site, controller, waiting } = await asking();
    await site.pass(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    controller.abort();
    await site.pass(1_000);
    expect(waiting.now().value?.isHeld).toBe(true);
  });
});

describe('S9: not in time', () => {
  test('with a grant on its way at that moment: the grant is ended', async () => {
    const site = await managerSite();
    const first = await site.leases.acquire('x');
    const waiting = watched(site.leases.acquire('x', { ttl: '5s', wait: '2s' }));
    await site.pass(1_900);
    site.store.order({ calls: 'acquire', replyMs: 1_000 });
    await first.release();
    await site.pass(100);
    expect(waiting.now().error).toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    await site.pass(100);
    expect(await site.live()).toEqual([]);
    expect(site.types()).toContain('lease.failed');
    expect(site.events.at(-1)).toMatchObject({ type: 'lease.failed', reason: 'timeout' });
  });

  test('with the store away: the ticket dies by itself, or the lease by its ttl, and both are counted', async () => {
    const cancelled = await asking(held);
    const { site, controller } = cancelled;
    await site.pass(100);
    site.store.order({ fault: 'fail', times: Infinity });
    controller.abort();
    await site.pass(10_000);
    expect(await site.live('pending')).toEqual([]);
    await site.pass(21_000);
    expect(cancelled.waiting.now().state).toBe('failed');
    expect(site.clock.pendingTimers).toBe(0);
  });
});
