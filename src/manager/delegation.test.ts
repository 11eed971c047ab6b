// Delegation (A6): the handle is over when it is sent, the document is good for one holder, and nothing forged, old,
// foreign or used is taken for one.
import { describe, expect, test } from 'vitest';
import { managerSite, watched, type ManagerSite, type Member } from '../../test/support/manager-site.js';
import { LeaseError } from '../domain/errors.js';
import type { HeldLease } from './face.js';

const TTL = 10_000;

interface Handed {
  readonly site: ManagerSite;
  readonly bob: Member;
  readonly lease: HeldLease;
  readonly document: string;
}

async function handedOver(options = {}): Promise<Handed> {
  const site = await managerSite();
  const bob = await site.join({ owner: 'bob' });
  const lease = await site.leases.acquire('x', { ttl: TTL, ...options });
  return { site, bob, lease, document: await lease.delegate('bob') };
}

describe('A6: delegate', () => {
  test('the old handle is over, the lease goes on under the other owner', async () => {
    const { site, lease } = await handedOver();
    expect([lease.isHeld, lease.signal.aborted, site.leases.held()]).toEqual([false, false, []]);
    expect(() => lease.throwIfLost()).toThrow(/let go/);
    expect(await site.live()).toMatchObject([{ id: lease.id, owner: 'bob' }]);
    expect(await lease.release()).toMatchObject({ outcome: 'superseded' });
    expect([site.store.count('end'), (await site.live()).length]).toEqual([0, 1]);
    expect(site.types()).toEqual(['lease.acquired', 'lease.delegated']);
    await expect(lease.delegate('carol')).rejects.toMatchObject({ code: 'NOT_HELD' });
  });

  test('to oneself, or to nobody, is refused and changes nothing', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x');
    await expect(lease.delegate('alice')).rejects.toThrow(/delegate to another owner than alice/);
    await expect(lease.delegate('')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(lease.delegate(7 as unknown as string)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect([lease.isHeld, site.store.count('change')]).toEqual([true, 0]);
  });

  test('from the moment it is sent the handle is over, also when no answer comes', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: TTL });
    site.store.order({ fault: 'loseReply', calls: 'change', times: Infinity });
    const document = watched(lease.delegate('bob'));
    await site.pass(0);
    expect([lease.isHeld, document.now().state]).toEqual([false, 'open']);
    await site.pass(TTL);
    expect(document.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(site.store.count('renew')).toBe(0);
  });

  test('S9: refused, or unknown to the end: release() asks, and nobody is kept out for the rest of the ttl', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { renew: 'manual', ttl: '1h' });
    site.store.order({ fault: 'failAfter', calls: 'change', times: Infinity });
    const unknown = watched(lease.delegate('bob'));
    await site.pass(3_600_000);
    expect(unknown.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    site.store.heal();
    expect(await lease.release()).toMatchObject({ outcome: 'superseded' });
    const other = await site.leases.acquire('y', { renew: 'manual', ttl: '1h' });
    site.store.order({ fault: 'fail', calls: 'change', error: new LeaseError('UNAUTHORIZED', 'no') });
    await expect(other.delegate('bob')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(await other.release()).toMatchObject({ outcome: 'released' });
    expect((await site.live()).filter(({ parts }) => parts[0]?.name === 'y')).toEqual([]);
  });

  test('S15: repeated under one request id: one delegation, one epoch', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: TTL });
    site.store.order({ fault: 'loseReply', calls: 'change' }).order({ fault: 'failAfter', calls: 'change' });
    const document = watched(lease.delegate('bob'));
    await site.pass(2_000);
    const { epoch } = JSON.parse(document.now().value ?? '{}') as { epoch: number };
    expect((await site.live())[0]?.epoch).toBe(epoch);
    expect(await site.truth.events({ limit: 10, type: 'lease.delegated' })).toMatchObject({ rows: { length: 1 } });
  });

  test('of a lease that is gone: its loss', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: TTL });
    const order = { target: { leaseId: lease.id }, reason: 'r', actor: 'a', keepOutMs: 0, upToEpoch: lease.epoch };
    await site.truth.revoke(order);
    await expect(lease.delegate('bob')).rejects.toMatchObject({ code: 'LEASE_LOST', details: { how: 'revoked' } });
  });

  test('S15: waits for a renewal on its way, so that the two do not cross', async () => {
    const site = await managerSite();
    const lease = await site.leases.acquire('x', { ttl: TTL });
    site.store.order({ calls: 'renew', replyMs: 200 });
    watched(lease.renew());
    await site.pass(50);
    const document = watched(lease.delegate('bob'));
    await site.pass(100);
    expect(site.store.count('change')).toBe(0);
    await site.pass(100);
    expect(document.now().state).toBe('done');
  });
});

