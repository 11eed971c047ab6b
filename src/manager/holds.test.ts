// What this process holds: found by id and by name, and how many were lost in the last hour.
import { expect, test } from 'vitest';
import { exclusive, leaseRow } from '../../test/support/domain-values.js';
import { leaseAt } from '../domain/lease.js';
import { FakeClock } from '../testing/fake-clock.js';
import { Hold } from './held-lease.js';
import type { Keeper } from './keeper.js';
import { Holds } from './holds.js';

function hold(clock: FakeClock, id: string, ...names: string[]): Hold {
  const lease = leaseAt(leaseRow({ id, parts: names.map((name) => exclusive(name)) }), 0);
  const terms = { isAuto: true, renewAt: 0.6, requestTimeoutMs: 100 };
  const answer = { sentAt: clock.monotonic(), sentWall: clock.wall(), remainingMs: 1_000 };
  return new Hold({ clock, left: () => undefined } as unknown as Keeper, lease, terms, answer);
}

const any = (): boolean => true;

test('A3: found by its id, and by its name where it has one alone', () => {
  const clock = new FakeClock();
  const holds = new Holds(clock);
  const [one, two] = [hold(clock, 'one', 'a'), hold(clock, 'two', 'b', 'c')];
  holds.add(one);
  holds.add(two);
  expect([...holds]).toEqual([one, two]);
  expect([holds.find('one'), holds.find('two'), holds.find('three')]).toEqual([one, two, undefined]);
  expect([holds.named('a', any), holds.named('b', any)]).toEqual([one, undefined]);
  expect([holds.remove(one), holds.remove(one), holds.size, holds.named('a', any)]).toEqual([
    true,
    false,
    1,
    undefined,
  ]);
});

test('of two on one name the later is found; taking out one leaves the other', () => {
  const clock = new FakeClock();
  const holds = new Holds(clock);
  const [one, two] = [hold(clock, 'one', 'a'), hold(clock, 'two', 'a')];
  holds.add(one);
  holds.add(two);
  holds.remove(one);
  expect([holds.named('a', any), holds.size]).toEqual([two, 1]);
});

test('Q4: a nested request holds the lease it was taken through and those above, as long as they are held', () => {
  const clock = new FakeClock();
  const [outer, middle, inner] = [hold(clock, 'outer', 'a'), hold(clock, 'middle', 'b'), hold(clock, 'inner', 'c')];
  middle.parent = outer;
  inner.parent = middle;
  expect(inner.nest()).toEqual([inner.id, middle.id, outer.id]);
  expect(outer.nest()).toEqual([outer.id]);
  middle.leave();
  expect(inner.nest()).toEqual([inner.id, outer.id]);
});

test('S18: losses are counted for an hour, and no more than can be counted are kept', async () => {
  const clock = new FakeClock();
  const holds = new Holds(clock);
  holds.countLoss();
  await clock.advance(3_599_999);
  holds.countLoss();
  expect(holds.lostLastHour).toBe(2);
  await clock.advance(1);
  expect(holds.lostLastHour).toBe(1);
  for (let i = 0; i < 30_000; i += 1) holds.countLoss();
  expect(holds.lostLastHour).toBeGreaterThanOrEqual(10_000);
  expect(holds.lostLastHour).toBeLessThanOrEqual(20_000);
});
