// The one class for failures: its codes, which of them may go better next time, and how messages show a value.
import { describe, expect, test } from 'vitest';
import { AWKWARD } from '../../test/support/awkward-values.js';
import { invalid, LeaseError, shown, type LeaseErrorCode } from './errors.js';

const RETRYABLE: { readonly [C in LeaseErrorCode]: boolean } = {
  INVALID_ARGUMENT: false,
  ACQUIRE_TIMEOUT: true,
  ACQUIRE_ABORTED: false,
  LEASE_LOST: false,
  STALE_EPOCH: false,
  NOT_HELD: false,
  MAX_RENEWALS: false,
  MAX_HOLD: false,
  DEADLOCK: true,
  STORE_UNAVAILABLE: true,
  STORE_INCOMPATIBLE: false,
  UNAUTHORIZED: false,
  FORBIDDEN: false,
  RATE_LIMITED: true,
  SHUTTING_DOWN: false,
  SEQUENCE_SETTLED: false,
};

test.each(Object.entries(RETRYABLE) as [LeaseErrorCode, boolean][])('A11: %s, retryable: %s', (code, retryable) => {
  const error = new LeaseError(code, 'what happened');
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: 'LeaseError', code, retryable, message: 'what happened', details: {} });
  expect(Object.hasOwn(error, 'cause')).toBe(false);
});

test('A11: details and cause are kept, and one error may know better than its code', () => {
  const cause = new Error('driver');
  const error = new LeaseError('STALE_EPOCH', 'stale', {
    details: { current: 42, attempted: 41 },
    cause,
    retryable: true,
  });
  expect(error.details).toEqual({ current: 42, attempted: 41 });
  expect(error.cause).toBe(cause);
  expect(error.retryable).toBe(true);
  expect(new LeaseError('STORE_UNAVAILABLE', 'gone for good', { retryable: false }).retryable).toBe(false);
});

test('A11: invalid() is an INVALID_ARGUMENT', () => {
  expect(invalid('no')).toMatchObject({ code: 'INVALID_ARGUMENT', message: 'no', details: {}, retryable: false });
  expect(invalid('no', { bytes: 5 }).details).toEqual({ bytes: 5 });
});

describe('a value in a message', () => {
  test.each<[unknown, string]>([
    ['', '""'],
    ['30s', '"30s"'],
    ['a "b"\n', '"a \\"b\\"\\n"'],
    ['x'.repeat(80), `"${'x'.repeat(80)}"`],
    ['x'.repeat(81), `"${'x'.repeat(77)}..."`],
    ['x'.repeat(1_000_000), `"${'x'.repeat(77)}..."`],
    [0, '0'],
    [-1.5, '-1.5'],
    [NaN, 'NaN'],
    [true, 'true'],
    [null, 'null'],
    [undefined, 'undefined'],
    [Symbol('s'), 'Symbol(s)'],
    [{ a: 1 }, 'an object'],
    [new Date(NaN), 'an object'],
    [[1, 2], 'an array'],
    [() => 1, 'a function'],
  ])('%#: is text in quotes, cut at 80, or a word for what it is', (value, shownAs) => {
    expect(shown(value)).toBe(shownAs);
  });

  test.each(AWKWARD)('%s does not make it throw', (_what, value, shownAs) => {
    expect(shown(value)).toBe(shownAs);
  });
});
