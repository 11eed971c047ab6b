// The arithmetic of stopping in time, and that the advice given with a refusal is good advice.
import { describe, expect, test } from 'vitest';
import { backoffMs, defaultRequestTimeoutMs, marginMs } from '../../domain/trust-window.js';
import { stopWindow } from './stop-window.js';

const TTLS = [250, 1_000, 2_000, 30_000, 60_000, 3_600_000, 30 * 86_400_000];

describe('C2, S7: when a command is stopped', () => {
  test.each([
    [1_000, { beforeMs: 75, afterMs: -50 }],
    [2_000, { beforeMs: 150, afterMs: -100 }],
    [5_000, { beforeMs: 0, afterMs: 100 }],
    [30_000, { beforeMs: 0, afterMs: 2_000 }],
    [3_600_000, { beforeMs: 0, afterMs: 4_000 }],
  ])('of a ttl of %i ms, without --grace', (ttlMs, window) => {
    expect(stopWindow(ttlMs, undefined)).toEqual(window);
  });

  test.each(TTLS)('with a ttl of %i ms SIGKILL leaves drift and a reserve, SIGTERM two attempts to renew', (ttlMs) => {
    const { beforeMs, afterMs } = stopWindow(ttlMs, undefined);
    const reserveMs = marginMs(ttlMs) - afterMs - ttlMs * 0.0005;
    expect(reserveMs).toBeGreaterThanOrEqual(Math.floor(Math.min(400, 0.15 * ttlMs)));
    const untilStopMs = ttlMs - marginMs(ttlMs) - beforeMs;
    expect(untilStopMs).toBeGreaterThanOrEqual(ttlMs * 0.6 + 2 * defaultRequestTimeoutMs(ttlMs) + backoffMs(ttlMs) - 1);
  });

  test('a grace that the margin holds is what is left; a longer one begins so much earlier', () => {
    expect(stopWindow(30_000, 2_000)).toEqual({ beforeMs: 0, afterMs: 2_000 });
    expect(stopWindow(30_000, 0)).toEqual({ beforeMs: 0, afterMs: 2_000 });
    expect(stopWindow(30_000, 4_000)).toEqual({ beforeMs: 2_000, afterMs: 2_000 });
  });

  test.each([1_000, 30_000, 600_000])('of a ttl of %i ms the advice given with a refusal is taken', (ttlMs) => {
    const refusal = (graceMs: number): RegExpExecArray => {
      try {
        stopWindow(ttlMs, graceMs);
      } catch (error) {
        return /use --ttl (\S+) or more, or --grace (\S+) or less/.exec((error as Error).message)!;
      }
      throw new Error('it fits');
    };
    const [, ttl = '', grace = ''] = refusal(ttlMs / 2);
    expect(() => stopWindow(inMs(ttl), ttlMs / 2)).not.toThrow();
    expect(() => stopWindow(inMs(ttl) - 1_000, ttlMs / 2)).toThrow();
    expect(() => stopWindow(ttlMs, inMs(grace))).not.toThrow();
    expect(() => stopWindow(ttlMs, inMs(grace) + 1)).toThrow();
  });

  test('a grace that fits no ttl is refused without advice about one', () => {
    expect(() => stopWindow(30_000, 29 * 86_400_000)).toThrow(/ms > ttl 30000 ms; use --grace 4s385ms or less$/);
  });
});

function inMs(text: string): number {
  const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as Record<string, number>;
  return [...text.matchAll(/(\d+)(ms|[dhms])/g)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * units[unit]!,
    0,
  );
}
