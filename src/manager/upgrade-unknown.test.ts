// Q5, S15: an upgrade whose answer does not come. It may have been granted in the store: then the handle takes over the
// new epoch and stays held, however it was cancelled here, and nothing is left behind when it is let go.
import { describe, expect, test } from 'vitest';
import { managerSite, watched, type ManagerSite, type Watched } from '../../test/support/manager-site.js';
import type { HeldLease } from './face.js';

const SHARED = { mode: 'shared', ttl: '10s' } as const;

interface Upgrading {
  readonly site: ManagerSite;
  readonly mine: HeldLease;
  readonly oldEpoch: number;
  readonly controller: AbortController;
  readonly upgrade: { now(): Watched<void> };
}

/** Granted in the store at once; the reply does not come while `prepare` says so. */
async function upgrading(prepare: (site: ManagerSite) => void, wait: string | number = '30s'): Promise<Upgrading> {
  const site = await managerSite();
  const mine = await site.leases.acquire('x', SHARED);
  const { epoch: oldEpoch } = mine;
  prepare(site);
  const controller = new AbortController();
  const upgrade = watched(mine.upgrade({ wait, signal: controller.signal }));
  await site.pass(100);
  return { site, mine, oldEpoch, controller, upgrade };
}

async function expectTakenOver({ site, mine, oldEpoch }: Upgrading): Promise<void> {
  expect([mine.isHeld, mine.parts[0]?.mode]).toEqual([true, 'exclusive']);
  expect(mine.epoch).toBeGreaterThan(oldEpoch);
  const [lease] = await site.live();
  expect(lease).toMatchObject({ id: mine.id, epoch: mine.epoch });
  await site.pass(40_000);
  expect(mine.isHeld).toBe(true);
  expect(site.types().filter((type) => type === 'lease.upgraded')).toHaveLength(1);
  expect(site.types()).not.toContain('lease.lost');
  expect(await mine.release()).toMatchObject({ outcome: 'released' });
  expect(await site.live()).toEqual([]);
}

