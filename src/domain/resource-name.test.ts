// Resource names: each rule of section 1 at and over its edge, and the order and kinship of names against plain
// definitions of both.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { invalidMessage } from '../../test/support/invalid-message.js';
import { byteLength, checkName, compareNames, isAbove, namesAbove, rangeBelow } from './resource-name.js';

// Characters around every edge of byte order and of the rules, lone surrogates apart.
const edgeCharacter = fc.constantFrom(
  ...['a', 'b', '/', '.', '0', '-', ' ', '~', '\u007f', '\u0080', 'é', 'e\u0301', '\u07ff', '\u0800', '\ud7ff'],
  ...['\ue000', '\ufffd', '\uffff', '\u{10000}', '\u{1f600}', '\u{10ffff}', '\u0000', '\u001f', '\u009f', '\u00a0'],
);
const wellFormed = fc.oneof(fc.string({ unit: edgeCharacter, maxLength: 8 }), fc.string({ unit: 'binary' }));
const anything = fc.oneof(
  wellFormed,
  fc.string({ unit: fc.oneof(edgeCharacter, fc.constantFrom('\ud800', '\udfff')), maxLength: 8 }),
  fc.string({ unit: fc.constantFrom('a', '/', '.'), maxLength: 40 }),
);
const path = fc
  .array(fc.constantFrom('a', 'b', 'ab', 'a-', 'a0', 'é', '\uffff', '\u{10000}'), { minLength: 1, maxLength: 4 })
  .map((segments) => segments.join('/'));

describe('names that pass', () => {
  test.each([
    'orders/0',
    'file:app/src/a.ts',
    'a',
    ' ',
    '...',
    '.hidden/..b/c..',
    'caf\u00e9/\u{1f600}',
    'x'.repeat(512),
    'é'.repeat(256),
    '\u{1f600}'.repeat(128),
    'a/'.repeat(31) + 'a',
  ])('%s', (name) => {
    expect(checkName(name)).toBe(name);
  });
});

describe('names that are refused, with what to do about it', () => {
  test.each([
    ['', /must not be empty/],
    ['/a', /empty segment: no slash at either end, no two in a row/],
    ['a/', /empty segment/],
    ['a//b', /empty segment/],
    ['/', /empty segment/],
    ['.', /segment "\.": resolve the path first/],
    ['..', /segment "\.\."/],
    ['a/./b', /segment "\."/],
    ['a/../b', /segment "\.\."/],
    ['e\u0301', /NFC: call \.normalize\('NFC'\) on it first/],
    ['a\ud800', /lone surrogate/],
    ['\udc00a', /lone surrogate/],
    ['x'.repeat(513), /over 512 bytes of UTF-8: shorten or hash it/],
    ['x'.repeat(1_000_000), /over 512 bytes/],
    ['é'.repeat(257), /over 512 bytes/],
    ['\u{1f600}'.repeat(128) + 'a', /over 512 bytes/],
    ['a/'.repeat(32) + 'a', /more than 32 segments: use fewer levels/],
    ['a/'.repeat(255) + 'a', /more than 32 segments/],
  ])('%j', (name, message) => {
    expect(invalidMessage(() => checkName(name))).toMatch(message);
  });

  test.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [5, 'number'],
    [['a'], 'an array'],
    [{ name: 'a' }, 'object'],
  ])('%j, which is no string', (name, kind) => {
    expect(invalidMessage(() => checkName(name))).toBe(`a resource name must be a string, got ${kind}`);
  });

  test('every control character, wherever it stands', () => {
    for (let code = 0; code <= 0x9f; code += 1) {
      if (code >= 0x20 && code < 0x7f) continue;
      const character = String.fromCharCode(code);
      for (const name of [character, `a${character}`, `${character}a`, `a/${character}/b`]) {
        expect(invalidMessage(() => checkName(name))).toMatch(/control character/);
      }
    }
  });

  test('a long name is quoted only in part', () => {
    expect(invalidMessage(() => checkName(`${'x'.repeat(400)}/`)).length).toBeLessThan(200);
  });
});

