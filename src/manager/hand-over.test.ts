// What the manager makes of a lease that somebody else claimed for it (Q1): how long it believes in it (S7), when it is renewed
// for the first time, and what happens when the news is late or lost.
import { describe, expect, test } from 'vitest';
import { managerSite, watched, type ManagerSite, type Watched } from '../../test/support/manager-site.js';
import type { Lease } from '../domain/lease.js';
import { marginMs } from '../domain/trust-window.js';
import type { HandedOver, StoreListener } from '../stores/store.js';
import type { AcquireOptions, HeldLease } from './face.js';

const TTL_MS = 30_000;
const TICKET_MS = 10_000;

interface Waiting {
  readonly site: ManagerSite;
  readonly first: HeldLease;
  readonly second: { now(): Watched<HeldLease> };
  /** The news, whether or not the store's was heard. */
  readonly hear: (lease: HandedOver) => void;
}

/** Somebody waits for what the same process holds, for so long already. */
async function waiting(forMs: number, options: AcquireOptions = {}): Promise<Waiting> {
  const room = await managerSite();
  const listeners: StoreListener[] = [];
  const subscribe = room.truth.subscribe.bind(room.truth);
  room.truth.subscribe = (listener) => (listeners.push(listener), subscribe(listener));
  const site = { ...room, ...(await room.join({ owner: 'bob' })) };
  const hear = (lease: HandedOver): void => {
    site.store.loseWakes(0);
    for (const listener of listeners) listener.handedOver?.(lease);
  };
  const first = await site.leases.acquire('x', { ttl: '10m' });
  const second = watched(site.leases.acquire('x', { wait: 'forever', ...options }));
  await site.pass(forMs);
  site.store.forgetCalls();
  return { site, first, second, hear };
}

function held({ second }: Waiting): HeldLease {
  const { value, error } = second.now();
  if (!value) throw new Error(`it is not held: ${String(error)}`);
  return value;
}
const callsOf = ({ site }: Waiting): string[] => site.store.calls.map(({ call }) => call);
const nextRenewalMs = async ({ site }: Waiting, forMs: number): Promise<number[]> => {
  const from = site.clock.monotonic();
  await site.pass(forMs);
  return site.store.calls.filter(({ call }) => call === 'renew').map(({ at }) => at - from);
};

describe('Q1: a release hands over to the first in line', () => {
  test('who holds it without a call of its own', async () => {
    const one = await waiting(500);
    await one.first.release();
    await one.site.pass(0);
    const lease = held(one);
    expect(callsOf(one)).toEqual(['end']);
    const [record] = await one.site.live('active');
    expect(record).toMatchObject({ id: lease.id, epoch: lease.epoch, renewals: 0, ttlMs: TTL_MS });
    expect(lease.expiresAt).toBe(new Date(record?.expiresAt ?? 0).toISOString());
    expect(lease.epoch).toBe(one.first.epoch + 1);
    expect(one.site.events.filter(({ type }) => type === 'lease.acquired')).toHaveLength(2);
  });

  test('and a whole line is served in order, each with one call', async () => {
    const { site, first } = await waiting(0, { signal: AbortSignal.abort() });
    const order: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      const turn = site.leases.withLease('x', { wait: 'forever' }, async () => void order.push(i));
      watched(turn);
      await site.pass(10);
    }
    site.store.forgetCalls();
    await first.release();
    await site.pass(50);
    expect(order).toEqual([0, 1, 2, 3, 4]);
    expect(site.store.calls.map(({ call }) => call)).toEqual(['end', 'end', 'end', 'end', 'end', 'end']);
    expect(await site.live()).toEqual([]);
  });

  test.each<[string, AcquireOptions]>([
    ['a ttl that a ticket outlives', { ttl: '9s' }],
    ['a ttl that outlives three tickets', { ttl: '31s' }],
    ['nobody who renews', { renew: 'manual', ttl: '30s' }],
  ])('%s: it claims by itself', async (_what, options) => {
    const one = await waiting(500, options);
    await one.first.release();
    await one.site.pass(0);
    expect(held(one).isHeld).toBe(true);
    expect(callsOf(one)).toEqual(['end', 'acquire']);
  });
});

