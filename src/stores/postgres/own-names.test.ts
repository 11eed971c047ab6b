// What is remembered for a release, and what is not.
import { describe, expect, test } from 'vitest';
import { acquireRequest, exclusive } from '../../../test/support/domain-values.js';
import type { AcquireResult } from '../store.js';
import { checkedAcquire } from './encode-acquire.js';
import { OwnNames } from './own-names.js';

const id = (i: number) => `lease-${String(i).padStart(12, '0')}`;
const asked = (i: number, name: string) => checkedAcquire(acquireRequest({ id: id(i), parts: [exclusive(name)] }));
const end = (...ids: readonly number[]) =>
  ids.map((i) => ({ id: id(i), epoch: 1, requestId: 'r', why: 'released' as const }));
const granted = { outcome: 'granted' } as AcquireResult;
const refused = { outcome: 'refused' } as AcquireResult;

describe('the names of leases a store was granted itself', () => {
  test('are known once, in the order of the list that is ended', () => {
    const own = new OwnNames();
    own.remember([asked(1, 'a'), asked(2, 'b')], [granted, granted]);
    expect(own.take(end(2, 1))).toEqual(['b', 'a']);
    expect(own.take(end(2, 1))).toBeUndefined();
  });

  test('are not said of a list in which one is unknown, was refused, or comes twice', () => {
    const own = new OwnNames();
    own.remember([asked(1, 'a'), asked(2, 'b'), asked(3, 'c')], [granted, refused, granted]);
    expect(own.take(end(1, 2))).toBeUndefined();
    expect(own.take(end(3, 3))).toBeUndefined();
    expect(own.take([])).toBeUndefined();
  });

  test('are bounded: the oldest are forgotten first', () => {
    const own = new OwnNames();
    for (let i = 0; i < 10_001; i += 1) own.remember([asked(i, 'a')], [granted]);
    expect(own.take(end(0))).toBeUndefined();
    expect(own.take(end(1))).toEqual(['a']);
  });
});
