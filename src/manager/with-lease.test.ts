// withLease (A2): acquire, run, release always; what the work says is never masked, and a result that came after the loss
// is not passed off as one that came before.
import { describe, expect, test } from 'vitest';
import { managerSite, watched, type ManagerSite } from '../../test/support/manager-site.js';
import type { LeaseError } from '../domain/errors.js';
import type { HeldLease } from './face.js';

const TTL = 10_000;

/** Work that ends when it is told to. */
function work<T>(): { fn: (lease: HeldLease) => Promise<T>; end: (value: T) => void; fail: (error: unknown) => void } {
  let end = (_: T): void => undefined;
  let fail = (_: unknown): void => undefined;
  const fn = (): Promise<T> =>
    new Promise((resolve, reject) => {
      end = resolve;
      fail = reject;
    });
  return { fn, end: (value) => end(value), fail: (error) => fail(error) };
}
async function revokeAll({ truth }: ManagerSite): Promise<void> {
  const { epoch } = await truth.time();
  const target = { owner: 'alice' };
  await truth.revoke({ target, reason: 'r', actor: 'a', keepOutMs: 0, upToEpoch: epoch });
}

describe('A2: withLease', () => {
  test('acquires, runs, releases, and answers what the work answered: two calls', async () => {
    const site = await managerSite();
    const seen: boolean[] = [];
    const result = await site.leases.withLease('x', async (lease) => {
      seen.push(lease.isHeld);
      return 7;
    });
    expect([result, seen]).toEqual([7, [true]]);
    expect(site.store.calls.map(({ call }) => call)).toEqual(['acquire', 'end']);
    expect(await site.live()).toEqual([]);
  });

  test('with options, and without', async () => {
    const site = await managerSite();
    const epoch = await site.leases.withLease('x', { ttl: '1m', mode: 'shared' }, async (lease) => {
      expect(lease.toJSON()).toMatchObject({ ttlMs: 60_000, parts: [{ mode: 'shared' }] });
      return lease.epoch;
    });
    expect(epoch).toBeGreaterThan(0);
    await expect(site.leases.withLease('x', {}, undefined as never)).rejects.toThrow(/takes the work as a function/);
    await expect(site.leases.withLease('x', undefined as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(site.leases.withLease('x', { ttl: -1 }, async () => 1)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
  });

  test('an error of the work is never masked: thrown, rejected, no error at all, and with the lease lost', async () => {
    const site = await managerSite();
    const error = new Error('the work failed');
    await expect(site.leases.withLease('x', () => Promise.reject(error))).rejects.toBe(error);
    const throwing = (): never => {
      throw error;
    };
    await expect(site.leases.withLease('x', throwing)).rejects.toBe(error);
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- work may reject with anything
    await expect(site.leases.withLease('x', () => Promise.reject(undefined))).rejects.toBeUndefined();
    const lost = site.leases.withLease('x', async () => {
      await revokeAll(site);
      throw error;
    });
    await expect(lost).rejects.toBe(error);
    expect(await site.live()).toEqual([]);
  });

  test('an error of the work is not masked by a release without an answer either', async () => {
    const site = await managerSite();
    const error = new Error('the work failed');
    site.store.order({ fault: 'loseRequest', calls: 'end', times: 2 });
    const result = watched(site.leases.withLease('x', { ttl: TTL }, () => Promise.reject(error)));
    await site.pass(3_000);
    expect(result.now().error).toBe(error);
  });

  test('lost before the work ended: LEASE_LOST, with the result for the caller to judge', async () => {
    const site = await managerSite();
    const { fn, end } = work<string>();
    const result = watched(site.leases.withLease('x', { ttl: TTL }, fn));
    await site.pass(0);
    site.store.freeze();
    await site.pass(TTL);
    site.store.thaw();
    end('done anyway');
    await site.pass(100);
    expect(result.now().error).toMatchObject({ code: 'LEASE_LOST', details: { result: 'done anyway' } });
    expect((result.now().error as LeaseError).cause).toMatchObject({ code: 'LEASE_LOST', details: { how: 'expired' } });
  });

  test('revoked without a word: found out by the release', async () => {
    const site = await managerSite();
    const result = site.leases.withLease('x', async () => {
      await revokeAll(site);
      return 'result';
    });
    await expect(result).rejects.toMatchObject({ code: 'LEASE_LOST', details: { result: 'result' } });
  });

  test('a loop that stalled past the deadline: the clock is compared, not the timer', async () => {
    const site = await managerSite();
    const result = site.leases.withLease('x', { ttl: TTL }, async () => {
      site.clock.reboot('the same', site.clock.monotonic() + TTL); // time has passed and nothing has run
      return 'late';
    });
    await expect(result).rejects.toMatchObject({ code: 'LEASE_LOST', details: { result: 'late' } });
  });

  test.each(['by its end', 'by a shutdown'])(
    'S12, S15: a loss that is noticed %s before the timer runs is told like any other',
    async (how) => {
      const site = await managerSite();
      let signal: AbortSignal | undefined;
      const result = watched(
        site.leases.withLease('x', { ttl: TTL }, async (lease) => {
          signal = lease.signal;
          site.clock.reboot('the same', site.clock.monotonic() + TTL);
          if (how === 'by a shutdown') await site.leases.shutdown();
        }),
      );
      await site.pass(100);
      const loss = { code: 'LEASE_LOST', details: { how: 'expired' } };
      expect(signal?.reason).toMatchObject(loss);
      expect(result.now().error).toMatchObject({ code: 'LEASE_LOST', cause: loss });
      expect(site.types().filter((type) => type === 'lease.lost')).toHaveLength(1);
    },
  );

  test('S7: a lease that lapsed on the way of its release was held when the work ended', async () => {
    const site = await managerSite({ requestTimeout: '3s' });
    const { fn, end } = work<string>();
    const result = watched(site.leases.withLease('x', { ttl: TTL, renew: 'manual' }, fn));
    await site.pass(8_900);
    site.store.order({ calls: 'end', requestMs: 1_500 });
    end('in time');
    await site.pass(2_000);
    expect(result.now()).toEqual({ state: 'done', value: 'in time' });
  });

  test('S15: a release without an answer is no loss: the work was done in time', async () => {
    const site = await managerSite();
    site.store.order({ fault: 'loseRequest', calls: 'end', times: 3 });
    const result = watched(site.leases.withLease('x', { ttl: TTL }, async () => 'in time'));
    await site.pass(3_000);
    expect(result.now()).toEqual({ state: 'done', value: 'in time' });
  });

  test('work that lets go by itself, once or twice, is nobody’s loss', async () => {
    const site = await managerSite();
    const result = site.leases.withLease('x', async (lease) => {
      await lease.release();
      await lease.release();
      return 'free';
    });
    expect(await result).toBe('free');
    const handed = site.leases.withLease('x', async (lease) => lease.delegate('bob'));
    expect(await handed).toContain('holdfast-lease-1');
    expect(site.store.count('end')).toBe(1);
  });

  test('A9: taken away by a shutdown before the work ended: no success', async () => {
    const site = await managerSite();
    const { fn, end } = work<string>();
    const result = watched(site.leases.withLease('x', fn));
    await site.pass(0);
    await site.leases.shutdown();
    end('too late');
    await site.pass(0);
    expect(result.now().error).toMatchObject({
      code: 'LEASE_LOST',
      details: { result: 'too late' },
      cause: { code: 'SHUTTING_DOWN' },
    });
  });

  test('S15: work that hangs: the signal aborts all the same, and nothing is released over its head', async () => {
    const site = await managerSite();
    let lease: HeldLease | undefined;
    const { fn } = work<undefined>();
    const result = watched(
      site.leases.withLease('x', { ttl: TTL }, (held) => {
        lease = held;
        return fn(held);
      }),
    );
    await site.pass(0);
    site.store.freeze();
    await site.pass(TTL);
    expect([lease?.signal.aborted, result.now().state]).toEqual([true, 'open']);
  });

  test('not acquired: the work never runs', async () => {
    const site = await managerSite();
    await site.leases.acquire('x');
    let ran = 0;
    const refused = site.leases.withLease('x', { wait: 0 }, async () => (ran += 1));
    await expect(refused).rejects.toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    expect(ran).toBe(0);
  });
});
