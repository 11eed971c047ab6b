// One request on its way to an answer: granted, refused, waiting, and asked again where the answer is unknown (A1, S15).
import { describe, expect, test } from 'vitest';
import { grant } from '../../test/support/ask.js';
import { asked, managerSite, pass, watched } from '../../test/support/manager-site.js';
import { connect } from '../connect.js';
import { LeaseError } from '../domain/errors.js';
import { MemoryStore } from '../stores/memory/memory-store.js';
import { FakeClock } from '../testing/fake-clock.js';
import { FaultyStore } from '../testing/faulty-store.js';

describe('A1: the answer', () => {
  test('granted at once costs one call, and nothing else', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x');
    expect(site.store.calls.map(({ call }) => call)).toEqual(['acquire']);
    expect(lease.toJSON()).toMatchObject({ owner: 'alice', status: 'active', ttlMs: 30_000 });
  });

  test('tryAcquire makes one attempt, and a refusal is a value', async () => {
    const site = await managerSite();
    await grant(site.truth, site.clock, 'x', { owner: 'bob' });
    const answer = await site.leases.tryAcquire('x');
    expect(answer).toMatchObject({ ok: false, refusal: { reason: 'held', holderCount: 1, queueLength: 0 } });
    if (!answer.ok) expect(answer.refusal.holders[0]?.owner).toBe('bob');
    expect(site.store.count()).toBe(1);
    expect(await site.live('pending')).toEqual([]);
    expect(await site.leases.tryAcquire('y')).toMatchObject({ ok: true });
  });

  test('acquire with wait 0 throws what tryAcquire answers', async () => {
    const site = await managerSite();
    await grant(site.truth, site.clock, 'x', { owner: 'bob' });
    await expect(site.leases.acquire('x', { wait: 0 })).rejects.toMatchObject({
      code: 'ACQUIRE_TIMEOUT',
      details: { refusal: { reason: 'held' } },
    });
    expect(site.store.count()).toBe(1);
  });

  test('waits its turn: one call to join, one to claim, woken by the release', async () => {
    const site = await managerSite();
    const first = await site.leases.acquire('x');
    const second = watched(site.leases.acquire('x', { ttl: '5s' })); // shorter than tickets live: it claims by itself
    await site.pass(500);
    expect(await site.live('pending')).toHaveLength(1);
    await first.release();
    await site.pass(0);
    expect(second.now().value?.isHeld).toBe(true);
    expect(site.store.calls.map(({ call }) => call)).toEqual(['acquire', 'acquire', 'end', 'acquire']);
    expect(new Set(asked(site).map(({ id }) => id)).size).toBe(2);
  });

  test('O4: what the reading of changed settings takes is part of the wait', async () => {
    const site = await managerSite();
    await site.leases.acquire('x');
    await site.truth.setSettings({ cascade_threshold: 11 });
    await site.leases.now();
    site.store.order({ calls: 'settings', replyMs: 900 });
    const second = watched(site.leases.acquire('x', { wait: '5s' }));
    await site.pass(4_999);
    expect(second.now().state).toBe('open');
    await site.pass(1);
    expect(second.now().error).toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
  });

  test('not in time: at the end of its wait, with the facts, and out of the queue', async () => {
    const site = await managerSite();
    await site.leases.acquire('x');
    const second = watched(site.leases.acquire('x', { wait: '5s' }));
    await site.pass(4_999);
    expect(second.now().state).toBe('open');
    await site.pass(1);
    expect(second.now().error).toMatchObject({
      code: 'ACQUIRE_TIMEOUT',
      details: { refusal: { reason: 'held', holders: [{ owner: 'alice' }] } },
    });
    expect(await site.live('pending')).toEqual([]);
  });

  test('forever is forever', async () => {
    const site = await managerSite();
    const first = await site.leases.acquire('x');
    const second = watched(site.leases.acquire('x', { wait: 'forever' }));
    await site.pass(200_000);
    expect(second.now().state).toBe('open');
    await first.release();
    await site.pass(0);
    expect(second.now().state).toBe('done');
  });

  test('A7: a ticket that is revoked ends the wait with the reason', async () => {
    const site = await managerSite();
    await site.leases.acquire('x');
    const second = watched(site.leases.acquire('x', { owner: 'bob' }));
    await site.pass(10);
    await site.leases.revoke({ owner: 'bob', reason: 'no more of bob' });
    await site.pass(3_000);
    expect(second.now().error).toMatchObject({
      code: 'ACQUIRE_ABORTED',
      details: { status: 'revoked', reason: 'no more of bob' },
    });
  });
});

