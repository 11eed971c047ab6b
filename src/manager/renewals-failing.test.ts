// Renewal when the store errs, is silent, or says no (S7, S15): the deadline stays where it was, the signal aborts by a
// local timer, and nothing is asked past it.
import { describe, expect, test } from 'vitest';
import { managerSite, watched, type ManagerSite } from '../../test/support/manager-site.js';
import { settled } from '../../test/support/service-site.js';
import { LeaseError } from '../domain/errors.js';
import type { RenewRequest } from '../domain/requests.js';

const TTL = 10_000;
const DEADLINE = TTL - 1_005;

function renewals(site: ManagerSite): { at: number; requestId: string }[] {
  return site.store.calls
    .filter(({ call }) => call === 'renew')
    .map(({ at, asked }) => ({ at, requestId: (asked[0] as RenewRequest).requestId }));
}

describe('S15: no answer is neither yes nor no', () => {
  test('the deadline stays; asked again under the same request id after the timeout and a pause', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: TTL });
    site.store.order({ fault: 'loseRequest', calls: 'renew' });
    await site.pass(6_500);
    expect(lease.remainingMs()).toBe(DEADLINE - 6_500);
    await site.pass(1_500);
    const [first, second] = renewals(site);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeCloseTo(1_000 + 200, -1);
    expect(second?.requestId).toBe(first?.requestId);
    expect(lease.remainingMs()).toBeGreaterThan(DEADLINE - 2_000);
    await site.pass(TTL);
    expect(renewals(site)[2]?.requestId).not.toBe(first?.requestId);
    expect(lease.toJSON().renewals).toBe(renewals(site).length - 1);
  });

  test('a lost reply is found out by the repeat: one renewal, not two', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: TTL });
    site.store.order({ fault: 'loseReply', calls: 'renew' });
    await site.pass(8_000);
    expect(site.store.count('renew')).toBe(2);
    expect((await site.truth.get([lease.id])).items[0]?.renewals).toBe(1);
    expect(lease.isHeld).toBe(true);
  });

  test('an answer that comes after the timeout still counts, from when it was asked', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: TTL });
    site.store.order({ calls: 'renew', replyMs: 1_800 }).order({ fault: 'loseRequest', calls: 'renew', times: 1 });
    await site.pass(8_200);
    const [first] = renewals(site);
    expect(lease.remainingMs()).toBeCloseTo((first?.at ?? 0) + DEADLINE - site.clock.monotonic(), 0);
  });

  test('S7: at the deadline the signal aborts by a local timer, with the store frozen and no reply at all', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: TTL });
    const aborted: number[] = [];
    const start = site.clock.monotonic();
    lease.signal.addEventListener('abort', () => aborted.push(site.clock.monotonic() - start));
    site.store.freeze();
    await site.pass(DEADLINE - 1);
    expect([lease.isHeld, aborted]).toEqual([true, []]);
    await site.pass(30_000);
    expect(aborted).toEqual([DEADLINE]);
    expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST', details: { how: 'expired', leaseId: lease.id } });
    site.store.thaw();
    await site.pass(1_000);
    expect([lease.isHeld, aborted]).toEqual([false, [DEADLINE]]);
  });
});

test('S7: a yes that is heard after the deadline, by a loop that stalled, brings nothing back', async () => {
  const site = await managerSite();
  const lease = await site.leases.acquire('x', { ttl: TTL });
  let answer = (): void => undefined;
  const renew = site.truth.renew.bind(site.truth);
  site.truth.renew = async (requests) => {
    const renewed = await renew(requests);
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return renewed;
  };
  await site.pass(6_000);
  site.clock.reboot('the same', site.clock.monotonic() + 4_000); // no timer has run meanwhile
  answer();
  await settled();
  expect([lease.isHeld, lease.signal.aborted]).toEqual([false, true]);
  expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST', details: { how: 'expired' } });
});

