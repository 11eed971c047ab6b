// When a process stays awake for an answer, when it does not, and that it never does for long.
import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../testing/fake-clock.js';
import { Awake } from './awake.js';

const AWAKE_MS = 0.15;

/** A clock whose turns of the loop are the test's to take. */
class TurningClock extends FakeClock {
  readonly #soon: (() => void)[] = [];
  override soon = (fn: () => void): void => void this.#soon.push(fn);

  get isTurning(): boolean {
    return this.#soon.length > 0;
  }

  /** So many turns, a hundredth of a millisecond each; fewer where nobody asks for another. */
  async turn(most: number, eachMs = 0.01): Promise<number> {
    let turned = 0;
    for (; turned < most && this.#soon.length > 0; turned += 1) {
      await this.advance(eachMs);
      for (const fn of this.#soon.splice(0)) fn();
    }
    return turned;
  }
}

async function call(awake: Awake, clock: TurningClock, tookMs: number): Promise<void> {
  awake.left();
  await clock.advance(tookMs);
  awake.answered();
  await clock.turn(10);
}

describe('staying awake', () => {
  test('begins when an answer that found this process asleep was quick, and ends with the last answer', async () => {
    const clock = new TurningClock();
    const awake = new Awake(clock, AWAKE_MS);
    awake.left();
    expect(clock.isTurning).toBe(false);
    await clock.advance(0.2);
    awake.answered();
    awake.left();
    awake.left();
    expect(clock.isTurning).toBe(true);
    expect(await clock.turn(5)).toBe(5);
    awake.answered();
    expect(await clock.turn(5)).toBe(5);
    awake.answered();
    expect(await clock.turn(5)).toBe(1);
    expect(clock.isTurning).toBe(false);
  });

  test('is not begun where answers take longer, as over a network', async () => {
    const clock = new TurningClock();
    const awake = new Awake(clock, AWAKE_MS);
    for (let i = 0; i < 10; i += 1) {
      await call(awake, clock, 0.4);
      awake.left();
      expect(clock.isTurning).toBe(false);
      await clock.advance(0.4);
      awake.answered();
    }
  });

  test('S20: ends when no answer comes, and rests for longer and longer, until it costs a hundredth of the time', async () => {
    const clock = new TurningClock();
    const awake = new Awake(clock, AWAKE_MS);
    const rests: number[] = [];
    for (let miss = 0; miss < 16; miss += 1) {
      await call(awake, clock, 0.2);
      const restedFrom = clock.monotonic();
      awake.left();
      while (!clock.isTurning) {
        await clock.advance(0.2);
        awake.answered();
        awake.left();
      }
      rests.push(clock.monotonic() - restedFrom);
      expect(await clock.turn(1_000)).toBeLessThan(20);
      expect(clock.isTurning).toBe(false);
      await clock.advance(0.3);
      awake.answered();
    }
    expect(rests[0]).toBe(0);
    expect(rests[15]).toBeGreaterThan(14);
    expect(rests[15]).toBeLessThan(16);
  });

  test('one answer that was worth it, and it rests for a moment only', async () => {
    const clock = new TurningClock();
    const awake = new Awake(clock, AWAKE_MS);
    for (let miss = 0; miss < 8; miss += 1) {
      await call(awake, clock, 0.2);
      await clock.advance(1_000);
      awake.left();
      await clock.turn(1_000);
      await clock.advance(5);
      awake.answered();
    }
    await call(awake, clock, 0.2);
    await clock.advance(1_000);
    await call(awake, clock, 0.1);
    awake.left();
    await clock.turn(1_000);
    await clock.advance(0.2);
    awake.answered();
    await call(awake, clock, 0.2);
    awake.left();
    expect(clock.isTurning).toBe(true);
  });

  test('S18: a clock that stands still does not turn for ever', async () => {
    const clock = new TurningClock();
    const awake = new Awake(clock, AWAKE_MS);
    await call(awake, clock, 0.1);
    awake.left();
    expect(await clock.turn(5_000, 0)).toBeLessThanOrEqual(1_001);
    expect(clock.isTurning).toBe(false);
  });
});
