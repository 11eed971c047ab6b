// A lease that a guarded transaction pins (G1): letting go waits for the transaction, within bounds, and says what it knows.
import { expect, test } from 'vitest';
import { managerSite, watched, type ManagerSite } from '../../test/support/manager-site.js';
import type { HeldLease } from './face.js';

const TTL = 10_000;

/** The store answers `pinned` until it is told otherwise. */
function pin({ truth }: ManagerSite): { asked: number; isOver: boolean } {
  const state = { asked: 0, isOver: false };
  const [end, change] = [truth.end.bind(truth), truth.change.bind(truth)];
  const pinned = async (requests: readonly unknown[]) => {
    state.asked += 1;
    return { ...(await truth.time()), results: requests.map(() => ({ outcome: 'pinned' }) as const) };
  };
  truth.end = (requests) => (state.isOver ? end(requests) : pinned(requests));
  truth.change = (requests) => (state.isOver ? change(requests) : pinned(requests));
  return state;
}
async function holding(options = {}): Promise<{ site: ManagerSite; lease: HeldLease; pinned: ReturnType<typeof pin> }> {
  const site = await managerSite();
  const lease = await site.leases.acquire('x', { ttl: TTL, ...options });
  return { site, lease, pinned: pin(site) };
}

test('G1: release waits for its own guarded transactions', async () => {
  const { site, lease, pinned } = await holding();
  const released = watched(lease.release());
  await site.pass(3_000);
  expect(released.now().state).toBe('open');
  expect(lease.isHeld).toBe(false); // over for its holder from the moment it was called
  pinned.isOver = true;
  await site.pass(50);
  expect(await lease.release()).toMatchObject({ outcome: 'released' });
  expect(pinned.asked).toBeLessThan(80); // every 50 ms at most
});

test('G1: and not for ever: past its deadline the lease lapses with the transaction', async () => {
  const { site, lease } = await holding();
  const released = watched(lease.release());
  await site.pass(8_900);
  expect(released.now().state).toBe('open');
  await site.pass(200);
  expect(await lease.release()).toMatchObject({ outcome: 'unknown' });
});

test('A9: a shutdown waits for guarded transactions for a moment only, and says what it left', async () => {
  const { site, lease, pinned } = await holding({ ttl: '2h' });
  const down = watched(site.leases.shutdown());
  await site.pass(1_900);
  expect(down.now().state).toBe('open');
  await site.pass(200);
  expect(down.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE', details: { errors: { length: 1 } } });
  expect(await lease.release()).toMatchObject({ outcome: 'unknown' });
  const { asked } = pinned;
  await site.pass(10_000);
  expect([pinned.asked, site.clock.pendingTimers]).toEqual([asked, 0]);
});

test('A9: a transaction that ends within that moment lets the lease be released', async () => {
  const { site, pinned } = await holding({ ttl: '2h' });
  const down = watched(site.leases.shutdown());
  await site.pass(1_000);
  pinned.isOver = true;
  await site.pass(100);
  expect([down.now().state, await site.live()]).toEqual(['done', []]);
});

test('A9, G1: a release that waits already, also through a drain, is not asked for again after the shutdown', async () => {
  const { site, lease, pinned } = await holding({ ttl: '2h' });
  const other = await site.leases.acquire('other', { ttl: TTL });
  const down = watched(site.leases.shutdown({ drain: '60s' }));
  const released = watched(lease.release());
  await site.pass(10_000);
  expect([released.now().state, down.now().state]).toEqual(['open', 'open']);
  watched(other.release());
  await site.pass(2_200);
  expect(down.now().state).not.toBe('open');
  expect(released.now().value).toMatchObject({ outcome: 'unknown' });
  const { asked } = pinned;
  await site.pass(10_000);
  expect([pinned.asked, site.clock.pendingTimers]).toEqual([asked, 0]);
});

test('G1: delegating and downgrading wait as well', async () => {
  for (const act of [(lease: HeldLease) => lease.delegate('other'), (lease: HeldLease) => lease.downgrade()]) {
    const { site, lease, pinned } = await holding();
    const done = watched<unknown>(act(lease));
    await site.pass(1_000);
    expect(done.now().state).toBe('open');
    pinned.isOver = true;
    await site.pass(2_000);
    expect(done.now().state).toBe('done');
  }
});

test('G1: a change that is pinned to the end says so, and may be tried again', async () => {
  const { site, lease } = await holding({ renew: 'manual' });
  const asked = lease.downgrade();
  const told = expect(asked).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    retryable: true,
    details: { pinned: true },
  });
  await site.pass(TTL);
  await told;
});
