// Ids: their shape, and that text order is birth order.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AWKWARD } from '../../test/support/awkward-values.js';
import { invalidMessage } from '../../test/support/invalid-message.js';
import { FakeClock } from '../testing/fake-clock.js';
import { checkId, ID_TIME_DIGITS, makeId, timeDigits } from './ids.js';

test('the time of birth is nine digits of base 36', () => {
  expect(timeDigits(0)).toBe('000000000');
  expect(timeDigits(35.9)).toBe('00000000z');
  expect(timeDigits(-5)).toBe('000000000');
  expect(Number.parseInt(timeDigits(Date.UTC(2026, 0, 1)), 36)).toBe(Date.UTC(2026, 0, 1));
});

test('text order of ids is order of birth', () => {
  const ms = fc.oneof(fc.nat(100), fc.nat(36 ** 9 - 1));
  fc.assert(
    fc.property(
      ms,
      ms,
      fc.stringMatching(/^[A-Za-z0-9_-]{20}$/),
      fc.stringMatching(/^[A-Za-z0-9_-]{20}$/),
      (a, b, x, y) => {
        expect(timeDigits(a)).toHaveLength(ID_TIME_DIGITS);
        if (a !== b) expect(makeId(a, x) < makeId(b, y)).toBe(a < b);
      },
    ),
    { numRuns: 500 },
  );
});

test('S8: what a clock and makeId make passes the check', () => {
  const clock = new FakeClock();
  const ids = Array.from({ length: 1_000 }, () => makeId(clock.wall(), clock.randomText()));
  for (const id of ids) expect(checkId(id)).toBe(id);
  expect(new Set(ids).size).toBe(ids.length);
});

describe('S8: the shape of an id', () => {
  const REFUSAL = 'an id is 16 to 64 characters out of A-Z a-z 0-9 _ -: make it with makeId()';

  test.each(['x'.repeat(16), 'x'.repeat(64), 'Az09_-Az09_-Az09'])('%s passes', (id) => {
    expect(checkId(id)).toBe(id);
  });

  test.each([
    '',
    'x'.repeat(15),
    'x'.repeat(65),
    'x'.repeat(1_000_000),
    `${'x'.repeat(16)}\n`,
    'x'.repeat(16) + ' ',
    'x'.repeat(16) + '/',
    'é'.repeat(16),
    '\u0000'.repeat(16),
    undefined,
    null,
    1_234_567_890_123_456,
    ['x'.repeat(16)],
    {},
  ])('%j is refused', (id) => {
    expect(invalidMessage(() => checkId(id))).toBe(REFUSAL);
  });

  test.each(AWKWARD)('%s is refused', (_what, id) => {
    expect(invalidMessage(() => checkId(id))).toBe(REFUSAL);
  });
});
