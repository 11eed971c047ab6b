// What the alert monitors of all servers share, in one document of at most 4 KiB: samples, how each alert stands, and what
// still has to be sent. Samples are kept close together for six minutes and five minutes apart before that, however many
// servers write them: they reach back over the whole hour also where there is little room.
import { NOTHING, SAMPLES_KEPT_MS, SUMS, type AlertState, type Sample } from './alert-rules.js';

/** A notice on its way to the webhook. */
export interface Outgoing {
  readonly id: string;
  readonly alert: string;
  readonly state: 'firing' | 'resolved';
  readonly value: number;
  readonly at: number;
  /** Which process sends it, since when, and how often it was begun. */
  readonly by: string;
  readonly takenAt: number;
  readonly tries: number;
}

export interface AlertRecord {
  readonly samples: readonly Sample[];
  readonly alerts: Readonly<Record<string, AlertState>>;
  readonly outbox: readonly Outgoing[];
  /** The totals of the log that the sums above already hold. */
  readonly seen: readonly number[];
}

const VERSION = 1;
const CLOSE_MS = 6 * 60_000;
const APART_MS = 5 * 60_000;
/** How close together is of use: many servers write more often than that. */
const NEAR_MS = 10_000;
const MAX_TEXT = 3_900;
export const MAX_OUTBOX = 8;
const KEYS = ['at', ...SUMS, 'gaps', 'skewMs'] as const;

export const NO_RECORD: AlertRecord = { samples: [], alerts: {}, outbox: [], seen: [] };

/** With one more sample, and without those that are no longer of use. */
export function withSample(samples: readonly Sample[], sample: Sample): Sample[] {
  const kept: Sample[] = [];
  for (const one of samples) {
    const ageMs = sample.at - one.at;
    if (ageMs < 0 || ageMs > SAMPLES_KEPT_MS) continue;
    const previous = kept.at(-1);
    const apartMs = ageMs <= CLOSE_MS ? NEAR_MS : APART_MS;
    if (previous === undefined || one.at - previous.at >= apartMs) kept.push(one);
    else kept[kept.length - 1] = withFiguresOf(previous, one);
  }
  return [...kept, sample];
}

/** What one server saw, a clock that is off, is not lost with its sample: the others have not seen it. */
function withFiguresOf(sample: Sample, dropped: Sample): Sample {
  const gaps = Math.max(sample.gaps, dropped.gaps);
  return { ...sample, gaps, skewMs: Math.max(sample.skewMs, dropped.skewMs) };
}

export function writeRecord(record: AlertRecord): Record<string, unknown> {
  let samples = [...record.samples];
  for (;;) {
    const document = { v: VERSION, samples: packed(samples), ...rest(record) };
    if (samples.length <= 1 || JSON.stringify(document).length <= MAX_TEXT) return document;
    samples = thinned(samples);
  }
}

/** Without the one whose neighbours are closest together. A record that is full for long is thinned at every write: so the
 *  oldest stays, and the hour with it. The newest stays anyway. */
function thinned(samples: readonly Sample[]): Sample[] {
  if (samples.length <= 2) return samples.slice(-1);
  const spanMs = (i: number): number => (samples[i + 1]?.at ?? 0) - (samples[i - 1]?.at ?? 0);
  let least = 1;
  for (let i = 2; i < samples.length - 1; i += 1) if (spanMs(i) < spanMs(least)) least = i;
  const dropped = samples[least] ?? NOTHING;
  return samples.flatMap((one, i) => {
    if (i === least) return [];
    return i === least - 1 ? [withFiguresOf(one, dropped)] : [one];
  });
}

function rest({ alerts, outbox, seen }: AlertRecord): Record<string, unknown> {
  const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;
  return {
    alerts: Object.fromEntries(
      Object.entries(alerts).map(([name, { state, since, value }]) => [name, [state, since, rounded(value)]]),
    ),
    outbox: outbox.map((one) => ({ ...one, value: rounded(one.value) })),
    seen,
  };
}

export function readRecord(value: unknown): AlertRecord {
  const given = value as { v?: unknown; samples?: unknown } & Record<string, unknown>;
  if (typeof value !== 'object' || value === null || given.v !== VERSION) return NO_RECORD;
  const { alerts, outbox, seen } = given;
  if (typeof alerts !== 'object' || alerts === null || !Array.isArray(outbox) || !Array.isArray(seen)) return NO_RECORD;
  const states = Object.entries(alerts as Record<string, [AlertState['state'], number, number]>);
  return {
    samples: unpacked(given.samples),
    alerts: Object.fromEntries(states.map(([name, [state, since, at]]) => [name, { state, since, value: at }])),
    outbox: outbox as Outgoing[],
    seen: seen as number[],
  };
}

/** Each sample as what it adds to the one before: most of it nothing. */
function packed(samples: readonly Sample[]): string[] {
  let before = NOTHING;
  return samples.map((sample) => {
    const text = KEYS.map((key) => Math.round(sample[key] - before[key]))
      .map((number) => (number === 0 ? '' : number.toString(36)))
      .join(' ');
    before = sample;
    return text.trimEnd();
  });
}

function unpacked(texts: unknown): Sample[] {
  if (!Array.isArray(texts)) return [];
  let before = NOTHING;
  const samples: Sample[] = [];
  for (const text of texts as unknown[]) {
    const numbers = String(text)
      .split(' ')
      .map((one) => (one === '' ? 0 : Number.parseInt(one, 36)));
    if (numbers.length > KEYS.length || !numbers.every((one) => Number.isSafeInteger(one))) return samples;
    const previous = before;
    before = Object.fromEntries(KEYS.map((key, i) => [key, previous[key] + (numbers[i] ?? 0)])) as unknown as Sample;
    samples.push(before);
  }
  return samples;
}