test('the fast way for plain names and the slow way agree with the rules as written', () => {
  const follows = (name: string): boolean =>
    name !== '' &&
    name.isWellFormed() &&
    !/\p{Cc}/u.test(name) &&
    name === name.normalize('NFC') &&
    Buffer.byteLength(name) <= 512 &&
    name.split('/').length <= 32 &&
    name.split('/').every((segment) => !['', '.', '..'].includes(segment));
  const passes = (name: string): boolean => {
    try {
      return checkName(name) === name;
    } catch {
      return false;
    }
  };
  fc.assert(
    fc.property(anything, (name) => {
      expect(passes(name)).toBe(follows(name));
    }),
    { numRuns: 2_000 },
  );
});

test('byteLength is the length of the UTF-8 form', () => {
  fc.assert(
    fc.property(wellFormed, (text) => {
      expect(byteLength(text)).toBe(Buffer.byteLength(text));
    }),
  );
});

test('names compare byte by byte, surrogate pairs included', () => {
  fc.assert(
    fc.property(wellFormed, wellFormed, (a, b) => {
      expect(Math.sign(compareNames(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
    { numRuns: 3_000 },
  );
  // Byte order is not the order of UTF-16 units, which is the mistake this guards against.
  expect(compareNames('\uffff', '\u{10000}')).toBeLessThan(0);
  expect('\uffff' < '\u{10000}').toBe(false);
});

test('two names with a long common part compare by what follows it', () => {
  fc.assert(
    fc.property(wellFormed, wellFormed, wellFormed, (start, a, b) => {
      const [left, right] = [Buffer.from(start + a), Buffer.from(start + b)];
      expect(Math.sign(compareNames(start + a, start + b))).toBe(Buffer.compare(left, right));
    }),
  );
});

test.each([
  ['a', 'a/b', true],
  ['a', 'a/b/c', true],
  ['a/b', 'a/b/c', true],
  ['a', 'ab', false],
  ['a', 'a', false],
  ['a/b', 'a', false],
  ['a', 'b/a', false],
  ['a', 'a-/b', false],
])('%s above %s: %s', (upper, lower, above) => {
  expect(isAbove(upper, lower)).toBe(above);
});

test('a name is above another if its segments are the first of the other, and not all of them', () => {
  fc.assert(
    fc.property(path, path, (upper, lower) => {
      const [above, below] = [upper.split('/'), lower.split('/')];
      const expected = below.length > above.length && above.every((segment, i) => segment === below[i]);
      expect(isAbove(upper, lower)).toBe(expected);
    }),
    { numRuns: 1_000 },
  );
});

test('namesAbove gives exactly the names above, nearest last', () => {
  expect(namesAbove('a')).toEqual([]);
  expect(namesAbove('a/b/c')).toEqual(['a', 'a/b']);
  fc.assert(
    fc.property(path, path, (name, other) => {
      const above = namesAbove(name);
      expect(above).toHaveLength(name.split('/').length - 1);
      expect(above.every((upper) => isAbove(upper, name))).toBe(true);
      expect(above.includes(other)).toBe(isAbove(other, name));
      expect(above.toSorted((a, b) => a.length - b.length)).toEqual(above);
    }),
  );
});

test('a name is below another if and only if the range of the other contains it, in byte order', () => {
  const inRange = (name: string, x: string): boolean => {
    const { from, to } = rangeBelow(name);
    const bytes = Buffer.from(x);
    return Buffer.compare(bytes, Buffer.from(from)) >= 0 && Buffer.compare(bytes, Buffer.from(to)) < 0;
  };
  fc.assert(
    fc.property(path, fc.oneof(path, wellFormed), wellFormed, (name, other, tail) => {
      for (const x of [other, `${name}/${other}`, name + tail, name]) expect(inRange(name, x)).toBe(isAbove(name, x));
    }),
    { numRuns: 1_000 },
  );
});
