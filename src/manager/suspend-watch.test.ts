// In doubt (S7): this machine slept, its monotonic clock stood still, the store went on. The store is asked at once; yes
// restores for as long as it says, no is a loss, and without an answer the deadline decides.
import { describe, expect, test } from 'vitest';
import { pass, watched } from '../../test/support/manager-site.js';
import { connect } from '../connect.js';
import type { Holdfast } from '../holdfast.js';
import { MemoryStore } from '../stores/memory/memory-store.js';
import { FakeClock } from '../testing/fake-clock.js';
import { FaultyStore } from '../testing/faulty-store.js';

const TTL = 30_000;
const MARGIN = 3_015;

interface Machine {
  readonly leases: Holdfast;
  readonly store: FaultyStore;
  readonly truth: MemoryStore;
  /** This machine's clock; the store has its own. */
  readonly clock: FakeClock;
  /** Time passes here and at the store. */
  pass(ms: number): Promise<void>;
  /** Time passes at the store only; here the wall clock jumps and monotonic time stands still. */
  sleep(ms: number): Promise<void>;
}

async function machine(): Promise<Machine> {
  const [clock, storeClock] = [new FakeClock(), new FakeClock()];
  const truth = new MemoryStore({ clock: storeClock });
  const store = new FaultyStore(truth, clock);
  const leases = await connect(store, { clock, services: 'off' });
  store.forgetCalls();
  const both = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 20) {
      await storeClock.advance(Math.min(20, left));
      await pass(clock, Math.min(20, left));
    }
  };
  const sleep = async (ms: number): Promise<void> => {
    await storeClock.advance(ms);
    clock.stepWall(ms);
  };
  return { leases, store, truth, clock, pass: both, sleep };
}

