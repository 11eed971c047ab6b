// The conflict rule against definitions that do not share its arithmetic: what a part covers is spelled out name by
// name, and limits are counted over everything that would stand together.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyPart, exclusive, partsFrom, shared } from '../../test/support/domain-values.js';
import { anyOverlap, conflicts, fits, inTheWay, overlaps, type Standing } from './conflict.js';
import type { Part } from './part.js';

const standing = partsFrom(anyPart).map((parts) => ({ parts }));

/** Every name of up to four levels over a small alphabet: also names nobody has used yet. */
const universe: string[] = [];
for (let level = ['a', 'ab', 'a-b', 'b'], depth = 0; depth < 4; depth += 1) {
  universe.push(...level);
  level = level.flatMap((name) => ['b', 'c', 'd'].map((segment) => `${name}/${segment}`));
}
const covers = (part: Part, name: string): boolean =>
  name === part.name || (part.scope === 'subtree' && name.startsWith(`${part.name}/`));

describe('S1: which names overlap', () => {
  test.each<[string, Part['scope'], string, Part['scope'], boolean]>([
    ['a', 'node', 'a', 'node', true],
    ['a', 'node', 'a', 'subtree', true],
    ['a', 'subtree', 'a', 'subtree', true],
    ['a', 'node', 'a/b', 'node', false],
    ['a', 'node', 'a/b', 'subtree', false],
    ['a', 'subtree', 'a/b', 'node', true],
    ['a', 'subtree', 'a/b', 'subtree', true],
    ['a', 'subtree', 'a/b/c', 'node', true],
    ['a', 'subtree', 'ab', 'node', false],
    ['a', 'subtree', 'ab', 'subtree', false],
    ['a', 'subtree', 'a-b', 'subtree', false],
    ['a/b', 'subtree', 'a/c', 'subtree', false],
    ['a/b', 'subtree', 'a', 'node', false],
  ])('%s (%s) and %s (%s): %s', (name, scope, otherName, otherScope, expected) => {
    expect(overlaps(exclusive(name, scope), exclusive(otherName, otherScope))).toBe(expected);
    expect(overlaps(exclusive(otherName, otherScope), exclusive(name, scope))).toBe(expected);
  });

  test('two parts overlap if and only if some name lies in both', () => {
    fc.assert(
      fc.property(anyPart, anyPart, (a, b) => {
        expect(overlaps(a, b)).toBe(universe.some((name) => covers(a, name) && covers(b, name)));
        expect(anyOverlap([a], [b])).toBe(overlaps(a, b));
      }),
      { numRuns: 500 },
    );
    expect(anyOverlap([], [exclusive('a')])).toBe(false);
    expect(anyOverlap([exclusive('a'), exclusive('b')], [exclusive('c'), exclusive('b')])).toBe(true);
    expect(anyOverlap([exclusive('a'), exclusive('b')], [exclusive('c'), exclusive('d')])).toBe(false);
  });
});

describe('S1: which parts conflict', () => {
  test.each([
    [exclusive('a'), exclusive('a'), true],
    [exclusive('a'), shared('a'), true],
    [shared('a'), shared('a'), false],
    [shared('a', 1), shared('a', 1), false], // not outright: a limit is counted over all who stand there
    [exclusive('a'), exclusive('b'), false],
    [shared('a', undefined, 'subtree'), exclusive('a/b'), true],
    [shared('a', undefined, 'subtree'), shared('a/b'), false],
  ])('%j and %j: %s', (a, b, expected) => {
    expect(conflicts(a, b)).toBe(expected);
  });

  test('the rule is symmetric', () => {
    fc.assert(
      fc.property(anyPart, anyPart, (a, b) => {
        expect(conflicts(a, b)).toBe(conflicts(b, a));
        expect(conflicts(a, b)).toBe(overlaps(a, b) && !(a.mode === 'shared' && b.mode === 'shared'));
      }),
    );
  });
});

