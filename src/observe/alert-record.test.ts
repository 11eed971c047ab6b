// The record of the alerts: there and back, always small enough to be kept, with the samples the rules need.
import { expect, test } from 'vitest';
import { LIMITS } from '../domain/limits.js';
import { MAX_OUTBOX, NO_RECORD, readRecord, withSample, writeRecord, type Outgoing } from './alert-record.js';
import { ALERT_RULES, NOTHING, SUMS, type AlertState, type Sample } from './alert-rules.js';

const START = Date.UTC(2026, 0, 2);
const FIFTEEN_SECONDS = 15_000;

function samplesOf(hours: number, step: number): Sample[] {
  let samples: Sample[] = [];
  for (let at = START; at < START + hours * 3_600_000; at += FIFTEEN_SECONDS) {
    const sums = Object.fromEntries(SUMS.map((key, i) => [key, ((at - START) / FIFTEEN_SECONDS) * step * (i + 1)]));
    samples = withSample(samples, { ...NOTHING, ...sums, at, gaps: step, skewMs: 12 });
  }
  return samples;
}

test('O3: samples stand close for six minutes and five minutes apart for an hour', () => {
  const samples = samplesOf(3, 1);
  const now = samples.at(-1)?.at ?? 0;
  const ages = samples.map(({ at }) => now - at);
  expect(ages.filter((age) => age <= 6 * 60_000)).toHaveLength(25);
  expect(Math.max(...ages)).toBeGreaterThanOrEqual(3_600_000);
  expect(samples.length).toBeLessThan(45);
});

test('O3: a record comes back as it was written', () => {
  const alerts = Object.fromEntries(
    ALERT_RULES.map(({ name }): [string, AlertState] => [name, { state: 'firing', since: START, value: 0.25 }]),
  );
  const record = { samples: samplesOf(2, 3), alerts, outbox: [], seen: [1, 2, 3] };
  expect(readRecord(JSON.parse(JSON.stringify(writeRecord(record))))).toEqual(record);
});

test('O3, S18: the fullest record fits, with its newest sample', () => {
  const outbox = Array.from({ length: MAX_OUTBOX }, (_, i): Outgoing => {
    const ids = { id: `notice-${i}-abcd`, by: 'abcdefgh' };
    return {
      ...ids,
      alert: 'acquisition-failures',
      state: 'resolved',
      value: 1 / 3,
      at: START,
      takenAt: START,
      tries: 10,
    };
  });
  const alerts = Object.fromEntries(
    ALERT_RULES.map(({ name }): [string, AlertState] => [name, { state: 'pending', since: START, value: 1 / 3 }]),
  );
  const samples = samplesOf(3, 987_654_321);
  const seen = new Array<number>(7).fill(Number.MAX_SAFE_INTEGER);
  const written = writeRecord({ samples, alerts, outbox, seen });
  expect(JSON.stringify(written).length).toBeLessThanOrEqual(LIMITS.metadataBytes);
  const read = readRecord(JSON.parse(JSON.stringify(written)));
  expect(read.samples.at(-1)).toEqual(samples.at(-1));
  expect(read.samples.length).toBeGreaterThan(5);
});

test.each([undefined, null, 7, {}, { v: 2 }, { v: 1, alerts: {}, outbox: {}, seen: [] }])(
  '%j is no record',
  (value) => {
    expect(readRecord(value)).toEqual(NO_RECORD);
  },
);
