// The real clock: what everything else relies on it for.
import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { recordTimeouts } from '../test/support/recorded-timeouts.js';
import type { TimerHandle } from './domain/clock.js';
import { checkId, makeId } from './domain/ids.js';

vi.resetModules(); // its timers are shared by everybody in a process: here nobody else has set one
const { systemClock } = await import('./system-clock.js');
const clock = systemClock();
const run = promisify(execFile);

describe('S13: monotonic time', () => {
  test('never goes back, and goes on', async () => {
    const first = clock.monotonic();
    let last = first;
    for (let i = 0; i < 100_000; i += 1) {
      const now = clock.monotonic();
      if (now < last) throw new Error(`went back from ${last} to ${now}`);
      last = now;
    }
    await pause(20);
    expect(clock.monotonic() - first).toBeGreaterThanOrEqual(18);
  });

  test('is in milliseconds, with fractions', async () => {
    const from = clock.monotonic();
    await pause(50);
    const passed = clock.monotonic() - from;
    expect(passed).toBeGreaterThan(48);
    expect(passed).toBeLessThan(10_000);
    expect(Number.isInteger(clock.monotonic()) && Number.isInteger(clock.monotonic())).toBe(false);
  });

  test('another process of this machine reads the same value', async () => {
    const before = clock.monotonic();
    const { stdout } = await run(process.execPath, ['-p', 'const [s, n] = process.hrtime(); s * 1000 + n / 1e6']);
    const after = clock.monotonic();
    const theirs = Number(stdout);
    expect(theirs).toBeGreaterThan(before - 1_000);
    expect(theirs).toBeLessThan(after + 1_000);
  });
});

test('wall time is the time of day', () => {
  expect(Math.abs(clock.wall() - Date.now())).toBeLessThan(1_000);
});

test('S13: the machine has one name, the same for every clock and process on it', async () => {
  expect(clock.machine()).not.toBe('');
  expect(clock.machine()).toBe(clock.machine());
  expect(systemClock().machine()).toBe(clock.machine());
  if (process.platform !== 'linux') return;
  const { stdout } = await run('cat', ['/proc/sys/kernel/random/boot_id']);
  expect(clock.machine()).toContain(stdout.trim());
});

