// The record of the alerts: there and back, always small enough to be kept, with the samples the rules need.
import { describe, expect, test } from 'vitest';
import { LIMITS } from '../domain/limits.js';
import { MAX_OUTBOX, NO_RECORD, readRecord, withSample, writeRecord } from './alert-record.js';
import type { AlertRecord, Outgoing } from './alert-record.js';
import { ALERT_RULES, NOTHING, SUMS, type AlertState, type Sample, type Sums } from './alert-rules.js';

const START = Date.UTC(2026, 0, 2);
const FIFTEEN_SECONDS = 15_000;
const HOUR = 3_600_000;

function samplesOf(hours: number, step: number): Sample[] {
  let samples: Sample[] = [];
  for (let at = START; at < START + hours * 3_600_000; at += FIFTEEN_SECONDS) {
    const sums = Object.fromEntries(SUMS.map((key, i) => [key, ((at - START) / FIFTEEN_SECONDS) * step * (i + 1)]));
    samples = withSample(samples, { ...NOTHING, ...sums, at, gaps: step, skewMs: 12 });
  }
  return samples;
}

function allAlerts(state: AlertState['state']): AlertRecord['alerts'] {
  const value = state === 'firing' ? 0.25 : 1 / 3;
  return Object.fromEntries(ALERT_RULES.map(({ name }) => [name, { state, since: START, value }]));
}

function fullOutbox(): Outgoing[] {
  const notice = { alert: 'acquisition-failures', state: 'resolved', value: 1 / 3, at: START } as const;
  const taken = { by: 'abcdefgh', takenAt: START, tries: 10 };
  return Array.from({ length: MAX_OUTBOX }, (_, i) => ({ id: `notice-${i}-abcd`, ...notice, ...taken }));
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
  const record = { samples: samplesOf(2, 3), alerts: allAlerts('firing'), outbox: [], seen: [1, 2, 3] };
  expect(readRecord(JSON.parse(JSON.stringify(writeRecord(record))))).toEqual(record);
});

test('O3, S18: the fullest record fits, with its newest sample', () => {
  const samples = samplesOf(3, 987_654_321);
  const seen = new Array<number>(7).fill(Number.MAX_SAFE_INTEGER);
  const written = writeRecord({ samples, alerts: allAlerts('pending'), outbox: fullOutbox(), seen });
  expect(JSON.stringify(written).length).toBeLessThanOrEqual(LIMITS.metadataBytes);
  const read = readRecord(JSON.parse(JSON.stringify(written)));
  expect(read.samples.at(-1)).toEqual(samples.at(-1));
  expect(read.samples.length).toBeGreaterThan(5);
});

describe('O3: many servers, each with a sample every fifteen seconds', () => {
  const valueOf = (name: string, samples: readonly Sample[]): number =>
    ALERT_RULES.find((rule) => rule.name === name)?.value(samples, samples.at(-1)?.at ?? 0, 30_000) ?? 0;

  /** For two minutes of each hour a quarter of what ends expires: under one in a hundred. The clock of one machine is six
   *  seconds off. */
  function afterHours(
    servers: number,
    perSecond: number,
    rest: Partial<AlertRecord>,
  ): { ageMs: number; values: number[] }[] {
    const stepMs = FIFTEEN_SECONDS / servers;
    const seen: { ageMs: number; values: number[] }[] = [];
    let record: AlertRecord = { ...NO_RECORD, ...rest };
    for (let turn = 1; turn * stepMs < 1.75 * HOUR; turn += 1) {
      const before = record.samples.at(-1) ?? NOTHING;
      const at = Math.round(START + turn * stepMs);
      const minute = Math.floor((at - START) / 60_000) % 60;
      const ended = Math.round((perSecond * stepMs) / 1_000);
      const expired = minute >= 30 && minute < 32 ? Math.round(ended / 4) : 0;
      const sums = Object.fromEntries(SUMS.map((key) => [key, before[key] + ended])) as unknown as Sums;
      const some = { expiredLeases: before.expiredLeases + expired, expired: before.expired + expired };
      const samples = withSample(record.samples, {
        ...sums,
        ...some,
        at,
        gaps: 3,
        skewMs: turn % servers === 0 ? 6_000 : 12,
      });
      record = readRecord(JSON.parse(JSON.stringify(writeRecord({ ...record, samples }))));
      const values = ['expiration-rate', 'clock-skew'].map((name) => valueOf(name, record.samples));
      seen.push({ ageMs: at - (record.samples[0]?.at ?? 0), values });
    }
    return seen.slice(Math.ceil((HOUR + 600_000) / stepMs));
  }

  test.each([
    [1, 40, {}],
    [6, 40, {}],
    [6, 40_000_000, { alerts: allAlerts('pending'), outbox: fullOutbox() }],
  ])(
    'O3: %i, %i leases a second: the last hour is one, and a clock that is off is seen',
    (servers, perSecond, rest) => {
      const later = afterHours(servers, perSecond, rest);
      expect(Math.min(...later.map(({ ageMs }) => ageMs))).toBeGreaterThan(HOUR - 60_000);
      expect(Math.max(...later.map(({ values: [rate] }) => rate ?? 1))).toBeLessThan(0.02);
      expect(new Set(later.map(({ values: [, skew] }) => skew))).toEqual(new Set([6]));
    },
  );
});

test.each([undefined, null, 7, {}, { v: 2 }, { v: 1, alerts: {}, outbox: {}, seen: [] }])(
  '%j is no record',
  (value) => {
    expect(readRecord(value)).toEqual(NO_RECORD);
  },
);
