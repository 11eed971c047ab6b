// Parts: defaults, folding, what one request may not name together, and every bound.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AWKWARD } from '../../test/support/awkward-values.js';
import { anyPart, exclusive, shared } from '../../test/support/domain-values.js';
import { invalidMessage } from '../../test/support/invalid-message.js';
import { LIMITS } from './limits.js';
import {
  asExclusive,
  asShared,
  isPlain,
  normaliseParts,
  samePart,
  sameParts,
  type PartDefaults,
  type Resources,
} from './part.js';

const refused = (resources: unknown, defaults?: PartDefaults): string =>
  invalidMessage(() => normaliseParts(resources as Resources, defaults));

describe('what is left out', () => {
  test.each<[string, Resources, PartDefaults, unknown]>([
    ['a name is an exclusive node', 'a', {}, [exclusive('a')]],
    ['so is a part with nothing else', { name: 'a' }, {}, [exclusive('a')]],
    ['a list of both', ['b', { name: 'a' }], {}, [exclusive('a'), exclusive('b')]],
    ['defaults fill in', 'a', { mode: 'shared', scope: 'subtree', limit: 2 }, [shared('a', 2, 'subtree')]],
    ['what the part says wins', { name: 'a', mode: 'shared', limit: 3 }, { limit: 2 }, [shared('a', 3)]],
    ['a default limit is for shared parts', { name: 'a', mode: 'exclusive' }, { limit: 2 }, [exclusive('a')]],
    ['shared without a limit has none', { name: 'a', mode: 'shared' }, {}, [shared('a')]],
  ])('%s', (_what, resources, defaults, parts) => {
    expect(normaliseParts(resources, defaults)).toEqual(parts);
  });
});

