// The loop lag: measured against a clock whose timers can be made to fire late.
import { expect, test } from 'vitest';
import { serviceSite } from '../../test/support/service-site.js';
import type { Clock } from '../domain/clock.js';
import { LoopLag } from './loop-lag.js';

/** Timers that fire late by what is asked. */
function lateClock(clock: Clock, lateMs: () => number): Clock {
  return { ...clock, after: (ms, fn) => clock.after(ms + lateMs(), fn) };
}

test('O1: mean and peak of the last samples, each told as it comes', async () => {
  const { clock, logger } = serviceSite();
  let lateMs = 0;
  const heard: number[] = [];
  const lag = new LoopLag({ clock: lateClock(clock, () => lateMs), logger, onSample: (ms) => heard.push(ms) });
  expect([lag.meanMs(), lag.peakMs()]).toEqual([undefined, undefined]);
  lag.start();
  await clock.advance(500);
  expect([lag.meanMs(), lag.peakMs()]).toEqual([0, 0]);
  lateMs = 90;
  await clock.advance(500 + 590);
  expect(heard).toEqual([0, 0, 90]);
  expect([lag.meanMs(), lag.peakMs()]).toEqual([30, 90]);
  lateMs = 0;
  await clock.advance(60 * 590);
  expect(lag.peakMs()).toBe(0);
  await lag.stop();
  expect(clock.pendingTimers).toBe(0);
});

test('a stall that goes on is seen before its timer fires', async () => {
  const { clock, logger } = serviceSite();
  const lag = new LoopLag({ clock: lateClock(clock, () => 10_000), logger });
  lag.start();
  await clock.advance(700);
  expect(lag.peakMs()).toBe(200);
  await lag.stop();
  expect(lag.peakMs()).toBeUndefined();
});

test('S12: a listener that throws is logged, and sampling goes on', async () => {
  const { clock, logger, lines } = serviceSite();
  let calls = 0;
  const onSample = (): void => {
    calls += 1;
    throw new Error('no');
  };
  const lag = new LoopLag({ clock, logger, onSample });
  lag.start();
  await clock.advance(1_000);
  expect([calls, lines.length]).toEqual([2, 2]);
  await lag.stop();
});
