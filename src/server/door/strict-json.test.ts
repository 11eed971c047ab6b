// JSON as it is taken, and the ways in which it is not.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseStrictJson } from './strict-json.js';

const parse = (text: string, depth = 48): unknown => parseStrictJson(new TextEncoder().encode(text), depth);
const says = (text: RegExp): unknown =>
  expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(text) as string });

describe('W5: JSON from strangers', () => {
  test('W5: whatever JSON.stringify writes is read as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value);
        if (text.includes('__proto__')) return;
        expect(parse(text)).toEqual(JSON.parse(text));
        expect(parse(JSON.stringify(value, undefined, 2))).toEqual(JSON.parse(text));
      }),
    );
  });

  test('W5: a key twice is refused, however it is spelled and wherever it is', () => {
    for (const text of ['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '[{"b":{"a":1,"c":[],"a":2}}]', '{ "a" :1\n,"a":{}}'])
      expect(() => parse(text)).toThrow(says(/twice/));
    expect(parse('{"a":{"a":1},"b":[{"a":1},{"a":2}],"c":"\\"a\\":1,\\"a\\":"}')).toBeDefined();
    expect(parse('{"a\\\\":1,"a":2,"b":"}{,\\"a\\""}')).toEqual({ 'a\\': 1, a: 2, b: '}{,"a"' });
  });

  test('W5: __proto__ is refused as a key, not as text', () => {
    for (const text of ['{"__proto__":{}}', '{"a":[{"\\u005f_proto__":1}]}'])
      expect(() => parse(text)).toThrow(says(/__proto__/));
    expect(parse('{"a":"__proto__"}')).toEqual({ a: '__proto__' });
  });

  test('W5: depth is bounded before anything is built', () => {
    expect(parse(`${'['.repeat(48)}${']'.repeat(48)}`)).toBeDefined();
    expect(() => parse(`${'['.repeat(49)}${']'.repeat(49)}`)).toThrow(says(/deeper than 48/));
    expect(() => parse('['.repeat(1_000_000))).toThrow(says(/deeper/));
    expect(() => parse('{"a":'.repeat(100_000))).toThrow(says(/deeper/));
  });

  test('W5: what is no UTF-8 or no JSON is refused', () => {
    const bad = [
      [0x22, 0xff, 0x22],
      [0x22, 0xc3, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
      [0x22, 0xf0, 0x9f, 0x22],
    ];
    for (const bytes of bad) expect(() => parseStrictJson(new Uint8Array(bytes), 48)).toThrow(says(/UTF-8/));
    for (const text of ['', '{', '{"a"', '"', '"\\', '{"a":1,}', 'undefined', '\ufeff{}', '{"a":1}x', "{'a':1}", '}{'])
      expect(() => parse(text)).toThrow(says(/not JSON/));
  });
});
