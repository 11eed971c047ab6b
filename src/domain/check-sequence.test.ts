// What a request about sequences may say, and the words in which the rest is refused.
import { describe, expect, test } from 'vitest';
import {
  checkAppend,
  checkBarrier,
  checkClaim,
  checkCount,
  checkCursor,
  checkFill,
  checkLeaseNumbers,
  checkManual,
  checkNumber,
  checkOperations,
  checkProgress,
  checkRead,
  checkRelease,
  checkSameCount,
  checkSettle,
  checkTrim,
} from './check-sequence.js';
import { LIMITS } from './limits.js';
import type { LeaseNumbers } from './sequence-requests.js';

const lease: LeaseNumbers = { stream: 'orders', operationId: 'op', kind: 'k', ttlMs: 120_000, count: 1, owner: 'o' };
const held = { stream: 'orders', operationId: 'op', epoch: 1 };
const claimed = { stream: 'orders', operationId: 'op', claimEpoch: 1 };
const bad = { code: 'INVALID_ARGUMENT' };

describe('N1: numbers and counts', () => {
  test('N1: a lease names a stream, an operation, a kind, a ttl, a count and an owner', () => {
    expect(() => checkLeaseNumbers(lease)).not.toThrow();
    const wrong: Partial<Record<keyof LeaseNumbers, unknown>>[] = [
      { stream: 'orders/' },
      { stream: 5 },
      { operationId: '' },
      { operationId: 'x'.repeat(LIMITS.reasonBytes + 1) },
      { kind: '' },
      { kind: 'x'.repeat(LIMITS.kindBytes + 1) },
      { ttlMs: 99 },
      { ttlMs: 1.5 },
      { owner: '' },
    ];
    for (const change of wrong)
      expect(() => checkLeaseNumbers({ ...lease, ...change } as LeaseNumbers)).toThrow(expect.objectContaining(bad));
  });

  test.each([0, -1, 1.5, LIMITS.numbersPerLease + 1, Number.NaN, '1', undefined])('N1: no count: %s', (count) => {
    expect(() => checkCount(count)).toThrow(/^count is a whole number from 1 to 1000, got /);
  });

  test.each([0, -1, 2 ** 53, 0.5, '1', null])('N1: no number of a stream: %s', (number) => {
    expect(() => checkNumber(number)).toThrow(/^a number of a stream is a whole number from 1 on, got /);
    expect(() => checkRead({ stream: 's', from: number as number, limit: 1, seal: true, watch: false })).toThrow();
    expect(() => checkBarrier({ stream: 's', number: number as number, watch: false })).toThrow();
    expect(() => checkTrim({ stream: 's', before: number as number, limit: 1 })).toThrow();
  });
});

describe('S18: operations', () => {
  test('the text keeps the order of keys, so that a replay is equal byte for byte', () => {
    expect(checkOperations([{ b: 1, a: 2 }, null])).toBe('[{"b":1,"a":2},null]');
  });
  test.each([
    ['no list', 'x', /one for each number/],
    ['an empty list', [], /one for each number/],
    ['undefined', [undefined], /use null for nothing/],
    ['a function', [() => 1], /only plain JSON/],
    ['NaN', [Number.NaN], /which JSON has not/],
    ['a cycle', [cyclic()], /cyclic/],
    ['one too large', ['x'.repeat(LIMITS.operationBytes)], /at most 262144/],
    ['too many', Array.from({ length: 1_001 }, () => 1), /at most 1000 operations/],
    ['too much together', Array.from({ length: 17 }, () => 'x'.repeat(LIMITS.operationBytes - 2)), /lease fewer/],
  ])('S18: refused: %s', (_what, operations, words) => {
    expect(() => checkOperations(operations)).toThrow(words);
  });
  test('N1: as many operations as numbers', () => {
    expect(() => checkSameCount([1, 2], 2)).not.toThrow();
    expect(() => checkSameCount([1], 2)).toThrow('the lease has 2 numbers, so it takes 2 operations, got 1');
  });
});

test('N5: progress answers the text of what is to be kept', () => {
  expect(checkProgress({ ...held, progress: { what: 'look' } })).toBeUndefined();
  expect(checkProgress({ ...held, progress: { what: 'renew', ttlMs: 100 } })).toBeUndefined();
  expect(checkProgress({ ...held, progress: { what: 'partial', work: { ids: [1] } } })).toBe('{"ids":[1]}');
  expect(checkProgress({ ...held, progress: { what: 'finished', operations: [1] } })).toBe('[1]');
  expect(() => checkProgress({ ...held, progress: { what: 'partial', work: undefined } })).toThrow(/plain JSON/);
  expect(() => checkProgress({ ...held, progress: { what: 'other' } as never })).toThrow(/look, renew, partial/);
  expect(() => checkProgress({ ...held, epoch: 0, progress: { what: 'look' } })).toThrow('not an epoch: 0');
});

test('V1, V2: claims and settlements', () => {
  const claim = { limit: 1, owner: 'r', ttlMs: 300_000, gapsToo: false };
  expect(() => checkClaim(claim)).not.toThrow();
  for (const change of [{ limit: 0 }, { limit: 1_001 }, { owner: '' }, { ttlMs: 3_600_001 }, { stream: '' }])
    expect(() => checkClaim({ ...claim, ...change })).toThrow(expect.objectContaining(bad));
  expect(checkSettle({ ...claimed, settlement: { to: 'move', operations: [1], type: 'partial_work' } })).toBe('[1]');
  expect(checkSettle({ ...claimed, settlement: { to: 'commit' } })).toBeUndefined();
  const wrong: unknown[] = [
    { to: 'nowhere' },
    { to: 'move', operations: [], type: 'partial_work' },
    { to: 'move', operations: [1], type: 'magic' },
    { to: 'gap', reason: '' },
    { to: 'gap', reason: 'x', againAfterMs: -1 },
    { to: 'retry', error: '', afterMs: 1 },
    { to: 'retry', error: 'x', afterMs: -1 },
    { to: 'manual', reason: 'x', error: '' },
  ];
  for (const settlement of wrong)
    expect(() => checkSettle({ ...claimed, settlement: settlement as never })).toThrow(expect.objectContaining(bad));
  expect(() => checkSettle({ ...claimed, claimEpoch: -1, settlement: { to: 'commit' } })).toThrow(/epoch of a claim/);
});

test('N4, N5, V4, V7: the other requests', () => {
  const result = { stream: 's', operationId: 'o', kind: 'k', operations: [1], owner: 'w' };
  expect(checkAppend({ ...result, type: 'spool' })).toBe('[1]');
  expect(() => checkAppend({ ...result, type: 'spool', epoch: 1.5 })).toThrow('not an epoch: 1.5');
  expect(checkFill({ ...result, number: 1 })).toBe('[1]');
  expect(() => checkFill({ ...result, number: 0 })).toThrow(/from 1 on/);
  expect(() => checkRelease({ ...held, reason: '' })).toThrow(/reason/);
  expect(() => checkCursor({ stream: 's', reader: '', act: 'open' })).toThrow(/name of a reader/);
  expect(() => checkCursor({ stream: 's', reader: 'r', act: 'done', number: 0, epoch: 1 })).toThrow(/from 1 on/);
  expect(() => checkCursor({ stream: 's', reader: 'r', act: 'jump' } as never)).toThrow(/opened, moved/);
  expect(() => checkManual({ stream: 's', operationId: 'o', act: 'burn' as never, actor: 'me' })).toThrow(/discarded/);
});

function cyclic(): unknown {
  const value: { self?: unknown } = {};
  value.self = value;
  return value;
}
