// The held lease by itself: how long it may be trusted (S7), how it ends, and what its holder is told. The keeper that
// acts for it is a stand-in here.
import { beforeEach, describe, expect, test } from 'vitest';
import { leaseRow } from '../../test/support/domain-values.js';
import { LeaseError } from '../domain/errors.js';
import { leaseAt } from '../domain/lease.js';
import { FakeClock } from '../testing/fake-clock.js';
import { Hold } from './held-lease.js';
import type { Keeper } from './keeper.js';
import type { HoldTerms } from './plan.js';

const TTL = 10_000;
const MARGIN = 1_005;
const TERMS: HoldTerms = { isAuto: true, renewAt: 0.6, requestTimeoutMs: 1_000 };

let clock: FakeClock;
let told: string[];
let renewAnswer: () => Promise<never>;

function keeper(): Keeper {
  const note = (what: string) => (): void => void told.push(what);
  const never = (what: string) => async (): Promise<never> => {
    told.push(what);
    return Promise.reject(new Error(what));
  };
  return {
    clock,
    lost: note('lost'),
    left: note('left'),
    askNow: note('askNow'),
    lookAgain: note('lookAgain'),
    renew: () => renewAnswer(),
    release: async () => {
      told.push('release');
      return { outcome: 'released' };
    },
    delegate: never('delegate'),
    upgrade: never('upgrade'),
    downgrade: never('downgrade'),
    acquireMore: never('acquireMore'),
  };
}

function hold(terms: Partial<HoldTerms> = {}, remainingMs = TTL, sentAgoMs = 0): Hold {
  const lease = leaseAt(leaseRow({ ttlMs: TTL, expiresAt: clock.wall() + TTL, epoch: 41 }), clock.wall());
  const sent = { sentAt: clock.monotonic() - sentAgoMs, sentWall: clock.wall() - sentAgoMs };
  return new Hold(keeper(), lease, { ...TERMS, ...terms }, { ...sent, remainingMs });
}
const failWith = (error: LeaseError) => () => Promise.reject(error);

beforeEach(() => {
  clock = new FakeClock();
  told = [];
  renewAnswer = failWith(new LeaseError('STORE_UNAVAILABLE', 'away'));
});

describe('S7: the trust window', () => {
  test('deadline = send time + what remained − margin, on the monotonic clock', async () => {
    const lease = hold({}, 8_000, 300);
    expect(lease.remainingMs()).toBe(8_000 - 300 - MARGIN);
    await clock.advance(8_000 - 300 - MARGIN - 1);
    expect([lease.isHeld, lease.remainingMs()]).toEqual([true, 1]);
    await clock.advance(1);
    expect([lease.isHeld, lease.remainingMs()]).toEqual([false, 0]);
  });

  test('isHeld and throwIfLost compare the clock at the call: no timer has to have run', async () => {
    const lease = hold();
    lease.throwIfLost();
    await clock.advance(TTL);
    expect(lease.isHeld).toBe(false);
    expect(() => lease.throwIfLost()).toThrow(/Lost lease for orders\/0 \(expired at/);
    expect(told).toEqual([]);
    expect(lease.state).toBe('held');
  });

  test('an answer moves the deadline by its own send time; one that was sent earlier and came late says nothing', async () => {
    const lease = hold();
    await clock.advance(5_000);
    const now = clock.monotonic();
    lease.confirm({ sentAt: now, sentWall: clock.wall(), remainingMs: TTL }, { renewals: 1 });
    expect(lease.remainingMs()).toBe(TTL - MARGIN);
    lease.confirm({ sentAt: now - 100, sentWall: clock.wall() - 100, remainingMs: 50 }, {});
    expect(lease.remainingMs()).toBe(TTL - MARGIN);
    lease.confirm(undefined, { epoch: 42 });
    expect([lease.epoch, lease.remainingMs()]).toEqual([42, TTL - MARGIN]);
  });

  test('in doubt when wall time ran ahead by more than the margin without drift: not held, and the keeper asks', () => {
    const lease = hold();
    clock.stepWall(TTL * 0.1);
    expect(lease.isHeld).toBe(true);
    clock.stepWall(1);
    expect([lease.isHeld, lease.remainingMs()]).toEqual([false, 0]);
    expect(told).toEqual(['askNow', 'askNow']);
    try {
      lease.throwIfLost();
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: 'LEASE_LOST', retryable: true, details: { inDoubt: true } });
    }
    lease.confirm({ sentAt: clock.monotonic(), sentWall: clock.wall(), remainingMs: 4_000 }, {});
    expect([lease.isHeld, lease.remainingMs()]).toEqual([true, 4_000 - MARGIN]);
  });

  test('a wall clock that is set back is no suspend', () => {
    const lease = hold();
    clock.stepWall(-3_600_000);
    expect([lease.isHeld, told]).toEqual([true, []]);
  });
});