describe('S15: an acquire without an answer', () => {
  test.each(['loseRequest', 'loseReply'] as const)('%s: repeated by the same id after the timeout', async (fault) => {
    const site = await managerSite();
    site.store.order({ fault, calls: 'acquire' });
    const lease = watched(site.leases.acquire('x', { ttl: '10s' }));
    await site.pass(1_000);
    expect(lease.now().state).toBe('open');
    await site.pass(50);
    expect(lease.now().state).toBe('done');
    expect(new Set(asked(site).map(({ id }) => id)).size).toBe(1);
    expect(await site.live()).toHaveLength(1);
    expect(lease.now().value?.remainingMs()).toBeLessThanOrEqual(10_000 - 1_005);
  });

  test('an error is tried again after pauses that grow, for as long as the wait lasts', async () => {
    const site = await managerSite();
    const start = site.clock.monotonic();
    site.store.order({ fault: 'fail', calls: 'acquire', times: Infinity });
    const lease = watched(site.leases.acquire('x', { wait: '20s' }));
    await site.pass(20_000);
    expect(lease.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    const times = site.store.calls.filter(({ call }) => call === 'acquire').map(({ at }) => at - start);
    expect(times.slice(0, 6)).toEqual([0, 50, 150, 350, 750, 1_550]);
    expect(Math.max(...times.map((at, i) => at - (times[i - 1] ?? 0)))).toBe(2_000);
  });

  test('A1: who heard of nothing but the store’s troubles is told of them; who was refused before, of both', async () => {
    const site = await managerSite();
    const error = new LeaseError('STORE_UNAVAILABLE', 'the disk that holds the leases is full: free some space');
    await grant(site.truth, site.clock, 'taken', { ttlMs: 600_000 });
    const refused = watched(site.leases.acquire('taken', { wait: '5s' }));
    await site.pass(10);
    site.store.order({ fault: 'fail', calls: 'acquire', times: Infinity, error });
    const free = watched(site.leases.acquire('free', { wait: '1s' }));
    await site.pass(5_000);
    expect(free.now().error).toBe(error);
    expect(refused.now().error).toMatchObject({
      code: 'ACQUIRE_TIMEOUT',
      details: { refusal: { reason: 'held' } },
      cause: error,
    });
  });

  test('an answer in between makes the pauses begin anew', async () => {
    const site = await managerSite();
    await grant(site.truth, site.clock, 'x', { ttlMs: 600_000 });
    site.store.order({ fault: 'fail', calls: 'acquire', times: 4 });
    watched(site.leases.acquire('x', { wait: 'forever' }));
    await site.pass(1_000);
    site.store.forgetCalls();
    site.store.order({ fault: 'fail', calls: 'acquire' });
    await site.pass(3_000);
    const [first, second] = site.store.calls.map(({ at }) => at);
    expect((second ?? 0) - (first ?? 0)).toBe(50);
  });

  test('an error after the effect is found out by the repeat', async () => {
    const site = await managerSite();
    site.store.order({ fault: 'failAfter', calls: 'acquire' });
    const lease = watched(site.leases.acquire('x'));
    await site.pass(50);
    expect(lease.now().value?.isHeld).toBe(true);
    expect(await site.live()).toHaveLength(1);
  });

  test('without a wait it is asked twice, then the error is the answer and the id is ended', async () => {
    const site = await managerSite();
    site.store.order({ fault: 'failAfter', calls: 'acquire', times: 2 });
    const lease = watched(site.leases.tryAcquire('x'));
    await site.pass(100);
    expect(lease.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(site.store.calls.map(({ call }) => call)).toEqual(['acquire', 'acquire', 'end']);
    expect(await site.live()).toEqual([]);
  });

  test('without a wait and without an answer too, in bounded time', async () => {
    const site = await managerSite();
    site.store.order({ fault: 'loseReply', calls: 'acquire', times: 2 });
    const lease = watched(site.leases.tryAcquire('x', { ttl: '10s' }));
    await site.pass(2 * 1_000 + 50);
    expect(lease.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE', details: { timedOut: true } });
    expect(await site.live()).toEqual([]);
  });

  test('the first question is given time to be answered, however short the wait', async () => {
    const site = await managerSite();
    site.store.order({ calls: 'acquire', replyMs: 800 });
    const lease = watched(site.leases.acquire('x', { ttl: '10s', wait: 10 }));
    await site.pass(800);
    expect(lease.now().state).toBe('done');
    site.store.freeze();
    const silent = watched(site.leases.acquire('y', { ttl: '10s', wait: 10 }));
    await site.pass(1_000);
    expect(silent.now().error).toMatchObject({ code: 'ACQUIRE_TIMEOUT', details: {} });
  });

  test('a final error is not asked about twice', async () => {
    const site = await managerSite();
    await site.truth.close();
    await expect(site.leases.acquire('x')).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(site.store.count('acquire')).toBe(1);
  });

  test('S8: a no that is overtaken by a copy of its own question leaves no lease behind', async () => {
    const site = await managerSite();
    const other = await grant(site.truth, site.clock, 'x', { owner: 'bob' });
    site.store.order({ calls: 'acquire', requestMs: 3_500 }); // the first copy arrives after the second was refused
    const answer = watched(site.leases.tryAcquire('x', { ttl: '30s' }));
    await site.pass(3_100);
    expect(answer.now().value).toMatchObject({ ok: false });
    await site.truth.end([{ id: other.id, epoch: other.epoch, requestId: 'e', why: 'released' }]);
    await site.pass(1_000);
    expect(await site.live()).toEqual([]);
  });
});

describe('S8: ids', () => {
  test('an id born by a wrong idea of the store’s time is made anew by what the store says', async () => {
    const clock = new FakeClock();
    const truth = new MemoryStore({ clock: new FakeClock({ wall: clock.wall() + 600_000 }) });
    const store = new FaultyStore(truth, clock);
    const leases = await connect(store, { clock, services: 'off' });
    store.forgetCalls();
    const lease = await leases.acquire('x');
    expect(lease.isHeld).toBe(true);
    const [first, second] = asked({ store });
    expect((second?.bornAt ?? 0) - (first?.bornAt ?? 0)).toBe(600_000);
    expect(store.count()).toBe(2);
    await pass(clock, 0);
  });

  test('S9: of an id made anew no copy is left that the store would take after all, when its clock has come there', async () => {
    const clock = new FakeClock();
    const storeClock = new FakeClock({ wall: clock.wall() - 61_000 });
    const truth = new MemoryStore({ clock: storeClock });
    const store = new FaultyStore(truth, clock);
    const leases = await connect(store, { clock, services: 'off', requestTimeout: '1s' });
    store.order({ calls: 'acquire', requestMs: 3_000 }); // the first copy is under way while the second is too old
    const asking = watched(leases.acquire('x'));
    await pass(clock, 1_050);
    await asking.now().value?.release();
    expect(new Set(asked({ store }).map(({ id }) => id)).size).toBe(2);
    await storeClock.advance(2_000);
    await pass(clock, 2_000);
    expect(store.count('acquire')).toBe(3);
    expect((await truth.list({ limit: 10 })).items).toEqual([]);
  });

  test('Q2: a ticket that died while nothing got through is replaced, at the end of the queue', async () => {
    const site = await managerSite();
    const first = await site.leases.acquire('x', { ttl: '60s' });
    const second = watched(site.leases.acquire('x', { wait: '60s', ttl: '60s' }));
    await site.pass(100);
    site.store.order({ fault: 'loseRequest', calls: 'acquire', times: Infinity });
    await site.pass(13_000);
    site.store.heal();
    await site.pass(3_000);
    expect(site.types()).toEqual(['lease.acquired', 'lease.queued', 'lease.failed', 'lease.queued']);
    expect(site.events[2]).toMatchObject({ reason: 'died' });
    await first.release();
    await site.pass(0);
    expect(second.now().value?.isHeld).toBe(true);
    expect(await site.live()).toHaveLength(1);
  });
});
