// Log positions: what is written reads back, and nothing else reads as one.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { comparePositions, formatPosition, isSameLog, parsePosition } from './position.js';

const piece = fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/);

test('H1: a position names store, namespace, incarnation and row, and reads back', () => {
  fc.assert(
    fc.property(fc.record({ store: piece, namespace: piece, incarnation: piece, key: piece }), (position) => {
      expect(parsePosition(formatPosition(position))).toEqual(position);
    }),
  );
  const longest = { store: 'x'.repeat(128), namespace: 'n', incarnation: 'i', key: 'k' };
  expect(parsePosition(formatPosition(longest))).toEqual(longest);
});

test('H1: within one life of one store, text order is the order of the keys', () => {
  const at = (key: string): string => formatPosition({ store: 's', namespace: 'n', incarnation: 'i', key });
  fc.assert(
    fc.property(piece, piece, (a, b) => {
      expect(at(a) < at(b)).toBe(a < b);
    }),
  );
});

test.each([
  '',
  '!',
  '!!!',
  'a!b!c',
  'a!b!c!',
  '!b!c!d',
  'a!!c!d',
  'a!b!c!d!e',
  '42',
  `${'x'.repeat(129)}!b!c!d`,
  'x'.repeat(1e6),
])('H1: garbage is no position: %s', (text) => {
  expect(parsePosition(text)).toBeUndefined();
});

test('H1: no text makes the parser fail', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('!', 'a', '\u0000', '\ud800'), maxLength: 12 }), (text) => {
      const position = parsePosition(text);
      if (position) expect(formatPosition(position)).toBe(text);
    }),
  );
});

test('H1: positions of one log compare by the numbers of their keys, padded or not', () => {
  const at = (key: string) => ({ store: 's', namespace: 'n', incarnation: 'i', key });
  const order = (a: string, b: string): number => Math.sign(comparePositions(at(a), at(b)));
  const number = fc.maxSafeNat();
  fc.assert(
    fc.property(number, number, number, number, (a, b, c, d) => {
      expect(order(String(a), String(b))).toBe(Math.sign(a - b));
      const padded = (n: number): string => String(n).padStart(16, '0');
      expect(order(`${padded(a)}-${padded(c)}`, `${padded(b)}-${padded(d)}`)).toBe(Math.sign(a - b || c - d));
      expect(order(`${a}-${c}`, `${b}-${d}`)).toBe(Math.sign(a - b || c - d));
    }),
  );
  expect(order('0', '000')).toBe(0);
  expect(isSameLog(at('1'), at('2'))).toBe(true);
  expect(isSameLog(at('1'), { ...at('1'), incarnation: 'other' })).toBe(false);
});
