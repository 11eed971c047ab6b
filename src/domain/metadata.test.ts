// Metadata: plain JSON passes as its text; everything else is refused by name.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { invalidMessage } from '../../test/support/invalid-message.js';
import { checkJson } from './metadata.js';

const MAX = 4 * 1_024;
const check = (value: unknown): string | undefined => checkJson(value, 'metadata', MAX);
const TO_JSON = /^metadata holds an object with toJSON: only plain JSON is kept$/;
const refused = (value: unknown): string => invalidMessage(() => check(value));

function nested(levels: number): unknown {
  let value: unknown = 'deep';
  for (let i = 0; i < levels; i += 1) value = i % 2 === 0 ? [value] : { value };
  return value;
}

describe('plain JSON', () => {
  const values: unknown[] = [null, true, 0, -1.5, '', 'text', [], {}, [1, [2, { a: null }]], { a: { b: ['c'] } }];

  test.each(values.map((value) => ({ value })))('$value passes as its text', ({ value }) => {
    expect(check(value)).toBe(JSON.stringify(value));
  });

  test('nothing stays nothing', () => {
    expect(check(undefined)).toBeUndefined();
  });

  test('an object without a prototype is as plain as any', () => {
    expect(check(Object.assign(Object.create(null) as object, { a: 1 }))).toBe('{"a":1}');
  });

  test('one object in two places is no cycle', () => {
    const twice = { a: 1 };
    expect(check({ x: twice, y: [twice, twice] })).toBe('{"x":{"a":1},"y":[{"a":1},{"a":1}]}');
  });

  test('a key named toJSON is data like any other, unless it is a function', () => {
    expect(check({ toJSON: 1 })).toBe('{"toJSON":1}');
  });

  test('whatever passes reads back equal', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const plain = JSON.stringify(value);
        fc.pre(!plain.includes('"__proto__":'));
        expect(JSON.parse(checkJson(value, 'metadata', 1e6) ?? '')).toEqual(JSON.parse(plain));
      }),
    );
  });
});

describe('what JSON does not have', () => {
  const cyclic: Record<string, unknown> = { a: [] };
  (cyclic['a'] as unknown[]).push({ back: cyclic });

  test.each<[string, unknown, RegExp]>([
    ['a cycle', cyclic, /metadata is cyclic: only plain JSON is kept/],
    ['a BigInt', { n: 1n }, /holds a bigint/],
    ['a bare BigInt', 1n, /holds a bigint/],
    ['a Date', { at: new Date(0) }, TO_JSON],
    ['a Map', new Map(), /an object that is not plain/],
    ['a class', new (class Thing {})(), /an object that is not plain/],
    ['a Buffer', Buffer.from('a'), TO_JSON],
    ['a function', { f: () => 1 }, /holds a function/],
    ['its own toJSON', { toJSON: () => 1 }, TO_JSON],
    ['a toJSON nobody sees', Object.defineProperty({}, 'toJSON', { value: () => 1 }), TO_JSON],
    ['an inherited toJSON', Object.create({ toJSON: () => 1 }), TO_JSON],
    ['a list with toJSON', Object.assign([1], { toJSON: () => 1 }), TO_JSON],
    ['a symbol', [Symbol('s')], /holds a symbol/],
    ['undefined inside', { a: undefined }, /holds a undefined/],
    ['a hole in an array', [1, , 2], /holds a undefined/], // eslint-disable-line no-sparse-arrays -- the case
    ['NaN', [NaN], /holds NaN, which JSON has not/],
    ['Infinity', { a: -Infinity }, /holds -Infinity, which JSON has not/],
    ['a lone surrogate', { a: ['\ud800'] }, /holds a lone surrogate/],
    ['a lone surrogate in a key', { '\udc00': 1 }, /holds a lone surrogate/],
    ['__proto__ as JSON.parse makes it', JSON.parse('{"a":[{"__proto__":{"x":1}}]}'), /the key "__proto__"/],
    ['an inherited prototype', Object.create({ a: 1 }), /an object that is not plain/],
  ])('%s is refused', (_what, value, message) => {
    expect(refused(value)).toMatch(message);
  });

  test('and nothing on any prototype was touched', () => {
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });
});

describe('S18: bounds of metadata', () => {
  test('4 KiB of JSON pass, a byte more does not, nor does far more', () => {
    expect(check('x'.repeat(MAX - 2))).toHaveLength(MAX);
    expect(refused('x'.repeat(MAX - 1))).toBe('metadata is 4097 bytes of JSON, at most 4096: store a reference to it');
    expect(refused({ blob: 'x'.repeat(10_000_000) })).toMatch(/10000011 bytes of JSON, at most 4096/);
  });

  test('bytes are counted, not characters', () => {
    expect(check('é'.repeat(MAX / 2 - 1))).toBeDefined();
    expect(refused('é'.repeat(MAX / 2))).toMatch(/4098 bytes/);
    expect(refused('\n'.repeat(MAX / 2))).toMatch(/4098 bytes/);
  });

  test('32 levels pass, 33 do not, and 100,000 are refused without running out of stack', () => {
    expect(check(nested(32))).toBeDefined();
    expect(refused(nested(33))).toBe('metadata is nested deeper than 32 levels');
    expect(refused(nested(100_000))).toBe('metadata is nested deeper than 32 levels');
  });
});
