// Breaking deadlocks: the youngest of each cycle gives up its place, and only while the cycle stands.
import { expect, test, vi } from 'vitest';
import { acquire, ask, grant } from '../../test/support/ask.js';
import { serviceSite, type ServiceSite } from '../../test/support/service-site.js';
import { breakDeadlocks } from './break-deadlocks.js';

/** alice has a and waits for b, bob has b and waits for a. Answers their tickets, oldest first. */
async function deadlock({ store, clock }: ServiceSite, at = ''): Promise<[string, string]> {
  const a = await grant(store, clock, `a${at}`, { owner: 'alice' });
  const b = await grant(store, clock, `b${at}`, { owner: 'bob' });
  const first = await ask(store, clock, `b${at}`, { owner: 'alice', join: true, holding: [a.id] });
  const second = await ask(store, clock, `a${at}`, { owner: 'bob', join: true, holding: [b.id] });
  await acquire(store, first);
  await acquire(store, second);
  return [first.id, second.id];
}

test('Q4: the youngest ticket of the cycle is failed, its leases stay, and the cycle is told', async () => {
  const site = serviceSite();
  const [older, younger] = await deadlock(site);
  const broken = await breakDeadlocks(site.store);
  expect(broken.map(({ victim }) => victim.id)).toEqual([younger]);
  expect(broken[0]?.cycle).toEqual(
    expect.arrayContaining([
      { ticketId: older, owner: 'alice', resource: 'b', heldBy: 'bob' },
      { ticketId: younger, owner: 'bob', resource: 'a', heldBy: 'alice' },
    ]),
  );
  const { items } = await site.store.get([older, younger]);
  expect(items.map((item) => item?.status)).toEqual(['pending', 'failed']);
  expect((await site.store.list({ status: 'active', limit: 10 })).items).toHaveLength(2);
  expect(await breakDeadlocks(site.store)).toEqual([]);
});

test('Q4: several cycles are broken from one snapshot', async () => {
  const site = serviceSite();
  const tickets = [await deadlock(site, '1'), await deadlock(site, '2'), await deadlock(site, '3')];
  const graph = vi.spyOn(site.store, 'waitGraph');
  const broken = await breakDeadlocks(site.store);
  expect(new Set(broken.map(({ victim }) => victim.id))).toEqual(new Set(tickets.map(([, younger]) => younger)));
  expect(graph).toHaveBeenCalledTimes(1);
});

test('Q4: waiting alone is no deadlock, and a cycle that is gone by then is not counted', async () => {
  const site = serviceSite();
  await grant(site.store, site.clock, 'c');
  await acquire(site.store, await ask(site.store, site.clock, 'c', { owner: 'carol', join: true }));
  expect(await breakDeadlocks(site.store)).toEqual([]);
  await deadlock(site);
  const snapshot = await site.store.waitGraph();
  await breakDeadlocks(site.store);
  vi.spyOn(site.store, 'waitGraph').mockResolvedValueOnce(snapshot);
  expect(await breakDeadlocks(site.store)).toEqual([]);
});