describe('S1: what fits beside what stands', () => {
  const sharedOn = (name: string, all: readonly Standing[]): Part[] =>
    all.flatMap((one) => one.parts).filter((part) => part.name === name && part.mode === 'shared');
  const withinLimits = (all: readonly Standing[]): boolean =>
    all
      .flatMap((one) => one.parts)
      .every(({ name }) => {
        const together = sharedOn(name, all);
        return together.every((part) => part.limit === undefined || together.length <= part.limit);
      });
  const apart = (a: Standing, b: Standing): boolean => !a.parts.some((x) => b.parts.some((y) => conflicts(x, y)));

  test('limits: no more on one name than the smallest limit any of them gave', () => {
    expect(fits([shared('a', 2)], [{ parts: [shared('a', 2)] }])).toBe(true);
    expect(fits([shared('a', 2)], [{ parts: [shared('a', 2)] }, { parts: [shared('a', 2)] }])).toBe(false);
    expect(fits([shared('a', 1)], [{ parts: [shared('a')] }])).toBe(false);
    expect(fits([shared('a')], [{ parts: [shared('a', 1)] }])).toBe(false);
    expect(fits([shared('a', 5)], [{ parts: [shared('a')] }, { parts: [shared('a', 2)] }])).toBe(false);
    expect(fits([shared('a')], [{ parts: [shared('a')] }, { parts: [shared('a')] }])).toBe(true);
    expect(fits([shared('a', 1)], [{ parts: [shared('a/b', 1)] }, { parts: [shared('b', 1)] }])).toBe(true);
    expect(fits([shared('a/b', 1)], [{ parts: [shared('a', 1, 'subtree')] }])).toBe(true);
    expect(fits([shared('a', 1, 'subtree')], [{ parts: [shared('a', 1)] }])).toBe(false);
  });

  test('a request fits if and only if it conflicts with nobody and no limit is passed with it', () => {
    fc.assert(
      fc.property(partsFrom(anyPart), fc.array(standing, { maxLength: 6 }), (parts, all) => {
        const mine = { parts };
        const names = parts.filter((part) => part.mode === 'shared').map((part) => part.name);
        const counted = names.every((name) => {
          const together = sharedOn(name, [mine, ...all]);
          return together.length <= Math.min(...together.map((part) => part.limit ?? Infinity));
        });
        expect(fits(parts, all)).toBe(counted && all.every((other) => apart(mine, other)));
      }),
      { numRuns: 2_000 },
    );
  });

  test('whoever is let in one after the other stands without conflict and within every limit', () => {
    fc.assert(
      fc.property(fc.array(standing, { maxLength: 12 }), (requests) => {
        const held: Standing[] = [];
        for (const request of requests) if (fits(request.parts, held)) held.push(request);
        for (const [i, one] of held.entries()) expect(held.slice(i + 1).every((other) => apart(one, other))).toBe(true);
        expect(withinLimits(held)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('what is in the way is named: outright conflicts, and apart from them those who fill a limit', () => {
    const [writer, reader, other] = [
      { parts: [exclusive('b')] },
      { parts: [shared('a', 1)] },
      { parts: [exclusive('c')] },
    ];
    const both = { parts: [shared('a'), exclusive('b/x')] };
    expect(inTheWay([shared('a'), shared('b', undefined, 'subtree')], [writer, reader, other, both])).toEqual({
      direct: [writer, both],
      byLimit: [reader],
    });
    expect(inTheWay([exclusive('a')], [])).toEqual({ direct: [], byLimit: [] });
  });

  test('the two lists never share an entry and hold nothing that is not in the way', () => {
    fc.assert(
      fc.property(partsFrom(anyPart), fc.array(standing, { maxLength: 6 }), (parts, all) => {
        const { direct, byLimit } = inTheWay(parts, all);
        expect(direct).toEqual(all.filter((one) => !apart({ parts }, one)));
        for (const one of byLimit) {
          expect(direct).not.toContain(one);
          expect(parts.some((part) => sharedOn(part.name, [one]).length > 0)).toBe(true);
        }
      }),
    );
  });
});