describe('Q5: granted in the store', () => {
  test.each(['loseReply', 'loseRequest'] as const)('S15: %s: asked again by the same id', async (fault) => {
    const upgrade = await upgrading(({ store }) => store.order({ fault, calls: 'acquire' }));
    await upgrade.site.pass(1_000);
    expect(upgrade.upgrade.now().state).toBe('done');
    await expectTakenOver(upgrade);
  });

  test('cancelled while the reply is on its way', async () => {
    const upgrade = await upgrading(({ store }) => store.order({ calls: 'acquire', replyMs: 500 }));
    upgrade.controller.abort();
    await upgrade.site.pass(10);
    expect(upgrade.upgrade.now().error).toMatchObject({ code: 'ACQUIRE_ABORTED' });
    await expectTakenOver(upgrade);
  });

  test('cancelled with the reply lost, and the first answers to its end too', async () => {
    const upgrade = await upgrading(({ store }) =>
      store.order({ fault: 'loseReply', calls: 'acquire' }).order({ fault: 'loseReply', calls: 'end', times: 2 }),
    );
    upgrade.controller.abort();
    await upgrade.site.pass(3_000);
    await expectTakenOver(upgrade);
  });

  test('not in time, with every reply lost', async () => {
    const upgrade = await upgrading(
      ({ store }) => store.order({ fault: 'loseReply', calls: 'acquire', times: Infinity }),
      '2s',
    );
    await upgrade.site.pass(2_000);
    expect(upgrade.upgrade.now().error).toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    await upgrade.site.pass(100);
    await expectTakenOver(upgrade);
  });

  test('a renewal that meets the new epoch first is no loss, and makes it ask at once', async () => {
    const upgrade = await upgrading(({ store }) => store.order({ calls: 'acquire', replyMs: 900 }));
    await expect(upgrade.mine.renew()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect(upgrade.mine.isHeld).toBe(true);
    await upgrade.site.pass(1_000);
    expect(upgrade.upgrade.now().state).toBe('done');
    await expectTakenOver(upgrade);
  });

  test('without a wait and without an answer: the error, and the new epoch', async () => {
    const upgrade = await upgrading(({ store }) => store.order({ fault: 'loseReply', calls: 'acquire', times: 2 }), 0);
    await upgrade.site.pass(2_500);
    expect(upgrade.upgrade.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await expectTakenOver(upgrade);
  });
});

describe('S9: let go while it is unknown', () => {
  test('release ends it under whichever epoch it has', async () => {
    const { site, mine, upgrade } = await upgrading(({ store }) => store.order({ calls: 'acquire', replyMs: 500 }));
    const released = watched(mine.release());
    await site.pass(100);
    expect(released.now().value).toMatchObject({ outcome: 'released' });
    expect(upgrade.now().error).toMatchObject({ code: 'ACQUIRE_ABORTED' });
    expect(await site.live()).toEqual([]);
  });

  test('and where that is not known in time, what the upgrade made is ended when it is', async () => {
    const { site, mine } = await upgrading(({ store }) =>
      store.order({ fault: 'loseReply', calls: 'acquire' }).order({ fault: 'loseRequest', calls: 'end', times: 3 }),
    );
    watched(mine.release());
    await site.pass(9_000);
    expect(await site.live()).toEqual([]);
  });

  test('a shutdown too leaves nothing behind', async () => {
    const { site } = await upgrading(({ store }) => store.order({ fault: 'loseReply', calls: 'acquire' }));
    const down = watched(site.leases.shutdown());
    await site.pass(5_000);
    expect(down.now().state).toBe('done');
    expect(await site.live()).toEqual([]);
  });
});

describe('S7: the trust window meanwhile', () => {
  test('a lease lost by its deadline is not brought back by an upgrade that is answered afterwards', async () => {
    const { site, mine, upgrade } = await upgrading(({ store }) => {
      store.order({ fault: 'loseReply', calls: 'renew', times: Infinity });
      store.order({ calls: 'acquire', requestMs: 6_500, replyMs: 3_000 });
      store.order({ fault: 'loseRequest', calls: 'acquire', times: Infinity });
    });
    await site.pass(9_000);
    expect([mine.isHeld, (await site.live()).length]).toEqual([false, 1]);
    await site.pass(1_000);
    expect(await site.live()).toEqual([]); // what the upgrade made keeps nobody out
    expect(upgrade.now().state).toBe('failed');
    expect(upgrade.now().error).toMatchObject({ code: 'LEASE_LOST' });
    expect([mine.isHeld, mine.signal.aborted]).toEqual([false, true]);
  });

  test('a copy of an earlier downgrade that arrives after the upgrade is no loss', async () => {
    const site = await managerSite();
    const mine = await site.leases.acquire('x', { ttl: '10s' });
    site.store.order({ calls: 'change', requestMs: 3_000 });
    const downgrade = watched(mine.downgrade());
    await site.pass(1_500);
    expect(downgrade.now().state).toBe('done');
    await mine.upgrade();
    await site.pass(3_000);
    expect([site.store.count('change'), mine.isHeld, mine.signal.aborted]).toEqual([2, true, false]);
  });

  test('a store that stood still with a downgrade and a renewal on their way loses nothing by it', async () => {
    const site = await managerSite();
    const mine = await site.leases.acquire('x', { ttl: '10s' });
    await site.pass(5_000);
    site.store.freeze();
    const downgrade = watched(mine.downgrade());
    await site.pass(3_500);
    expect(site.store.count('renew')).toBeGreaterThan(0);
    site.store.thaw();
    await site.pass(100);
    expect([downgrade.now().state, mine.isHeld, mine.parts[0]?.mode]).toEqual(['done', true, 'shared']);
    await site.pass(30_000);
    expect(mine.isHeld).toBe(true);
  });

  test('an upgrade prolongs nothing: the deadline stays where the last renewal put it', async () => {
    const site = await managerSite();
    const mine = await site.leases.acquire('x', SHARED);
    await site.pass(3_000);
    await mine.upgrade();
    expect(mine.remainingMs()).toBe(10_000 - 3_000 - 1_005);
  });
});
