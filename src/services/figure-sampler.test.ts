// Figures of the last hour: in order, bounded, without a sample for a time in which the store was away.
import { describe, expect, test } from 'vitest';
import { pass, serviceSite } from '../../test/support/service-site.js';
import { addRow, noTotals, type LogTotals } from '../observe/log-totals.js';
import type { ProcessCounts } from '../observe/server-metrics.js';
import { FigureSampler, MOST_SAMPLES, SAMPLE_EVERY_MS, sampleOf } from './figure-sampler.js';

const none: ProcessCounts = { refused: 0, errors: 0, renewals: 0, renewalFailures: 0, conflicts: 0, skewMs: 0 };

function sampling() {
  const { clock, logger } = serviceSite();
  const state = { totals: noTotals() as LogTotals | undefined, isAway: false, storeNow: 1_000 };
  const sampler = new FigureSampler({
    clock,
    logger,
    figures: async () => ({ totals: state.totals, process: none }),
    storeNow: async () => {
      if (state.isAway) throw new Error('away');
      state.storeNow += SAMPLE_EVERY_MS;
      return state.storeNow;
    },
  });
  const samples = (count: number): Promise<void> => pass(clock, count * SAMPLE_EVERY_MS * 1.06, count * 4);
  return { sampler, state, samples };
}

describe('O2: figures of the last hour', () => {
  test('O2: samples go on from where the asker is', async () => {
    const { sampler, samples } = sampling();
    sampler.start();
    await samples(6);
    const all = sampler.since(0);
    expect(all.length).toBeGreaterThanOrEqual(5);
    expect(all.map(({ at }) => at)).toEqual(all.map((_, n) => 1_000 + (n + 1) * SAMPLE_EVERY_MS));
    expect(sampler.since(all[2]?.at ?? 0)).toEqual(all.slice(3));
    expect(sampler.since(all.at(-1)?.at ?? 0)).toEqual([]);
    await sampler.stop();
  });

  test('O2: never more than an hour', async () => {
    const { sampler, samples } = sampling();
    sampler.start();
    await samples(MOST_SAMPLES + 100);
    const all = sampler.since(0);
    expect(all).toHaveLength(MOST_SAMPLES);
    expect(all[0]?.at).toBeGreaterThan(1_000 + SAMPLE_EVERY_MS);
    await sampler.stop();
  });

  test('O2: nothing is made up while the store is away, while nothing is followed, or when its clock stands', async () => {
    const { sampler, state, samples } = sampling();
    state.totals = undefined;
    sampler.start();
    await samples(3);
    expect(sampler.since(0)).toEqual([]);
    state.totals = noTotals();
    await samples(3);
    const before = sampler.since(0).length;
    expect(before).toBeGreaterThan(0);
    state.isAway = true;
    await samples(3);
    expect(sampler.since(0)).toHaveLength(before);
    state.isAway = false;
    state.storeNow -= 10 * SAMPLE_EVERY_MS;
    await samples(5);
    expect(sampler.since(0)).toHaveLength(before);
    await sampler.stop();
  });

  test('O2: a sample adds up what the log and this process know', () => {
    const totals = noTotals();
    const row = { id: '1', at: 1, wallAt: 1, namespace: 'n', actor: 'a', data: {} };
    addRow(totals, { ...row, type: 'lease.queued' });
    addRow(totals, { ...row, type: 'lease.acquired', data: {} });
    addRow(totals, { ...row, type: 'lease.failed', reason: 'timeout' });
    addRow(totals, { ...row, type: 'lease.expired', data: { overrunMs: 1_500, expiresAt: 1 } });
    const sample = sampleOf(7, totals, { ...none, refused: 3, errors: 1, renewals: 10, renewalFailures: 2 });
    expect(sample).toEqual({
      at: 7,
      acquired: 1,
      refused: 3,
      failed: 2,
      waiting: 0,
      held: 0,
      renewed: 8,
      renewalsFailed: 2,
      expired: 1,
      overrunMs: 1_500,
    });
  });
});
