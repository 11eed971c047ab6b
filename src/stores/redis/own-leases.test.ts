// What a store remembers of its own grants: bounded, taken once, forgotten by whoever touches the lease.
import { describe, expect, test } from 'vitest';
import { OwnLeases, sharedFigures, type OwnLease } from './own-leases.js';

const shared = sharedFigures({ acquiredAt: 1_000, expiresAt: 31_000 }, undefined);
const lease = (i: number): OwnLease => ({ id: `id-${i}`, owner: 'o', name: 'n', epoch: i, shared });

describe('leases this store was granted', () => {
  test('S5: are believed once, for the epoch they were granted at', () => {
    const own = new OwnLeases();
    own.remember(lease(1));
    own.remember(lease(2));
    expect(own.take('id-1', 1)).toEqual(lease(1));
    expect(own.take('id-1', 1)).toBeUndefined();
    expect(own.take('id-2', 3)).toBeUndefined();
    expect(own.take('id-2', 2)).toBeUndefined();
  });

  test('S5: are not believed any more when something is done to them', () => {
    const own = new OwnLeases();
    own.remember(lease(1));
    own.forget([null as never, { id: 7 }, { id: 'id-1' }]);
    expect(own.take('id-1', 1)).toBeUndefined();
  });

  test('S4, S5: are believed to live as long as the renewal said that was answered, and as nothing while none is', () => {
    const own = new OwnLeases();
    own.remember(lease(1));
    own.remember(lease(2));
    own.remember(lease(3));
    const renewed = own.beingRenewed([{ id: 'id-1' }, null as never, { id: 'id-2' }, { id: 'id-9' }]);
    expect(own.take('id-1', 1)).toBeUndefined();
    const outcome = 'renewed';
    renewed([{ outcome, expiresAt: 41_000 }, { outcome: 'failed' }, { outcome: 'notHeld' }, { outcome, expiresAt: 1 }]);
    expect(own.take('id-1', 1)?.shared).toEqual({ acquiredAt: 1_000, expiresAt: 41_000, times: '41000 1000' });
    expect([own.take('id-2', 2), own.take('id-9', 9)]).toEqual([undefined, undefined]);
    expect(own.take('id-3', 3)).toEqual(lease(3));
  });

  test('S18: are bounded, and the oldest are forgotten first', () => {
    const own = new OwnLeases();
    for (let i = 0; i < 10_010; i += 1) own.remember(lease(i));
    expect(own.take('id-9', 9)).toBeUndefined();
    expect(own.take('id-10', 10)).toEqual(lease(10));
    expect(own.take('id-10009', 10_009)).toEqual(lease(10_009));
  });

  test('share their figures where they have the same', () => {
    expect(shared.times).toBe('31000 1000');
    expect(sharedFigures(shared, shared)).toBe(shared);
    expect(sharedFigures({ acquiredAt: 1_000, expiresAt: 6_000 }, shared).times).toBe('6000 1000');
  });
});