describe('S10: parts of one request', () => {
  test('equal parts fold, the rest is sorted by name', () => {
    expect(normaliseParts(['b', 'a', { name: 'b', mode: 'exclusive', scope: 'node' }])).toEqual([
      exclusive('a'),
      exclusive('b'),
    ]);
    expect(normaliseParts([shared('a', 2), shared('a', 2)])).toEqual([shared('a', 2)]);
  });

  test.each([
    ['modes', [exclusive('a'), shared('a')]],
    ['scopes', [exclusive('a'), exclusive('a', 'subtree')]],
    ['limits', [shared('a', 1), shared('a', 2)]],
    ['limits, one without', [shared('a'), shared('a', 2)]],
  ])('one name in two %s is refused', (_what, parts) => {
    expect(refused(parts)).toBe('a is named twice with different mode, scope or limit');
    expect(refused(parts.toReversed())).toBe('a is named twice with different mode, scope or limit');
  });

  test('a name below a subtree of the same request is refused, whatever sorts between', () => {
    expect(refused(['a/b', { name: 'a', scope: 'subtree' }])).toBe(
      'a/b lies below the subtree a of the same request: drop it',
    );
    expect(refused([{ name: 'a', scope: 'subtree' }, 'a-b', 'a!', 'a/b/c'])).toMatch(
      /a\/b\/c lies below the subtree a/,
    );
    expect(refused([shared('a', undefined, 'subtree'), shared('a/b', undefined, 'subtree')])).toMatch(/lies below/);
  });

  test('below a node, or beside a subtree, is fine', () => {
    expect(normaliseParts(['a', 'a/b'])).toHaveLength(2);
    expect(normaliseParts([exclusive('a', 'subtree'), exclusive('ab'), exclusive('a-b')])).toHaveLength(3);
  });

  test('is refused exactly when two of them differ on one name or one lies in the subtree of another', () => {
    fc.assert(
      fc.property(fc.array(anyPart, { minLength: 2, maxLength: 6 }), (parts) => {
        const clash = parts.some((a) =>
          parts.some(
            (b) =>
              (a.name === b.name && (a.scope !== b.scope || a.mode !== b.mode || a.limit !== b.limit)) ||
              (a.scope === 'subtree' && b.name.startsWith(`${a.name}/`)),
          ),
        );
        if (clash) {
          expect(refused(parts)).not.toBe('');
          return;
        }
        const names = [...new Set(parts.map((part) => part.name))].map((name) => Buffer.from(name));
        const sorted = names.sort((a, b) => Buffer.compare(a, b)).map(String);
        const normal = normaliseParts(parts);
        expect(normal.map((part) => part.name)).toEqual(sorted);
        expect(normaliseParts(normal)).toEqual(normal);
        expect(normaliseParts(parts.toReversed())).toEqual(normal);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('S18: bounds', () => {
  const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `n${i}`);

  test('64 parts pass, 65 and far more do not, and the answer says what to do', () => {
    expect(normaliseParts(names(64))).toHaveLength(64);
    expect(refused(names(65))).toBe('a lease has at most 64 parts, got 65: lease a subtree instead');
    expect(refused(names(1_025))).toMatch(/at most 64 parts, got 1025/);
    expect(refused(names(100_000))).toMatch(/at most 64 parts, got 100000/);
  });

  test('parts are counted after folding', () => {
    const repeated = Array.from({ length: 1_024 }, (_, i) => `n${i % 64}`);
    expect(normaliseParts(repeated)).toHaveLength(64);
    expect(refused([...repeated, 'n0'])).toMatch(/at most 64 parts, got 1025/); // far too many are not even looked at
  });

  test('a limit is a whole number from 1 to a million', () => {
    for (const limit of [1, 2, LIMITS.sharedLimit])
      expect(normaliseParts(shared('a', limit))).toEqual([shared('a', limit)]);
    for (const limit of [0, -1, 1.5, NaN, Infinity, LIMITS.sharedLimit + 1, '3', {}, true]) {
      expect(refused({ name: 'a', mode: 'shared', limit })).toMatch(/limit is a whole number from 1 to 1000000, got /);
    }
  });

  test('a limit needs shared mode', () => {
    expect(refused({ name: 'a', limit: 2 })).toBe("limit needs mode 'shared': an exclusive part of a has one holder");
    expect(refused({ name: 'a', mode: 'exclusive', limit: 1 })).toMatch(/limit needs mode 'shared'/);
  });
});

describe('what is no part at all', () => {
  test.each<[unknown, RegExp]>([
    [[], /name at least one resource/],
    [null, /a resource is a name or an object with a name/],
    [undefined, /a resource is a name or an object with a name/],
    [5, /a resource is a name or an object with a name/],
    [[null], /a resource is a name or an object with a name/],
    [['a', 5], /a resource is a name or an object with a name/],
    [[['a']], /must be a string, got undefined/],
    [{}, /must be a string, got undefined/],
    ['', /must not be empty/],
    [['a', 'b//c'], /empty segment/],
    [{ name: 'a', scope: 'tree' }, /scope is 'node' or 'subtree', got "tree"/],
    [{ name: 'a', mode: 'read' }, /mode is 'exclusive' or 'shared', got "read"/],
  ])('%j', (resources, message) => {
    expect(refused(resources)).toMatch(message);
  });

  test.each(AWKWARD)('%s as name, scope, mode or limit', (_what, value, shownAs) => {
    expect(refused({ name: value })).toMatch(/^a resource name must be a string, got /);
    expect(refused({ name: 'a', scope: value })).toBe(`scope is 'node' or 'subtree', got ${shownAs}`);
    expect(refused({ name: 'a', mode: value })).toBe(`mode is 'exclusive' or 'shared', got ${shownAs}`);
    expect(refused({ name: 'a', mode: 'shared', limit: value })).toBe(
      `limit is a whole number from 1 to 1000000, got ${shownAs}`,
    );
  });
});

test('samePart and sameParts compare every field and the order', () => {
  fc.assert(
    fc.property(anyPart, anyPart, (a, b) => {
      const equal =
        JSON.stringify([a.name, a.scope, a.mode, a.limit]) === JSON.stringify([b.name, b.scope, b.mode, b.limit]);
      expect(samePart(a, b)).toBe(equal);
      expect(sameParts([a, b], [b, a])).toBe(equal);
      expect(sameParts([a, b], [a, b])).toBe(true);
      expect(sameParts([a, a], [a, b])).toBe(equal);
      expect(sameParts([a], [a, b])).toBe(false);
    }),
  );
});

test('plain is one exclusive node and nothing else', () => {
  expect(isPlain([exclusive('a')])).toBe(true);
  for (const parts of [[], [shared('a')], [exclusive('a', 'subtree')], [exclusive('a'), exclusive('b')]]) {
    expect(isPlain(parts)).toBe(false);
  }
});

test('Q5: upgraded parts are exclusive without a limit, downgraded ones shared without one of their own', () => {
  const parts = [exclusive('a', 'subtree'), shared('b', 3), shared('c')];
  expect(asExclusive(parts)).toEqual([exclusive('a', 'subtree'), exclusive('b'), exclusive('c')]);
  expect(asShared(parts)).toEqual([shared('a', undefined, 'subtree'), shared('b', 3), shared('c')]);
});
