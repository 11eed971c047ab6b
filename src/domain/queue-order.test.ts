// The order of the queue: arrival − priority × 30 s, ties by arrival.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { comparePlaces, isAhead, LAST, rankOf, type Place } from './queue-order.js';

const place: fc.Arbitrary<Place> = fc.record({
  rank: fc.oneof(fc.constantFrom(-Infinity, Infinity), fc.integer({ min: 0, max: 5 })),
  arrival: fc.integer({ min: 0, max: 5 }),
});

test('Q1: each step of priority is worth half a minute of waiting', () => {
  expect(rankOf(1_000_000, 0)).toBe(1_000_000);
  expect(rankOf(1_000_000, 1)).toBe(970_000);
  expect(rankOf(1_000_000, -1)).toBe(1_030_000);
  expect(rankOf(1_000_000, 100)).toBe(-2_000_000);
  const early = { rank: rankOf(0, 0), arrival: 1 };
  expect(isAhead({ rank: rankOf(29_999, 1), arrival: 2 }, early)).toBe(true);
  expect(isAhead({ rank: rankOf(30_000, 1), arrival: 2 }, early)).toBe(false);
  expect(isAhead({ rank: rankOf(30_001, 1), arrival: 2 }, early)).toBe(false);
});

test('Q1: nobody starves: what waited longer than the priorities are apart is ahead', () => {
  const priority = fc.integer({ min: -100, max: 100 });
  fc.assert(
    fc.property(fc.nat(1e12), priority, priority, fc.integer({ min: 1, max: 1e9 }), (at, low, high, more) => {
      const later = at + Math.max(0, high - low) * 30_000 + more;
      expect(isAhead({ rank: rankOf(at, low), arrival: 1 }, { rank: rankOf(later, high), arrival: 2 })).toBe(true);
    }),
  );
});

test('Q1: among equals, who came first is ahead', () => {
  expect(isAhead({ rank: 5, arrival: 1 }, { rank: 5, arrival: 2 })).toBe(true);
  expect(isAhead({ rank: 5, arrival: 2 }, { rank: 5, arrival: 1 })).toBe(false);
  expect(isAhead({ rank: 5, arrival: 1 }, { rank: 5, arrival: 1 })).toBe(false);
});

test('Q1: a request without a ticket comes last', () => {
  fc.assert(
    fc.property(fc.integer(), fc.nat(), (rank, arrival) => {
      expect(isAhead({ rank, arrival }, LAST)).toBe(true);
      expect(isAhead(LAST, { rank, arrival })).toBe(false);
    }),
  );
  expect(isAhead(LAST, LAST)).toBe(false);
});

test('the order is total: one of two different places is ahead, and ahead of ahead is ahead', () => {
  fc.assert(
    fc.property(place, place, place, (a, b, c) => {
      const same = a.rank === b.rank && a.arrival === b.arrival;
      expect(Number(isAhead(a, b)) + Number(isAhead(b, a))).toBe(same ? 0 : 1);
      if (isAhead(a, b) && isAhead(b, c)) expect(isAhead(a, c)).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test('comparePlaces sorts by the same order', () => {
  fc.assert(
    fc.property(place, place, (a, b) => {
      expect(comparePlaces(a, b) < 0).toBe(isAhead(a, b));
      expect(comparePlaces(a, b) > 0).toBe(isAhead(b, a));
    }),
  );
  const [first, second, third] = [
    { rank: 1, arrival: 9 },
    { rank: 2, arrival: 1 },
    { rank: 2, arrival: 3 },
  ];
  expect([LAST, third, first, second].sort(comparePlaces)).toEqual([first, second, third, LAST]);
});