describe('A6: resume', () => {
  test('takes it over with a new epoch, in one call, and looks after it like any other', async () => {
    const { site, bob, lease, document } = await handedOver();
    bob.store.forgetCalls();
    const taken = await bob.leases.resume(document);
    expect(bob.store.calls.map(({ call }) => call)).toEqual(['change']);
    expect(taken).toMatchObject({ id: lease.id, owner: 'bob', isHeld: true, resources: ['x'] });
    expect(taken.epoch).toBeGreaterThan((JSON.parse(document) as { epoch: number }).epoch);
    expect([bob.leases.held().length, bob.types()]).toEqual([1, ['lease.delegated']]);
    await site.pass(3 * TTL);
    expect(taken.isHeld).toBe(true);
    expect(await taken.release()).toMatchObject({ outcome: 'released' });
  });

  test('S14: with little left it is renewed at once', async () => {
    const { site, bob, document } = await handedOver();
    await site.pass(7_500);
    const taken = await bob.leases.resume(document);
    await site.pass(10);
    expect([bob.store.count('renew'), taken.remainingMs() > 8_900]).toEqual([1, true]);
  });

  test('the object is as good as its text, and a manual lease stays manual', async () => {
    const { site, bob, document } = await handedOver({ renew: 'manual' });
    const taken = await bob.leases.resume(JSON.parse(document));
    await site.pass(TTL);
    expect([bob.store.count('renew'), taken.signal.aborted]).toEqual([0, true]);
  });

  test('S15: an unknown answer is asked for again under one request id', async () => {
    const { site, bob, document } = await handedOver();
    bob.store.order({ fault: 'loseReply', calls: 'change' });
    const taken = watched(bob.leases.resume(document));
    await site.pass(1_500);
    expect(taken.now().value?.isHeld).toBe(true);
    expect(await site.truth.events({ limit: 10, type: 'lease.delegated' })).toMatchObject({ rows: { length: 2 } });
  });

  test('a store that stays away is an error, in bounded time', async () => {
    const { site, bob, document } = await handedOver();
    bob.store.order({ fault: 'loseRequest', calls: 'change', times: Infinity });
    const taken = watched(bob.leases.resume(document));
    await site.pass(5_000);
    expect(taken.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  test('S15: no answer to any of its questions: whoever asks again gets the lease that was taken over', async () => {
    const { site, bob, document } = await handedOver();
    bob.store.order({ fault: 'loseReply', calls: 'change', times: 3 });
    const unknown = watched(bob.leases.resume(document));
    await site.pass(5_000);
    expect(unknown.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect(await site.live()).toMatchObject([{ owner: 'bob' }]);
    const taken = await bob.leases.resume(document);
    expect([taken.isHeld, bob.leases.held()]).toEqual([true, [taken]]);
    expect(await site.truth.events({ limit: 10, type: 'lease.delegated' })).toMatchObject({ rows: { length: 2 } });
    await expect(bob.leases.resume(document)).rejects.toMatchObject({ code: 'STALE_EPOCH' });
    await site.pass(2 * TTL);
    expect(taken.isHeld).toBe(true);
  });

  test('S15: two who resume one document at once: one of them gets it', async () => {
    const { site, bob, document } = await handedOver();
    const both = Promise.allSettled([bob.leases.resume(document), bob.leases.resume(document)]);
    await site.pass(10);
    expect((await both).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(bob.leases.held()).toHaveLength(1);
  });

  test('S15: two at once, and no answer to either: whoever asks again gets the lease', async () => {
    const { site, bob, document } = await handedOver();
    bob.store.order({ fault: 'loseReply', calls: 'change', times: 6 });
    const both = [watched(bob.leases.resume(document)), watched(bob.leases.resume(document))];
    await site.pass(8_000);
    expect(both.map((one) => one.now().error)).toMatchObject([{ retryable: true }, { retryable: true }]);
    expect((await bob.leases.resume(document)).isHeld).toBe(true);
  });

  test('S7: taken over too late to be trusted: released, and not held', async () => {
    const { site, bob, document } = await handedOver({ ttl: '2s', renew: 'manual' });
    await site.pass(1_700);
    bob.store.order({ calls: 'change', replyMs: 150 });
    const taken = watched(bob.leases.resume(document));
    await site.pass(200);
    expect(taken.now().error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await site.pass(10);
    expect([bob.leases.held(), await site.live()]).toEqual([[], []]);
  });

  test('used twice, or overtaken: STALE_EPOCH with both epochs', async () => {
    const { bob, document } = await handedOver();
    const taken = await bob.leases.resume(document);
    const { epoch: attempted } = JSON.parse(document) as { epoch: number };
    await expect(bob.leases.resume(document)).rejects.toMatchObject({
      code: 'STALE_EPOCH',
      details: { current: taken.epoch, attempted },
    });
    expect(taken.isHeld).toBe(true);
  });

  test('old: the lease has lapsed or was released meanwhile', async () => {
    const { site, bob, document } = await handedOver();
    await site.pass(TTL);
    await expect(bob.leases.resume(document)).rejects.toMatchObject({
      code: 'NOT_HELD',
      details: { status: 'expired' },
    });
  });

  test('foreign: another namespace is named, another store does not know it', async () => {
    const { document } = await handedOver();
    const elsewhere = await managerSite({ namespace: 'other' });
    await expect(elsewhere.leases.resume(document)).rejects.toThrow(
      /belongs to namespace default: connect with \{ namespace: 'default' \}/,
    );
    const stranger = await managerSite();
    await expect(stranger.leases.resume(document)).rejects.toMatchObject({
      code: 'NOT_HELD',
      details: { status: 'unknown' },
    });
  });

  test('after a shutdown nothing is resumed', async () => {
    const { bob, document } = await handedOver();
    await bob.leases.shutdown();
    await expect(bob.leases.resume(document)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  test.each<[string, (good: Record<string, unknown>) => unknown]>([
    ['no JSON', () => 'nonsense {'],
    ['nothing', () => undefined],
    ['null', () => null],
    ['a number', () => 7],
    ['another format', (good) => ({ ...good, format: 'lease-9' })],
    ['no id', ({ id: _, ...rest }) => rest],
    ['an id of another shape', (good) => ({ ...good, id: '../x' })],
    ['an epoch that is none', (good) => ({ ...good, epoch: '7' })],
    ['no owner', ({ owner: _, ...rest }) => rest],
    ['no resources', ({ resources: _, ...rest }) => rest],
    ['resources that are none', (good) => ({ ...good, resources: [7] })],
    ['a ttl that is none', (good) => ({ ...good, ttlMs: -1 })],
    ['a ttl beyond the limit', (good) => ({ ...good, ttlMs: Number.MAX_SAFE_INTEGER })],
    ['a renewal nobody knows', (good) => ({ ...good, renew: 'always' })],
    ['the record of a lease', () => ({ id: 'lease-0123456789', epoch: 1, owner: 'x' })],
  ])('forged: %s', async (_, forge) => {
    const { bob, document } = await handedOver();
    bob.store.forgetCalls();
    const forged = forge(JSON.parse(document) as Record<string, unknown>);
    await expect(bob.leases.resume(forged)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(bob.store.count()).toBe(0);
  });

  test('forged: a guessed epoch is stale', async () => {
    const { bob, document } = await handedOver();
    const good = JSON.parse(document) as { epoch: number };
    await expect(bob.leases.resume({ ...good, epoch: good.epoch + 5 })).rejects.toMatchObject({ code: 'STALE_EPOCH' });
  });
});
