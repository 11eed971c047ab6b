// Durations: numbers and text in, whole milliseconds out, and what is said about everything else.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AWKWARD } from '../../test/support/awkward-values.js';
import { invalidMessage } from '../../test/support/invalid-message.js';
import { formatDuration, parseDuration } from './duration.js';

const ANY = { name: 'ttl', minMs: 0, maxMs: Number.MAX_SAFE_INTEGER };
const TTL = { name: 'ttl', minMs: 100, maxMs: 2_592_000_000 };

test.each([
  [0, 0],
  [250, 250],
  [0.6, 1],
  ['0s', 0],
  ['0', 0],
  ['0.0', 0],
  ['250ms', 250],
  ['30s', 30_000],
  ['1.5s', 1_500],
  ['1m30s', 90_000],
  ['2h', 7_200_000],
  ['1d', 86_400_000],
  ['1d2h3m4s5ms', 93_784_005],
  ['0.1ms', 0],
  ['90m', 5_400_000],
])('%j is %d ms', (value, ms) => {
  expect(parseDuration(value, ANY)).toBe(ms);
});

describe('what is no duration', () => {
  test.each([
    NaN,
    Infinity,
    -Infinity,
    '',
    ' ',
    '1x',
    'x',
    's',
    '1s ',
    ' 1s',
    '1 s',
    '1S',
    '-1s',
    '+1s',
    '1e3s',
    '.5s',
    '1.s',
    '1s2',
    '1s,2s',
    'forever',
    'Infinitys',
    `${'9'.repeat(400)}d`,
    '1'.repeat(1_000_000),
    undefined,
    null,
    true,
    5n,
    [30],
    {},
    Symbol('30s'),
  ])('%s', (value) => {
    const message = invalidMessage(() => parseDuration(value, ANY));
    expect(message).toMatch(/^ttl takes milliseconds or text such as '30s', got /);
    expect(message.length).toBeLessThan(140);
  });

  test.each([
    ['30000', '30000ms or 30s'],
    ['90000', '90000ms or 1m30s'],
    ['30', '30ms or 30s'],
    ['3600', '3600ms or 3600s'],
    ['1.5', '1.5ms or 1.5s'],
  ])('%j: text without a unit is asked for one', (value, advice) => {
    expect(invalidMessage(() => parseDuration(value, ANY))).toBe(`ttl needs a unit: write ${advice}, got "${value}"`);
  });

  test.each(AWKWARD)('%s', (_what, value, shownAs) => {
    expect(invalidMessage(() => parseDuration(value, ANY))).toBe(
      `ttl takes milliseconds or text such as '30s', got ${shownAs}`,
    );
  });
});

describe('S18: bounds of a duration', () => {
  test.each([100, 2_592_000_000, '100ms', '30d', '720h'])('%j is within them', (value) => {
    expect(parseDuration(value, TTL)).toBeGreaterThan(0);
  });

  test.each([
    [99, '99'],
    [0, '0'],
    [-1, '-1'],
    [-30_000, '-30000'],
    [2_592_000_001, '2592000001'],
    [1e300, '1e+300'],
    [Number.MAX_VALUE, '1.7976931348623157e+308'],
    ['99ms', '"99ms"'],
    ['0', '"0"'],
    ['31d', '"31d"'],
    ['30d1ms', '"30d1ms"'],
    [`${'9'.repeat(300)}d`, `"${'9'.repeat(77)}..."`],
  ])('%j is not, and the answer names the setting, the bounds and the value', (value, shown) => {
    expect(invalidMessage(() => parseDuration(value, TTL))).toBe(`ttl is from 100ms to 30d, got ${shown}`);
  });
});

test('whatever is accepted is whole and within its bounds', () => {
  fc.assert(
    fc.property(fc.oneof(fc.double(), fc.integer(), fc.double({ min: 0, max: 1_000 })), (value) => {
      let ms: number;
      try {
        ms = parseDuration(value, TTL);
      } catch {
        return;
      }
      expect(Number.isSafeInteger(ms)).toBe(true);
      expect(ms).toBeGreaterThanOrEqual(TTL.minMs);
      expect(ms).toBeLessThanOrEqual(TTL.maxMs);
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  [0, '0s'],
  [0.4, '0s'],
  [-0.4, '0s'],
  [0.5, '1ms'],
  [1, '1ms'],
  [999, '999ms'],
  [1_000, '1s'],
  [90_000, '1m30s'],
  [3_600_000, '1h'],
  [86_400_000, '1d'],
  [93_784_005, '1d2h3m4s5ms'],
  [2_592_000_000, '30d'],
  [1_500.4, '1s500ms'],
  [-90_000, '-1m30s'],
  [NaN, 'NaN'],
  [Infinity, 'Infinity'],
])('%d ms is written %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('what is written parses back to the same number', () => {
  fc.assert(
    fc.property(fc.oneof(fc.nat(200_000), fc.nat(1e12), fc.maxSafeNat()), (ms) => {
      expect(parseDuration(formatDuration(ms), ANY)).toBe(ms);
    }),
    { numRuns: 1_000 },
  );
});

test('text of random pieces is the sum of its pieces', () => {
  const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
  const piece = fc.record({ count: fc.nat(1_000), unit: fc.constantFrom('ms', 's', 'm', 'h', 'd') });
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), (pieces) => {
      const text = pieces.map(({ count, unit }) => `${count}${unit}`).join('');
      expect(parseDuration(text, ANY)).toBe(pieces.reduce((sum, { count, unit }) => sum + count * units[unit], 0));
    }),
  );
});
