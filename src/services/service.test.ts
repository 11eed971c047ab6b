// The periodic service beside its stress test: the pauses it makes, what it says, and what it hands its tick.
import { describe, expect, test } from 'vitest';
import { pass, serviceSite, settled } from '../../test/support/service-site.js';
import { FakeClock } from '../testing/fake-clock.js';
import { pause, PeriodicService } from './service.js';

function periodic(tick: (signal: AbortSignal) => Promise<void>, intervalMs = (): number => 10_000) {
  const site = serviceSite();
  const times: number[] = [];
  const start = site.clock.monotonic();
  const watched = (signal: AbortSignal): Promise<void> => {
    times.push(site.clock.monotonic() - start);
    return tick(signal);
  };
  const service = new PeriodicService({ name: 'test', ...site, intervalMs, tick: watched });
  return { ...site, service, times };
}
const gaps = (times: readonly number[]): number[] => times.slice(1).map((time, i) => time - (times[i] ?? NaN));

describe('O1: a periodic service', () => {
  test('O1: ticks first within its interval, then about every interval', async () => {
    const { service, times, clock } = periodic(() => Promise.resolve());
    service.start();
    await clock.advance(10_000);
    expect(times).toHaveLength(1);
    await clock.advance(100_000);
    expect(times.length).toBeGreaterThanOrEqual(10);
    for (const gap of gaps(times)) expect(Math.abs(gap - 10_000)).toBeLessThanOrEqual(500);
    expect(new Set(gaps(times)).size).toBeGreaterThan(5); // jitter
    await service.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  test('O1: after errors it waits 1 s doubling to 1 min, and logs each', async () => {
    let isDown = true;
    const { service, times, clock, lines } = periodic(() => (isDown ? Promise.reject(new Error('down')) : settled()));
    service.start();
    await clock.advance(10_000 + 127_000);
    isDown = false;
    expect(gaps(times).slice(0, 7).map(Math.round)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]);
    expect(lines[0]).toMatchObject({
      level: 'error',
      facts: { service: 'test', failures: 1, retryMs: 1_000, err: { message: 'down' } },
    });
    await service.stop();
  });

  test('O1: stop aborts the signal of the tick and waits for it; start meanwhile waits too', async () => {
    const ends: (() => void)[] = [];
    const signals: AbortSignal[] = [];
    const { service, clock, times } = periodic((signal) => {
      signals.push(signal);
      return new Promise((resolve) => {
        ends.push(resolve);
      });
    });
    service.start();
    await clock.advance(10_000);
    let isStopped = false;
    const stopped = service.stop().then(() => void (isStopped = true));
    expect(signals[0]?.aborted).toBe(true);
    service.start();
    await clock.advance(100_000);
    expect([isStopped, times.length]).toEqual([false, 1]);
    ends[0]?.();
    await stopped;
    await clock.advance(10_000);
    expect(times).toHaveLength(2);
    expect(signals[1]?.aborted).toBe(false);
    const last = service.stop();
    ends[1]?.();
    await last;
  });

  test('S12: what a tick throws at once, or because it was stopped, stays inside', async () => {
    const { service, clock, lines } = periodic(() => {
      throw new Error('at once');
    });
    service.start();
    await clock.advance(10_000);
    await service.stop();
    expect(lines.map((line) => line.level)).toContain('error');

    const cut = periodic(
      (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('cut')));
        }),
    );
    cut.service.start();
    await cut.clock.advance(10_000);
    await cut.service.stop();
    expect(cut.lines.map((line) => line.level)).toEqual(['debug']);
  });

  test.each([NaN, -1, 0, Infinity])('O1: an interval of %d becomes a minute, never a loop', async (ms) => {
    const { service, clock, times } = periodic(
      () => Promise.resolve(),
      () => ms,
    );
    service.start();
    await clock.advance(600_000);
    expect(times.length).toBeGreaterThan(8);
    expect(times.length).toBeLessThan(13);
    await service.stop();
  });

  test('S12: an interval that throws is logged and becomes a minute', async () => {
    const { service, clock, times, lines } = periodic(
      () => Promise.resolve(),
      () => {
        throw new Error('no idea');
      },
    );
    service.start();
    await clock.advance(180_000);
    expect(times.length).toBeGreaterThan(1);
    expect(lines[0]).toMatchObject({ level: 'error', facts: { err: { message: 'no idea' } } });
    await service.stop();
  });

  test('O1: its timers never keep the process alive', async () => {
    const clock = new FakeClock();
    const kept: unknown[] = [];
    const after: FakeClock['after'] = clock.after;
    clock.after = (ms, fn, ...more: unknown[]) => {
      kept.push(...more);
      return after(ms, fn);
    };
    const { logger } = serviceSite();
    const tick = (signal: AbortSignal): Promise<void> => pause(clock, 10, signal);
    const service = new PeriodicService({ name: 'test', clock, logger, intervalMs: () => 1_000, tick });
    service.start();
    await pass(clock, 5_000);
    await service.stop();
    expect(kept.filter((keepAlive) => keepAlive === true)).toEqual([]);
  });
});

describe('a pause', () => {
  test('lasts as long as asked, or until the signal aborts, and leaves no timer', async () => {
    const clock = new FakeClock();
    const control = new AbortController();
    const ended: string[] = [];
    const pauses = [
      pause(clock, 100, control.signal).then(() => ended.push('short')),
      pause(clock, 10_000, control.signal).then(() => ended.push('long')),
    ];
    await clock.advance(100);
    expect(ended).toEqual(['short']);
    control.abort();
    await Promise.all(pauses);
    await pause(clock, 10_000, control.signal);
    expect(clock.pendingTimers).toBe(0);
  });
});
