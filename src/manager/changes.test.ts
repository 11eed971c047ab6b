// What a holder does to its lease (A6): renewing by hand and letting go, with every way the answer can fail to come, and
// never a renewal and a release at once (S15).
import { describe, expect, test } from 'vitest';
import { managerSite, watched, type ManagerSite } from '../../test/support/manager-site.js';
import type { LeaseError } from '../domain/errors.js';
import type { EndRequest } from '../domain/requests.js';
import type { HeldLease } from './face.js';

const TTL = 10_000;

async function holding(options = {}): Promise<{ site: ManagerSite; lease: HeldLease }> {
  const site = await managerSite();
  const lease = await site.leases.acquire('x', { ttl: TTL, ...options });
  site.store.forgetCalls();
  return { site, lease };
}
async function revoke(site: ManagerSite, { id, epoch }: HeldLease): Promise<void> {
  await site.truth.revoke({ target: { leaseId: id }, reason: 'r', actor: 'a', keepOutMs: 0, upToEpoch: epoch });
}

describe('A6: renew', () => {
  test('answers until when, by which clock, and the how-manieth it was; the deadline moves', async () => {
    const { site, lease } = await holding({ renew: 'manual' });
    await site.pass(4_000);
    const renewed = await lease.renew();
    expect(renewed).toEqual({
      expiresAt: new Date(site.clock.wall() + TTL).toISOString(),
      storeNow: new Date(site.clock.wall()).toISOString(),
      renewals: 1,
    });
    expect([lease.expiresAt, lease.remainingMs()]).toEqual([renewed.expiresAt, TTL - 1_005]);
    expect(site.store.count()).toBe(1);
  });

  test('with another ttl, which the lease keeps', async () => {
    const { site, lease } = await holding({ renew: 'manual' });
    await lease.renew('60s');
    expect([lease.toJSON().ttlMs, lease.remainingMs()]).toEqual([60_000, 60_000 - 5_030]);
    await site.pass(1_000);
    await lease.renew();
    expect(lease.remainingMs()).toBe(60_000 - 5_030);
  });

  test('S4: a shorter ttl never shortens what is there', async () => {
    const { site, lease } = await holding({ renew: 'manual', ttl: '60s' });
    await lease.renew('1s');
    expect(lease.expiresAt).toBe(new Date(site.clock.wall() + 60_000).toISOString());
    expect(lease.isHeld).toBe(true);
  });

  test.each([-1, 'soon', '31d', 99])('refuses a ttl of %s before it is sent', async (ttl) => {
    const { site, lease } = await holding();
    await expect(lease.renew(ttl)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(lease.tryRenew(ttl)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(site.store.count()).toBe(0);
  });

  test('S14: refuses a ttl in which two attempts do not fit', async () => {
    const { lease } = await holding();
    await expect(lease.renew('2s')).rejects.toThrow(/do not fit/);
  });

  test('A11: MAX_RENEWALS and MAX_HOLD, with what is left', async () => {
    const { lease } = await holding({ renew: 'manual', maxRenewals: 1 });
    await lease.renew();
    await expect(lease.renew()).rejects.toMatchObject({ code: 'MAX_RENEWALS', details: { remainingMs: TTL } });
    expect([lease.isHeld, await lease.tryRenew()]).toEqual([true, false]);
    const other = await holding({ renew: 'manual', maxHold: TTL });
    await other.site.pass(1_000);
    await expect(other.lease.renew()).rejects.toMatchObject({ code: 'MAX_HOLD' });
  });

  test('S15: a definite no ends the hold, an unknown answer does not', async () => {
    const { site, lease } = await holding();
    site.store.order({ fault: 'loseRequest', calls: 'renew' });
    const silent = watched(lease.renew());
    await site.pass(1_000);
    expect(silent.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE', details: { timedOut: true } });
    expect([lease.isHeld, lease.remainingMs()]).toEqual([true, TTL - 1_005 - 1_000]);
    await revoke(site, lease);
    await expect(lease.renew()).rejects.toMatchObject({ code: 'LEASE_LOST', details: { how: 'revoked' } });
    expect(lease.signal.aborted).toBe(true);
    await expect(lease.renew()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(await lease.tryRenew()).toBe(false);
  });

  test('S15: an answer that comes after it was given up on still counts', async () => {
    const { site, lease } = await holding({ renew: 'manual' });
    await site.pass(1_000);
    site.store.order({ calls: 'renew', replyMs: 1_500 });
    const late = watched(lease.renew());
    await site.pass(1_500);
    expect(late.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(lease.remainingMs()).toBe(TTL - 1_005 - 1_500);
  });

  test('by hand beside the automatic: the next automatic one is counted from it', async () => {
    const { site, lease } = await holding();
    await site.pass(5_000);
    await lease.renew();
    await site.pass(4_500);
    expect(site.store.count('renew')).toBe(1);
    await site.pass(1_500);
    expect(site.store.count('renew')).toBe(2);
  });
});

describe('A6: release', () => {
  test('one call, the record as it ended, and free for the next', async () => {
    const { site, lease } = await holding();
    const released = await lease.release();
    expect(released).toMatchObject({ outcome: 'released', record: { id: lease.id, status: 'released' } });
    expect(released.record?.endedAt).toBe(new Date(site.clock.wall()).toISOString());
    expect(site.store.calls.map(({ call }) => call)).toEqual(['end']);
    expect([lease.isHeld, lease.signal.aborted, site.leases.held()]).toEqual([false, false, []]);
    expect(await lease.release()).toBe(released);
    expect(site.types().filter((type) => type === 'lease.released')).toHaveLength(1);
  });

  test('never throws for a lease that is gone', async () => {
    const { site, lease } = await holding();
    await revoke(site, lease);
    expect(await lease.release()).toMatchObject({ outcome: 'already_ended', record: { status: 'revoked' } });
    const other = await holding({ renew: 'manual' });
    await other.site.pass(TTL);
    expect(other.lease.signal.aborted).toBe(true);
    expect(await other.lease.release()).toMatchObject({ outcome: 'already_ended', record: { status: 'expired' } });
  });

  test("of one whose end was noticed says how it ended, and nothing of a lease that is another holder's", async () => {
    const { site, lease } = await holding();
    await site.leases.revoke({ leaseId: lease.id, reason: 'r' });
    expect(lease.signal.aborted).toBe(true);
    expect(await lease.release()).toMatchObject({ outcome: 'already_ended', record: { status: 'revoked' } });
    const { lease: delegated } = await holding();
    await delegated.delegate('bob');
    expect(await delegated.release()).toEqual({ outcome: 'superseded' });
  });

  test('S15: takes back a renewal by hand that still stands in the line: it must not leave after the release', async () => {
    const site = await managerSite();
    const terms = { renew: 'manual', ttl: TTL } as const;
    const [first, second] = [await site.leases.acquire('a', terms), await site.leases.acquire('b', terms)];
    site.store.order({ calls: 'renew', requestMs: 90 });
    watched(first.renew());
    await site.pass(0);
    const renewal = watched(second.renew());
    await site.pass(10);
    const released = watched(second.release());
    await site.pass(2_000);
    expect([renewal.now().error, released.now().value?.outcome]).toMatchObject([{ retryable: true }, 'released']);
    const renewed = site.store.calls.flatMap(({ call, asked }) => (call === 'renew' ? asked : [])) as { id: string }[];
    expect(renewed.map(({ id }) => id)).toEqual([first.id]);
  });

  test('S15: of many at once on a slow way, every answer is waited for from when its question left', async () => {
    const site = await managerSite();
    const names = Array.from({ length: 3_000 }, (_, i) => `many/${i}`);
    const leases = await Promise.all(names.map((name) => site.leases.acquire(name, { ttl: 2_000 })));
    site.store.order({ replyMs: 60, times: Infinity });
    const releasing = watched(Promise.all(leases.map((lease) => lease.release())));
    await site.pass(3_000);
    expect(new Set(releasing.now().value?.map(({ outcome }) => outcome))).toEqual(new Set(['released']));
    expect(await site.live()).toEqual([]);
  });

  test('S9: of a lease lost by its deadline only: what is left of it in the store is ended', async () => {
    const { site, lease } = await holding({ renew: 'manual' });
    await site.pass(TTL - 1_000);
    expect([lease.isHeld, (await site.live()).length]).toEqual([false, 1]);
    expect(await lease.release()).toMatchObject({ outcome: 'released' });
    expect(await site.live()).toEqual([]);
  });

  test('superseded by a newer epoch: nothing of it is touched', async () => {
    const { site, lease } = await holding();
    const request = { kind: 'delegate', id: lease.id, epoch: lease.epoch, requestId: 'd', toOwner: 'bob' } as const;
    await site.truth.change([request]);
    expect(await lease.release()).toMatchObject({ outcome: 'superseded' });
    expect(await site.live()).toHaveLength(1);
  });

  test('S15: without an answer it is repeated, under the same request id, also after the caller has been told', async () => {
    const { site, lease } = await holding();
    site.store.order({ fault: 'loseRequest', calls: 'end', times: 3 });
    const released = watched(lease.release());
    await site.pass(2_100);
    expect(released.now().value).toMatchObject({ outcome: 'unknown' });
    expect([lease.isHeld, (await site.live()).length]).toEqual([false, 1]);
    await site.pass(2_500);
    expect(await site.live()).toEqual([]);
    const ids = site.store.calls.filter(({ call }) => call === 'end').flatMap(({ asked }) => asked as EndRequest[]);
    expect(new Set(ids.map(({ requestId }) => requestId)).size).toBe(1);
  });

  test('S9: of a lease that lives longer than its ttl it is repeated for as long as the lease may live', async () => {
    const site = await managerSite({ requestTimeout: '1s' });
    const lease = await site.leases.acquire('x', { ttl: '60s' });
    await lease.renew('10s'); // S4: the 60 s stand
    site.store.order({ fault: 'loseRequest', calls: 'end', times: Infinity });
    const released = watched(lease.release());
    await site.pass(40_000);
    expect(released.now().value).toMatchObject({ outcome: 'unknown' });
    site.store.heal();
    await site.pass(5_000);
    expect(await site.live()).toEqual([]);
  });

  test('S15: a lost reply is found out by the repeat', async () => {
    const { site, lease } = await holding();
    site.store.order({ fault: 'loseReply', calls: 'end' });
    const released = watched(lease.release());
    await site.pass(1_100);
    expect(released.now().value).toMatchObject({ outcome: 'released' });
    const rows = await site.truth.events({ limit: 10, type: 'lease.released' });
    expect(rows).toMatchObject({ rows: { length: 1 } });
  });
});

describe('S15: renewal and release never overlap', () => {
  const callsInFlight = (site: ManagerSite): string[] => site.store.calls.map(({ call }) => call);

  test('a release waits for the renewal by hand that is on its way', async () => {
    const { site, lease } = await holding();
    site.store.order({ calls: 'renew', requestMs: 300 });
    const renewed = watched(lease.renew());
    await site.pass(100);
    const released = watched(lease.release());
    await site.pass(190);
    expect([lease.isHeld, callsInFlight(site)]).toEqual([false, ['renew']]);
    await site.pass(20);
    expect(callsInFlight(site)).toEqual(['renew', 'end']);
    expect(released.now().value).toMatchObject({ outcome: 'released' });
    expect((renewed.now().error as LeaseError).code).toBe('NOT_HELD');
  });

  test('and for the automatic one', async () => {
    const { site, lease } = await holding();
    site.store.order({ calls: 'renew', replyMs: 500 });
    await site.pass(6_000);
    expect(callsInFlight(site)).toEqual(['renew']);
    const before = site.store.calls[0]?.at ?? 0;
    const released = watched(lease.release());
    await site.pass(before + 499 - site.clock.monotonic());
    expect(callsInFlight(site)).toEqual(['renew']);
    await site.pass(10);
    expect(released.now().value).toMatchObject({ outcome: 'released' });
  });

  test('also where one by hand was answered meanwhile', async () => {
    const { site, lease } = await holding();
    site.store.order({ calls: 'renew', replyMs: 500 });
    await site.pass(6_000);
    await Promise.all([lease.renew(), site.pass(200)]);
    const before = site.store.calls[0]?.at ?? 0;
    const released = watched(lease.release());
    await site.pass(before + 499 - site.clock.monotonic());
    expect(callsInFlight(site)).toEqual(['renew', 'renew']);
    await site.pass(10);
    expect(released.now().value).toMatchObject({ outcome: 'released' });
  });

  test('but no longer than a request may take', async () => {
    const { site, lease } = await holding();
    site.store.order({ fault: 'loseRequest', calls: 'renew' });
    await site.pass(6_000);
    const released = watched(lease.release());
    await site.pass(1_000);
    expect(released.now().value).toMatchObject({ outcome: 'released' });
  });

  test('a renewal answered after the release brings nothing back', async () => {
    const { site, lease } = await holding();
    site.store.order({ calls: 'renew', replyMs: 3_000 });
    watched(lease.renew());
    await site.pass(10);
    await Promise.all([lease.release(), site.pass(5_000)]);
    expect([lease.isHeld, site.leases.held(), await site.live()]).toEqual([false, [], []]);
  });
});

test('S15: a no to another copy of a change that was answered already ends the hold', async () => {
  const site = await managerSite();
  const lease = await site.leases.acquire('x', { renew: 'manual', ttl: '30s' });
  site.store.order({ calls: 'change', replyMs: 4_000 });
  site.store.order({ calls: 'change', requestMs: 3_000 });
  const asked = watched(lease.downgrade());
  await site.pass(4_100); // asked again after 3 s; then the first copy is answered
  expect(asked.now().error).toBeUndefined();
  expect([site.store.count('change'), lease.isHeld, lease.parts[0]?.mode]).toEqual([2, true, 'shared']);
  await revoke(site, lease);
  await site.pass(3_000);
  expect(lease.isHeld).toBe(false);
  expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST' });
});