describe('S7: how long it is believed in', () => {
  test('from when the answer was asked for that spoke of the ticket, as long as that lived', async () => {
    const one = await waiting(2_000);
    await one.first.release();
    await one.site.pass(0);
    expect(held(one).remainingMs()).toBe(TICKET_MS - 2_000 - marginMs(TTL_MS));
  });

  test('however late the news', async () => {
    const one = await waiting(500);
    const told: HandedOver[] = [];
    one.site.truth.subscribe({ handedOver: (lease) => told.push(lease) });
    one.site.store.loseWakes(Infinity);
    await one.first.release();
    await one.site.pass(1_000);
    expect(one.second.now().state).toBe('open');
    one.hear(told[0] as HandedOver);
    await one.site.pass(0);
    expect(held(one).remainingMs()).toBe(TICKET_MS - 1_500 - marginMs(TTL_MS));
    one.hear(told[0] as HandedOver);
    expect(one.site.events.filter(({ type }) => type === 'lease.acquired')).toHaveLength(2);
  });

  test('S13: and no longer than the news says, where the clock of the store was set forward meanwhile', async () => {
    const one = await waiting(500);
    one.site.store.loseWakes(Infinity);
    await one.first.release();
    const [lease] = (await one.site.live('active')) as [Lease];
    one.hear({ ...lease, expiresAt: lease.acquiredAt + 6_000 });
    await one.site.pass(0);
    expect(held(one).remainingMs()).toBe(6_000 - marginMs(TTL_MS));
  });

  test('a store that falls silent right then: the signal aborts before anybody else can have it', async () => {
    const one = await waiting(1_000);
    await one.first.release();
    await one.site.pass(0);
    const lease = held(one);
    const { signal } = lease;
    one.site.store.order({ fault: 'loseRequest', times: Infinity });
    const leftMs = lease.remainingMs();
    await one.site.pass(leftMs - 1);
    expect([lease.isHeld, signal.aborted]).toEqual([true, false]);
    await one.site.pass(1);
    expect([lease.isHeld, signal.aborted]).toEqual([false, true]);
    expect(signal.reason).toMatchObject({ code: 'LEASE_LOST' });
    expect((await one.site.live('active')).map(({ id }) => id)).toEqual([lease.id]);
  });

  test('A4: progress counts from when it was handed over', async () => {
    const one = await waiting(2_500, { progressWithin: '2s' });
    await one.first.release();
    expect(await nextRenewalMs(one, 1_500)).toHaveLength(1);
    expect(held(one).isHeld).toBe(true);
  });
});

describe('A5, S14: the first renewal', () => {
  test('leaves soon, and gives the whole ttl', async () => {
    const one = await waiting(2_000);
    await one.first.release();
    await one.site.pass(0);
    const lease = held(one);
    expect(await nextRenewalMs(one, 1_000)).toEqual([100]);
    expect(lease.remainingMs()).toBe(TTL_MS - 900 - marginMs(TTL_MS));
    expect(await nextRenewalMs(one, 12_000)).toHaveLength(1);
    expect(lease.isHeld).toBe(true);
  });

  test('A6: comes before a delegation, and the heir has the ttl', async () => {
    const one = await waiting(2_000);
    await one.first.release();
    await one.site.pass(0);
    const document = await held(one).delegate('carol');
    await one.site.pass(12_000);
    const heir = await one.site.leases.resume(document);
    expect(heir.isHeld).toBe(true);
  });

  test('A6: is the only one of a lease that is abandoned at once: what lapses is its ttl', async () => {
    const one = await waiting(2_000);
    await one.first.release();
    await one.site.pass(0);
    held(one).abandon();
    await one.site.pass(26_000);
    expect(callsOf(one)).toEqual(['end', 'renew']);
    expect(await one.site.live('active')).toHaveLength(1);
    expect(held(one).isHeld).toBe(true);
    await one.site.pass(4_200);
    expect(held(one).signal.reason).toMatchObject({ code: 'LEASE_LOST', details: { cause: 'abandoned' } });
    expect(await one.site.live('active')).toEqual([]);
  });

  test('S15: of which two are tried, also where the first is not answered', async () => {
    const one = await waiting(2_900);
    await one.first.release();
    await one.site.pass(0);
    one.site.store.order({ fault: 'loseReply', calls: 'renew' });
    await one.site.pass(5_000);
    expect(one.site.store.count('renew')).toBe(2);
    expect(held(one).isHeld).toBe(true);
  });

  test('is not made for what was let go before', async () => {
    const one = await waiting(500);
    await one.first.release();
    await one.site.pass(0);
    expect(await held(one).release()).toMatchObject({ outcome: 'released' });
    await one.site.pass(20_000);
    expect(callsOf(one)).toEqual(['end', 'end']);
    expect(await one.site.live()).toEqual([]);
  });
});

describe('Q3: the news does not come', () => {
  test('or comes late: the next refresh finds the lease, and is a claim', async () => {
    const one = await waiting(500);
    one.site.store.loseWakes(Infinity);
    await one.first.release();
    await one.site.pass(2_400);
    expect(one.second.now().state).toBe('open');
    await one.site.pass(200);
    const lease = held(one);
    expect(callsOf(one)).toEqual(['end', 'acquire']);
    expect(lease.remainingMs()).toBeGreaterThan(TTL_MS - marginMs(TTL_MS) - 200);
    expect(await one.site.live('active')).toMatchObject([{ id: lease.id, renewals: 1 }]);
  });

  test('or finds too little left: it asks, which is a claim', async () => {
    const one = await waiting(100);
    one.site.store.order({ fault: 'loseRequest', calls: 'acquire', times: Infinity });
    await one.site.pass(6_700);
    await one.first.release();
    await one.site.pass(0);
    expect(one.second.now().state).toBe('open');
    one.site.store.heal();
    await one.site.pass(3_000);
    expect(held(one).remainingMs()).toBeGreaterThan(TTL_MS - marginMs(TTL_MS) - 3_000);
    expect(await one.site.live('active')).toMatchObject([{ epoch: one.first.epoch + 1, renewals: 1 }]);
  });

  test('S9: and it is cancelled: what it was handed is given back', async () => {
    const controller = new AbortController();
    const one = await waiting(500, { signal: controller.signal });
    one.site.store.loseWakes(Infinity);
    await one.first.release();
    await one.site.pass(100);
    expect(await one.site.live('active')).toHaveLength(1);
    controller.abort();
    await one.site.pass(100);
    expect(one.second.now().error).toMatchObject({ code: 'ACQUIRE_ABORTED' });
    expect(await one.site.live()).toEqual([]);
  });
});
