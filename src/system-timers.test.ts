// One timeout for all timers of the real clock: each is called once, in order, never early, whatever the others do.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { recordTimeouts } from '../test/support/recorded-timeouts.js';
import { SystemTimers } from './system-timers.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});
const timersOfNow = (): SystemTimers => new SystemTimers(() => Date.now());

test('every timer that is not cancelled fires once, in the order of their moments, none early', () => {
  const timer = fc.record({
    after: fc.integer({ min: -5, max: 300 }),
    cancelledAfter: fc.option(fc.integer({ min: 0, max: 300 }), { nil: undefined }),
    keepAlive: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(timer, { maxLength: 30 }), (asked) => {
      const timers = timersOfNow();
      const start = Date.now();
      const fired: { index: number; at: number }[] = [];
      asked.forEach(({ after, cancelledAfter, keepAlive }, index) => {
        const handle = timers.after(after, () => fired.push({ index, at: Date.now() - start }), keepAlive);
        if (cancelledAfter !== undefined) setTimeout(() => handle.cancel(), cancelledAfter);
      });
      vi.advanceTimersByTime(1_000);
      for (const { index, at } of fired) expect(at).toBeGreaterThanOrEqual(asked[index]?.after ?? 0);
      const isOut = ({ after, cancelledAfter = Infinity }: (typeof asked)[number]): boolean =>
        cancelledAfter > after + 1;
      const isIn = ({ after, cancelledAfter = Infinity }: (typeof asked)[number]): boolean => cancelledAfter < after;
      const indexes = fired.map(({ index }) => index);
      expect(new Set(indexes).size).toBe(indexes.length);
      asked.forEach((one, index) => {
        if (isOut(one)) expect(indexes).toContain(index);
        if (isIn(one)) expect(indexes).not.toContain(index);
      });
      const moments = indexes.map((index) => Math.max(0, asked[index]?.after ?? 0));
      expect(moments).toEqual([...moments].sort((a, b) => a - b));
    }),
  );
});

describe('one timeout', () => {
  test('serves a thousand that are set and cancelled', () => {
    const timers = timersOfNow();
    const { set, restore } = recordTimeouts();
    for (let i = 0; i < 1_000; i += 1) timers.after(100, () => undefined, i % 2 === 0).cancel();
    expect(set).toHaveLength(1);
    vi.advanceTimersByTime(1_000);
    expect(set).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
    restore();
  });

  test('is set anew for one that is due sooner', () => {
    const timers = timersOfNow();
    const order: string[] = [];
    timers.after(100, () => order.push('late'));
    timers.after(10, () => order.push('soon'));
    vi.advanceTimersByTime(10);
    expect(order).toEqual(['soon']);
    vi.advanceTimersByTime(90);
    expect(order).toEqual(['soon', 'late']);
  });

  test('that was taken away is set anew with the next timer, and those that were due are called', () => {
    const timers = timersOfNow();
    const called: string[] = [];
    timers.after(100, () => called.push('first'));
    vi.clearAllTimers(); // as a program's tests do that put Node's own timers back
    vi.advanceTimersByTime(600);
    timers.after(2_000, () => called.push('last'));
    vi.advanceTimersByTime(499);
    expect(called).toEqual([]); // a loop may be as busy as this
    vi.advanceTimersByTime(2);
    timers.after(1_000, () => called.push('second'));
    vi.advanceTimersByTime(0);
    expect(called).toEqual(['first']);
    vi.advanceTimersByTime(2_000);
    expect(called).toEqual(['first', 'second', 'last']);
  });

  test('is not taken for lost by those who are set while it fires', () => {
    const timers = timersOfNow();
    const { set, restore } = recordTimeouts();
    timers.after(10, () => {
      for (let i = 0; i < 5; i += 1) timers.after(50, () => undefined);
    });
    vi.advanceTimersByTime(10);
    expect(set).toHaveLength(2);
    restore();
  });

  test('that fires before the clock says so calls nobody early', () => {
    let now = 0;
    const timers = new SystemTimers(() => now);
    const fired = vi.fn();
    timers.after(10, fired);
    now = 9.4;
    vi.advanceTimersByTime(10);
    expect(fired).not.toHaveBeenCalled();
    now = 10;
    vi.advanceTimersByTime(1);
    expect(fired).toHaveBeenCalledTimes(1);
  });
});

describe('one that fires', () => {
  test('and throws takes nobody along', () => {
    const timers = timersOfNow();
    const fired = vi.fn();
    timers.after(5, () => {
      throw new Error('of its own');
    });
    timers.after(5, fired);
    timers.after(50, fired);
    expect(() => vi.advanceTimersByTime(5)).toThrow('of its own');
    vi.advanceTimersByTime(1);
    expect(fired).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(100);
    expect(fired).toHaveBeenCalledTimes(2);
  });

  test('may set others, for now too, and cancel those that are due with it', () => {
    const timers = timersOfNow();
    const order: string[] = [];
    timers.after(5, () => {
      order.push('first');
      second.cancel();
      timers.after(0, () => order.push('next'));
      timers.after(20, () => order.push('later'));
    });
    const second = timers.after(5, () => order.push('second'));
    vi.advanceTimersByTime(7);
    expect(order).toEqual(['first', 'next']);
    vi.advanceTimersByTime(30);
    expect(order).toEqual(['first', 'next', 'later']);
  });
});