describe('timers', () => {
  test('fire once, no sooner than asked', async () => {
    const fired = vi.fn();
    const from = clock.monotonic();
    const took = await new Promise<number>((resolve) => {
      clock.after(30, () => {
        fired();
        resolve(clock.monotonic() - from);
      });
    });
    expect(took).toBeGreaterThan(28); // the loop's own clock counts whole milliseconds
    await pause(40);
    expect(fired).toHaveBeenCalledTimes(1);
  });

  test('a time that is past, or a fraction, is soon', async () => {
    for (const ms of [-5, 0.2]) {
      await new Promise<void>((resolve) => {
        clock.after(ms, resolve);
      });
    }
  });

  test('a cancelled one never fires; cancelling again, or late, is harmless', async () => {
    const fired = vi.fn();
    const timer = clock.after(5, fired);
    timer.cancel();
    timer.cancel();
    await pause(20);
    expect(fired).not.toHaveBeenCalled();
    const done = await new Promise<{ cancel(): void }>((resolve) => {
      const late = clock.after(1, () => resolve(late));
    });
    done.cancel();
  });

  test('S18: one of 30 days waits 30 days, past what setTimeout can hold', () => {
    vi.useFakeTimers();
    try {
      const days = 24 * 3_600_000;
      const fired = vi.fn();
      clock.after(30 * days, fired);
      vi.advanceTimersByTime(30 * days - 1);
      expect(fired).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(fired).toHaveBeenCalledTimes(1);
      const cancelled = clock.after(60 * days, fired);
      vi.advanceTimersByTime(40 * days);
      cancelled.cancel();
      vi.advanceTimersByTime(40 * days);
      expect(fired).toHaveBeenCalledTimes(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test('go on after a program put timers of its own in the place of Node’s, and took them away with one of these under way', async () => {
    vi.useFakeTimers();
    const before = vi.fn();
    clock.after(100, before);
    vi.useRealTimers();
    await new Promise<void>((resolve) => {
      clock.after(5, resolve);
    });
    expect(before).toHaveBeenCalledTimes(1);
  });

  test.each([false, true])('S18: a long one waits in pieces setTimeout can hold, each kept alive: %s', (keepAlive) => {
    vi.useFakeTimers();
    const { set, restore } = recordTimeouts();
    try {
      const longest = 2 ** 31 - 1;
      for (const [ms, expected] of [
        [longest, [longest]],
        [longest + 1, [longest, 1]],
        [2 * longest + 5, [longest, longest, 5]],
      ] as const) {
        set.length = 0;
        const fired = vi.fn();
        clock.after(ms, fired, keepAlive);
        vi.advanceTimersByTime(ms - 1);
        expect(fired).not.toHaveBeenCalled();
        expect(set.map(({ timeout }) => timeout.hasRef())).toEqual(expected.map(() => keepAlive));
        vi.advanceTimersByTime(1);
        expect(fired).toHaveBeenCalledTimes(1);
        expect(set.map(({ ms: piece }) => piece)).toEqual(expected);
      }
    } finally {
      restore();
      vi.useRealTimers();
    }
  });

  test('do not keep the process alive unless asked to', () => {
    const kept = (): number => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    const before = kept();
    const idle = clock.after(60_000, () => undefined);
    expect(kept()).toBe(before);
    const [one, other] = [clock.after(60_000, () => undefined, true), clock.after(90_000, () => undefined, true)];
    expect(kept()).toBe(before + 1);
    one.cancel();
    one.cancel();
    expect(kept()).toBe(before + 1);
    other.cancel();
    expect(kept()).toBe(before);
    idle.cancel();
  });

  test('may be told later whether to keep it alive; one that is over keeps nothing', async () => {
    const kept = (): number => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    const before = kept();
    const timer = clock.after(60_000, () => undefined);
    timer.keepAlive?.(true);
    timer.keepAlive?.(true);
    expect(kept()).toBe(before + 1);
    timer.keepAlive?.(false);
    expect(kept()).toBe(before);
    timer.keepAlive?.(true);
    timer.cancel();
    timer.keepAlive?.(true);
    expect(kept()).toBe(before);
    const fired = await new Promise<TimerHandle>((resolve) => {
      const soon = clock.after(1, () => resolve(soon), true);
    });
    fired.keepAlive?.(true);
    expect(kept()).toBe(before);
    const never = clock.after(Infinity, () => undefined, true);
    expect(kept()).toBe(before + 1);
    never.cancel();
    expect(kept()).toBe(before);
  });

  test('soon is after what is already due, and before any time has to pass', async () => {
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      clock.soon(() => {
        order.push('soon');
        resolve();
      });
      queueMicrotask(() => order.push('microtask'));
      order.push('now');
    });
    expect(order).toEqual(['now', 'microtask', 'soon']);
  });
});

test('S8: a hundred thousand ids are a hundred thousand different ones, each a valid id', () => {
  const texts = Array.from({ length: 100_000 }, () => clock.randomText());
  expect(new Set(texts).size).toBe(texts.length);
  for (const text of texts) {
    if (!/^[A-Za-z0-9_-]{17,}$/.test(text)) throw new Error(`less than 100 bits, or not an id: ${text}`);
  }
  expect(checkId(makeId(clock.wall(), texts[0]!))).toHaveLength(29);
});

test('random numbers are from 0 up to, not including, 1, and not all alike', () => {
  const numbers = Array.from({ length: 1_000 }, () => clock.random());
  expect(numbers.every((n) => n >= 0 && n < 1)).toBe(true);
  expect(new Set(numbers).size).toBeGreaterThan(990);
});