describe('S7: in doubt', () => {
  test('the first question after the sleep is answered no, and asks the store; yes restores', async () => {
    const here = await machine();
    const lease = await here.leases.acquire('x', { ttl: TTL });
    await here.pass(5_000);
    here.store.forgetCalls();
    await here.sleep(10_000);
    expect(lease.isHeld).toBe(false);
    expect(() => lease.throwIfLost()).toThrow(/is in doubt: this machine slept/);
    expect(lease.signal.aborted).toBe(false);
    await here.pass(20);
    expect(here.store.calls.map(({ call }) => call)).toEqual(['get']);
    expect(lease.isHeld).toBe(true);
  });

  test('yes restores for as long as the store says, not for as long as was believed before', async () => {
    const here = await machine();
    const lease = await here.leases.acquire('x', { ttl: TTL, renew: 'manual' });
    await here.pass(5_000);
    await here.sleep(10_000);
    expect(lease.isHeld).toBe(false);
    await here.pass(20);
    expect(lease.remainingMs()).toBeLessThanOrEqual(TTL - 15_000 - MARGIN);
    expect(lease.remainingMs()).toBeGreaterThan(TTL - 15_000 - MARGIN - 100);
    await here.pass(TTL - 15_000 - MARGIN);
    expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST', details: { how: 'expired' } });
  });

  test('nobody has to ask: the clocks are compared twice a second while anything is held', async () => {
    const here = await machine();
    const lease = await here.leases.acquire('x', { ttl: TTL });
    await here.sleep(TTL + 1_000);
    const aborted = watched(
      new Promise<unknown>((resolve) => {
        lease.signal.addEventListener('abort', () => resolve(lease.signal.reason));
      }),
    );
    await here.pass(600);
    expect(aborted.now().value).toMatchObject({ code: 'LEASE_LOST', details: { how: 'expired' } });
  });

  test.each([
    ['expired meanwhile', TTL, 'expired'],
    ['revoked meanwhile', 5_000, 'revoked'],
    ['taken over meanwhile', 5_000, 'superseded'],
  ])('no is a loss at once: %s', async (_, sleepMs, how) => {
    const here = await machine();
    const lease = await here.leases.acquire('x', { ttl: TTL });
    const { id, epoch } = lease;
    if (how === 'revoked') {
      await here.truth.revoke({ target: { leaseId: id }, reason: 'r', actor: 'a', keepOutMs: 0, upToEpoch: epoch });
    } else if (how === 'superseded') {
      await here.truth.change([{ kind: 'delegate', id, epoch, requestId: 'd', toOwner: 'bob' }]);
    }
    await here.sleep(sleepMs);
    expect(lease.isHeld).toBe(false);
    await here.pass(20);
    expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST', details: { how } });
  });

  test('without an answer it stays in doubt, is asked about again by itself, and the deadline aborts', async () => {
    const here = await machine();
    const lease = await here.leases.acquire('x', { ttl: TTL, renew: 'manual' });
    await here.sleep(5_000);
    here.store.order({ fault: 'fail', calls: 'get', times: Infinity });
    await here.pass(3_000);
    expect(here.store.count('get')).toBeGreaterThan(3);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([false, false]);
    await here.pass(TTL - MARGIN);
    expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST' });
  });

  test('and is restored by the first answer that comes, without anybody asking', async () => {
    const here = await machine();
    const lease = await here.leases.acquire('x', { ttl: TTL, renew: 'manual' });
    await here.sleep(5_000);
    here.store.order({ fault: 'loseReply', calls: 'get' });
    await here.pass(3_000 + 1_200);
    here.store.forgetCalls();
    expect(lease.isHeld).toBe(true);
    expect(here.store.count()).toBe(0);
  });

  test('a renewal that is answered yes restores it too', async () => {
    const here = await machine();
    const lease = await here.leases.acquire('x', { ttl: TTL });
    await here.pass(16_000);
    await here.sleep(5_000);
    here.store.order({ fault: 'fail', calls: 'get', times: Infinity });
    await here.pass(2_500);
    expect([lease.isHeld, here.store.count('renew')]).toEqual([true, 1]);
  });

  test('A2: work that ends in doubt, with its lease expired meanwhile, did not end in time', async () => {
    const here = await machine();
    const result = here.leases.withLease('x', { ttl: TTL }, async () => {
      await here.sleep(TTL + 1_000);
      return 'result';
    });
    await expect(result).rejects.toMatchObject({ code: 'LEASE_LOST', details: { result: 'result' } });
  });

  test('S21: one question at a time about each, however often it is looked at', async () => {
    const here = await machine();
    const lease = await here.leases.acquire('x', { ttl: TTL });
    await here.sleep(5_000);
    here.store.order({ calls: 'get', replyMs: 200 });
    for (let i = 0; i < 10; i += 1) {
      expect(lease.isHeld).toBe(false);
      await here.pass(10);
    }
    expect(here.store.count('get')).toBe(1);
  });

  test('S21: all that are in doubt are asked about in one call', async () => {
    const here = await machine();
    const held = await Promise.all(Array.from({ length: 300 }, (_, i) => here.leases.acquire(`x/${i}`, { ttl: TTL })));
    here.store.forgetCalls();
    await here.sleep(5_000);
    await here.pass(600);
    expect(here.store.calls.map(({ call, asked }) => `${call} ${asked.length}`)).toEqual(['get 300']);
    expect(held.every((lease) => lease.isHeld)).toBe(true);
  });

  test('a sleep while the grant was on its way: in doubt from the start', async () => {
    const here = await machine();
    here.store.order({ calls: 'acquire', replyMs: 100 });
    const lease = watched(here.leases.acquire('x', { ttl: TTL, renew: 'manual' }));
    await here.pass(50);
    await here.sleep(20_000);
    await here.pass(60);
    await here.pass(20);
    expect(lease.now().value?.remainingMs()).toBeLessThanOrEqual(TTL - 20_000 - MARGIN);
    expect(here.store.count('get')).toBe(1);
  });

  test('Q5: while an upgrade waits, yes restores the lease; another epoch may be its own', async () => {
    const here = await machine();
    const mine = await here.leases.acquire('x', { mode: 'shared', ttl: TTL });
    const theirs = await here.leases.acquire('x', { mode: 'shared', ttl: TTL, owner: 'bob' });
    const upgrade = watched(mine.upgrade({ wait: 'forever' }));
    await here.pass(100);
    await here.sleep(5_000);
    expect(mine.isHeld).toBe(false);
    await here.pass(20);
    expect([mine.isHeld, upgrade.now().state]).toEqual([true, 'open']);
    here.store.order({ calls: 'acquire', replyMs: 2_000, times: Infinity });
    await theirs.release();
    await here.pass(40);
    await here.sleep(5_000);
    expect(mine.isHeld).toBe(false);
    await here.pass(2_600);
    expect([upgrade.now().state, mine.isHeld]).toEqual(['done', true]);
  });

  test('Q5: an answer about the epoch before an upgrade is no word about the one after it', async () => {
    const here = await machine();
    const mine = await here.leases.acquire('x', { mode: 'shared', ttl: TTL });
    const theirs = await here.leases.acquire('x', { mode: 'shared', ttl: TTL, owner: 'bob' });
    const upgrade = watched(mine.upgrade({ wait: 'forever' }));
    await here.pass(100);
    await here.sleep(5_000);
    here.store.order({ calls: 'get', replyMs: 300 });
    expect(mine.isHeld).toBe(false);
    await here.pass(20);
    await theirs.release();
    await here.pass(200);
    expect(upgrade.now().state).toBe('done');
    await here.pass(1_000);
    expect([mine.isHeld, mine.signal.aborted]).toEqual([true, false]);
  });
});

describe('what is no suspend', () => {
  test('a wall clock set back, or forth by less than the margin', async () => {
    const here = await machine();
    const lease = await here.leases.acquire('x', { ttl: TTL });
    here.clock.stepWall(-3_600_000);
    await here.pass(600);
    here.clock.stepWall(3_600_000 + MARGIN - 100);
    await here.pass(600);
    expect([lease.isHeld, here.store.count('get')]).toEqual([true, 0]);
  });

  test('a wall clock set forth by more is asked about, and answered yes', async () => {
    const here = await machine();
    const lease = await here.leases.acquire('x', { ttl: TTL });
    here.clock.stepWall(3_600_000);
    await here.pass(600);
    expect([lease.isHeld, here.store.count('get')]).toEqual([true, 1]);
  });

  test('with nothing held there is nothing to compare, and soon no timer', async () => {
    const here = await machine();
    const lease = await here.leases.acquire('x', { ttl: TTL });
    expect(here.clock.pendingTimers).toBeGreaterThan(0);
    await lease.release();
    await here.pass(500);
    expect(here.clock.pendingTimers).toBe(0);
  });
});
