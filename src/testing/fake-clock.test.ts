// The fake clock: it moves only when told to, fires what falls due on the way in order, and repeats itself by its seed.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkId, makeId } from '../domain/ids.js';
import { FakeClock } from './fake-clock.js';

describe('time', () => {
  test('stands still until it is moved, then both clocks move together', async () => {
    const clock = new FakeClock({ wall: 5_000, monotonic: 100 });
    expect([clock.wall(), clock.monotonic()]).toEqual([5_000, 100]);
    await clock.advance(250);
    expect([clock.wall(), clock.monotonic()]).toEqual([5_250, 350]);
  });

  test('a step of the wall clock leaves monotonic time and timers alone', async () => {
    const clock = new FakeClock({ wall: 5_000, monotonic: 100 });
    const fired: number[] = [];
    clock.after(10, () => fired.push(clock.monotonic()));
    clock.stepWall(-4_000);
    expect([clock.wall(), clock.monotonic()]).toEqual([1_000, 100]);
    await clock.advance(10);
    expect(fired).toEqual([110]);
    clock.stepWall(9_000);
    expect([clock.wall(), clock.monotonic()]).toEqual([10_010, 110]);
  });

  test('S13: a reboot is another machine with its own monotonic time', () => {
    const clock = new FakeClock();
    const before = clock.machine();
    clock.reboot('after the reboot', 7);
    expect(before).not.toBe('after the reboot');
    expect([clock.machine(), clock.monotonic()]).toEqual(['after the reboot', 7]);
  });

  test('a timer that a reboot left behind does not pull time back', async () => {
    const clock = new FakeClock({ wall: 5_000, monotonic: 100 });
    const seen: number[] = [];
    clock.after(10, () => seen.push(clock.monotonic(), clock.wall()));
    clock.reboot('another', 1_000);
    await clock.advance(5);
    expect(seen).toEqual([1_000, 5_000]);
    expect([clock.monotonic(), clock.wall()]).toEqual([1_005, 5_005]);
  });

  test('a reboot while it advances does not pull time back either', async () => {
    const clock = new FakeClock({ wall: 5_000, monotonic: 100 });
    clock.after(10, () => clock.reboot('another', 1_000));
    await clock.advance(20);
    expect(clock.monotonic()).toBeGreaterThanOrEqual(1_000);
    expect(clock.wall()).toBeGreaterThanOrEqual(5_010);
  });
});

describe('timers', () => {
  test('fire at their time, seeing that time, and not before', async () => {
    const clock = new FakeClock({ monotonic: 0 });
    const seen: number[] = [];
    clock.after(10, () => seen.push(clock.monotonic()));
    await clock.advance(9.5);
    expect(seen).toEqual([]);
    await clock.advance(100);
    expect(seen).toEqual([10]);
    expect(clock.monotonic()).toBe(109.5);
  });

  test('fire in order of time, and of being set when equal', async () => {
    const delays = fc.array(fc.nat(5), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(delays, async (all) => {
        const clock = new FakeClock();
        const order: number[] = [];
        for (const [i, delay] of all.entries()) clock.after(delay, () => order.push(i));
        await clock.advance(5);
        const expected = [...all.keys()].sort((a, b) => all[a]! - all[b]! || a - b);
        expect(order).toEqual(expected);
        expect(clock.pendingTimers).toBe(0);
      }),
    );
  });

  test('set by a timer, or by what it resolved, fire in the same advance if they fall due in it', async () => {
    const clock = new FakeClock({ monotonic: 0 });
    const seen: number[] = [];
    const sleep = (ms: number): Promise<void> =>
      new Promise((resolve) => {
        clock.after(ms, resolve);
      });
    const work = (async () => {
      for (let i = 0; i < 3; i += 1) {
        await sleep(10);
        seen.push(clock.monotonic());
      }
    })();
    await clock.advance(25);
    expect(seen).toEqual([10, 20]);
    await clock.advance(5);
    await work;
    expect(seen).toEqual([10, 20, 30]);
  });

  test('cancelled never fire, also when another due with them cancels them', async () => {
    const clock = new FakeClock();
    const fired: string[] = [];
    const first = clock.after(5, () => fired.push('first'));
    clock.after(5, () => {
      fired.push('second');
      third.cancel();
    });
    const third = clock.after(5, () => fired.push('third'));
    first.cancel();
    first.cancel();
    expect(clock.pendingTimers).toBe(2);
    await clock.advance(10);
    expect(fired).toEqual(['second']);
    third.cancel();
  });

  test('of a time that is past fire at the next advance, even by nothing', async () => {
    const clock = new FakeClock();
    const fired: string[] = [];
    clock.after(-5, () => fired.push('fired'));
    expect(fired).toEqual([]);
    await clock.advance(0);
    expect(fired).toEqual(['fired']);
  });

  test('soon is without any advance, after the present turn', async () => {
    const clock = new FakeClock();
    const order: string[] = [];
    clock.soon(() => order.push('soon'));
    order.push('now');
    await Promise.resolve();
    expect(order).toEqual(['now', 'soon']);
  });
});

describe('chance', () => {
  const draw = (seed: number): unknown[] => {
    const clock = new FakeClock({ seed });
    return [clock.random(), clock.random(), clock.randomText(), clock.randomText()];
  };

  test('repeats itself by its seed', () => {
    expect(draw(5)).toEqual(draw(5));
    expect(draw(5)).not.toEqual(draw(6));
  });

  test('stays from 0 up to 1 and spreads', () => {
    const clock = new FakeClock();
    const numbers = Array.from({ length: 10_000 }, clock.random);
    expect(numbers.every((n) => n >= 0 && n < 1)).toBe(true);
    const mean = numbers.reduce((sum, n) => sum + n, 0) / numbers.length;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.02);
  });

  test('makes ids that pass the check and differ', () => {
    const clock = new FakeClock();
    const ids = Array.from({ length: 10_000 }, () => checkId(makeId(clock.wall(), clock.randomText())));
    expect(new Set(ids).size).toBe(ids.length);
  });
});