describe('S12: how it ends', () => {
  test('lost: the signal aborts once with the reason, the keeper is told before, nothing brings it back', () => {
    const lease = hold();
    const { signal } = lease;
    const seen: unknown[] = [];
    signal.addEventListener('abort', () => seen.push(signal.reason, [...told]));
    const reason = new LeaseError('LEASE_LOST', 'gone');
    lease.lose(reason);
    lease.lose(new LeaseError('LEASE_LOST', 'again'));
    lease.leave();
    expect(seen).toEqual([reason, ['lost']]);
    expect([lease.state, lease.isHeld, lease.lossReason]).toEqual(['lost', false, reason]);
    lease.confirm({ sentAt: clock.monotonic(), sentWall: clock.wall(), remainingMs: TTL }, {});
    expect(lease.isHeld).toBe(false);
    expect(() => lease.throwIfLost()).toThrow(reason);
  });

  test('a signal that is asked for after the loss is aborted already', () => {
    const lease = hold();
    const reason = new LeaseError('LEASE_LOST', 'gone');
    lease.lose(reason);
    expect([lease.signal.aborted, lease.signal.reason]).toEqual([true, reason]);
  });

  test('let go: the signal stays quiet, and the handle says whose will it was', () => {
    const lease = hold();
    const { signal } = lease;
    lease.leave();
    lease.leave();
    expect(told).toEqual(['left']);
    expect([signal.aborted, lease.isHeld, lease.state]).toEqual([false, false, 'left']);
    expect(() => lease.throwIfLost()).toThrow(/was let go by this process/);
    lease.lose(new LeaseError('LEASE_LOST', 'late'));
    expect(signal.aborted).toBe(false);
  });

  test('A9: taken away by a shutdown: let go, and the work is told by its signal', () => {
    const lease = hold();
    const { signal } = lease;
    const reason = new LeaseError('SHUTTING_DOWN', 'closing');
    lease.dismiss(reason);
    expect([signal.reason, lease.state, told]).toEqual([reason, 'left', ['left']]);
    expect(() => lease.throwIfLost()).toThrow(reason);
    lease.dismiss(new LeaseError('SHUTTING_DOWN', 'again'));
    expect(lease.lossReason).toBe(reason);
  });

  test('A5, A6: the loss at the deadline names why nobody renewed', async () => {
    const abandoned = hold();
    abandoned.abandon();
    expect([abandoned.lossByDeadline().details['cause'], told]).toEqual(['abandoned', ['lookAgain']]);
    const bounded = hold();
    bounded.stopCause = 'MAX_HOLD';
    expect(bounded.lossByDeadline().code).toBe('MAX_HOLD');
    const silent = hold({ progressWithinMs: 100 });
    await clock.advance(101);
    expect(silent.lossByDeadline().details['cause']).toBe('no_progress');
    abandoned.leave();
    abandoned.abandon();
    expect(told).toEqual(['lookAgain', 'left']);
  });
});

describe('when renewal is due', () => {
  test('A5: at renewAt of the ttl', () => {
    expect(hold().renewalDue(clock.monotonic())).toBe(clock.monotonic() + 6_000);
    expect(hold({ renewAt: 0.3 }).renewalDue(clock.monotonic())).toBe(clock.monotonic() + 3_000);
    expect(hold({ isAuto: false }).renewalDue(clock.monotonic())).toBe(Infinity);
  });

  test('S14: where less than the ttl is left, as long before the end as ever, so that two attempts fit', () => {
    expect(hold({}, 7_000).renewalDue(clock.monotonic())).toBe(clock.monotonic() + 3_000);
    expect(hold({}, 3_000).renewalDue(clock.monotonic())).toBe(clock.monotonic() - 1_000);
  });

  test('A4: without progress it is never due, and due again at once when progress is told', async () => {
    const lease = hold({ progressWithinMs: 2_000 });
    await clock.advance(2_000);
    lease.progress();
    expect(told).toEqual([]);
    await clock.advance(2_001);
    expect([lease.isOverdue(clock.monotonic()), lease.renewalDue(clock.monotonic())]).toEqual([true, Infinity]);
    lease.progress();
    expect([lease.isOverdue(clock.monotonic()), told]).toEqual([false, ['lookAgain']]);
    lease.leave();
    await clock.advance(3_000);
    lease.progress();
    expect(told).toEqual(['lookAgain', 'left']);
  });
});

describe('A6: its face', () => {
  test('what it is, also as JSON', () => {
    const lease = hold();
    expect(lease).toMatchObject({ id: 'lease-0123456789', resources: ['orders/0'], owner: 'someone', epoch: 41 });
    expect(lease.expiresAt).toBe(new Date(clock.wall() + TTL).toISOString());
    expect(JSON.parse(JSON.stringify(lease))).toMatchObject({ id: lease.id, epoch: 41, status: 'active', ttlMs: TTL });
  });

  test('release is asked for once, however often it is called, and by the end of a block', async () => {
    const lease = hold();
    const [first, second] = [lease.release(), lease.release()];
    expect(first).toBe(second);
    await lease[Symbol.asyncDispose]();
    expect([await first, told]).toEqual([{ outcome: 'released' }, ['release']]);
  });

  test('tryRenew is false when work must stop, and true while the store is only away', async () => {
    const lease = hold();
    expect(await lease.tryRenew()).toBe(true);
    renewAnswer = failWith(new LeaseError('MAX_RENEWALS', 'used up'));
    expect(await lease.tryRenew()).toBe(false);
    renewAnswer = failWith(new LeaseError('INVALID_ARGUMENT', 'ttl'));
    await expect(lease.tryRenew(-1)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    renewAnswer = failWith(new LeaseError('RATE_LIMITED', 'later'));
    expect(await lease.tryRenew()).toBe(true);
    renewAnswer = failWith(new LeaseError('STORE_UNAVAILABLE', 'away'));
    await clock.advance(TTL);
    expect(await lease.tryRenew()).toBe(false);
  });

  test('what its keeper does for it is passed on, and fails as a promise', async () => {
    const lease = hold();
    await expect(lease.delegate('bob')).rejects.toThrow('delegate');
    await expect(lease.upgrade()).rejects.toThrow('upgrade');
    await expect(lease.downgrade()).rejects.toThrow('downgrade');
    await expect(lease.acquire('more')).rejects.toThrow('acquireMore');
  });
});