describe('S15: errors', () => {
  test('are tried again until the deadline and not past it', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: TTL });
    const start = site.clock.monotonic();
    site.store.order({ fault: 'fail', calls: 'renew', times: Infinity });
    await site.pass(60_000);
    expect(lease.signal.aborted).toBe(true);
    const times = renewals(site).map(({ at }) => at - start);
    expect(times.length).toBeGreaterThan(3);
    expect(Math.max(...times)).toBeLessThan(DEADLINE);
    const pauses = times.slice(1).map((at, i) => Math.round(at - (times[i] ?? 0)));
    expect(pauses.slice(0, 3)).toEqual([200, 400, 800]);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1_000);
  });

  test('S14: two attempts always fit, and the second is enough', async () => {
    for (let seed = 1; seed <= 5; seed += 1) {
      const site = await managerSite({}, seed);
      const lease = await site.leases.acquire('x', { ttl: 250 });
      site.store.order({ fault: 'loseReply', calls: 'renew' });
      await site.pass(245);
      expect([lease.isHeld, site.store.count('renew')]).toEqual([true, 2]);
    }
  });

  test('the store gone longer than the ttl, then back: lost, and others can have it', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: TTL });
    site.store.order({ fault: 'fail', times: Infinity });
    await site.pass(3 * TTL);
    expect(lease.signal.aborted).toBe(true);
    site.store.heal();
    const again = await site.leases.acquire('x', { wait: 0 });
    expect(again.epoch).toBeGreaterThan(lease.epoch);
    expect(await lease.release()).toMatchObject({ outcome: 'already_ended' });
    expect(again.isHeld).toBe(true);
    expect((await site.leases.health()).lostLastHour).toBe(1);
  });

  test('one bad item fails alone: its neighbours in the call are renewed', async () => {
    const site = await managerSite();
    const [a, b] = await Promise.all([site.leases.acquire('a', { ttl: TTL }), site.leases.acquire('b', { ttl: TTL })]);
    const renew = site.truth.renew.bind(site.truth);
    let isFirst = true;
    site.truth.renew = async (requests) => {
      const answer = await renew(requests);
      if (!isFirst) return answer;
      isFirst = false;
      const error = new LeaseError('STORE_UNAVAILABLE', 'this one not');
      const results = answer.results.map((one, i) =>
        requests[i]?.id === a.id ? ({ outcome: 'failed', error } as const) : one,
      );
      return { ...answer, results };
    };
    await site.pass(6_000);
    const told = site.events
      .filter(({ type }) => type.startsWith('lease.renew'))
      .map(({ type, leaseId }) => [type, leaseId]);
    expect(told).toEqual(
      expect.arrayContaining([
        ['lease.renewal_failed', a.id],
        ['lease.renewed', b.id],
      ]),
    );
    await site.pass(TTL);
    expect([a.isHeld, b.isHeld]).toEqual([true, true]);
  });
});

describe('S15: a definite no ends the hold at once', () => {
  test('revoked by another: lost at the next renewal, with what the store said', async () => {
    const site = await managerSite();
    const other = await site.join({ owner: 'admin' });
    const lease = await site.leases.acquire('x', { ttl: TTL });
    await other.leases.revoke({ resource: 'x', reason: 'maintenance' });
    expect(lease.isHeld).toBe(true);
    await site.pass(6_000);
    expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST', details: { how: 'revoked', status: 'revoked' } });
    expect(site.types()).toEqual(['lease.acquired', 'lease.renewal_failed', 'lease.lost']);
    expect(await lease.release()).toMatchObject({ outcome: 'already_ended' });
    expect(site.store.count('end')).toBe(0);
  });

  test('S15: the late error of one copy says nothing about the next, which a release waits for', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: 10_000 });
    site.store.order({ calls: 'renew', fault: 'fail', requestMs: 1_300 }).order({ calls: 'renew', replyMs: 900 });
    while (site.store.count('renew') < 2) await site.pass(10);
    await site.pass(200); // by now the first has failed
    const released = watched(lease.release());
    await site.pass(10);
    expect(site.store.count('end')).toBe(0);
    await site.pass(900);
    expect([site.store.count('end'), released.now().value?.outcome]).toEqual([1, 'released']);
    expect(site.types().filter((type) => type === 'lease.renewal_failed')).toHaveLength(1);
  });

  test('superseded: somebody else has the id with a newer epoch', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: TTL });
    const request = { kind: 'delegate', id: lease.id, epoch: lease.epoch, requestId: 'd', toOwner: 'thief' } as const;
    await site.truth.change([request]);
    await site.pass(6_000);
    expect(lease.signal.reason).toMatchObject({ details: { how: 'superseded', attempted: lease.epoch } });
    expect(site.events.find(({ type }) => type === 'lease.renewal_failed')?.sentence).toMatch(
      /^Renewal failed: stale epoch \(current: \d+, attempted: \d+\)$/,
    );
    expect(await lease.release()).toMatchObject({ outcome: 'superseded' });
  });
});

test('S15: who hears of a loss and lets another lease go at once renews it no more', async () => {
  const site = await managerSite();
  const doomed = await site.leases.acquire('doomed', { ttl: 19_344, renew: 'manual' }); // over at 17.4 s
  const other = await site.leases.acquire('other', { ttl: 30_000 });
  doomed.signal.addEventListener('abort', () => void other.release().catch(() => undefined));
  await site.pass(17_500);
  expect(doomed.signal.aborted).toBe(true);
  expect([site.store.count('renew'), site.store.count('end')]).toEqual([0, 1]);
});

test('S12: a listener of the signal that throws is its caller’s affair, not the manager’s', async () => {
  const site = await managerSite();
  const [a, b] = [await site.leases.acquire('a', { ttl: TTL }), await site.leases.acquire('b', { ttl: TTL })];
  const heard: string[] = [];
  a.signal.addEventListener('abort', () => void heard.push('a'));
  b.signal.addEventListener('abort', () => void heard.push('b'));
  site.leases.on('lease.lost', () => {
    throw new Error('a listener that throws');
  });
  site.store.freeze();
  await site.pass(TTL);
  expect(heard.toSorted()).toEqual(['a', 'b']);
  expect(site.types().filter((type) => type === 'lease.lost')).toHaveLength(2);
});
