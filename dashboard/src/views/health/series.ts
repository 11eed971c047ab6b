// From running sums to lines that can be drawn. Pure. Between two samples a sum became larger by what happened; a sum that
// became smaller belongs to another count and says nothing. Where samples are missing the line is broken, not guessed.
import type { Figures, FigureSample } from '../../api/types.js';

export type Sum = Exclude<keyof FigureSample, 'at' | 'waiting' | 'held'>;
export type Gauge = 'waiting' | 'held';
export type Line = readonly (number | null)[];

const KEPT_MS = 3_600_000;
/** A pause between two samples that is longer than so many intervals is a hole. */
const HOLE = 3;
/** What is told as the present is the mean of so long: one sample is too nervous to be read. */
const PRESENT_S = 30;

/** What was known and what came: samples of another server do not go on from ours. */
export function joinFigures(known: Figures | undefined, fresh: Figures): Figures {
  if (known?.server !== fresh.server) return fresh;
  const last = known.items.at(-1)?.at ?? '';
  const items = [...known.items, ...fresh.items.filter(({ at }) => at > last)];
  const end = Date.parse(items.at(-1)?.at ?? '');
  return { ...fresh, items: items.filter(({ at }) => Date.parse(at) > end - KEPT_MS) };
}

/** Samples with a hole marked by an empty place in its middle. */
export function withHoles({ items, everyMs }: Figures): readonly (FigureSample | number)[] {
  return items.flatMap((sample, n) => {
    const before = items[n - 1];
    const pauseMs = before ? Date.parse(sample.at) - Date.parse(before.at) : 0;
    return pauseMs > HOLE * everyMs ? [Date.parse(sample.at) - pauseMs / 2, sample] : [sample];
  });
}

type Places = ReturnType<typeof withHoles>;

/** Seconds, as plots take them. */
export function timesOf(places: Places): number[] {
  return places.map((place) => (typeof place === 'number' ? place : Date.parse(place.at)) / 1_000);
}

/** How much a sum grew, a second. */
export function rateOf(places: Places, key: Sum): Line {
  return between(places, (before, after, seconds) => (after[key] - before[key]) / seconds);
}

export function gaugeOf(places: Places, key: Gauge): Line {
  return places.map((place) => (typeof place === 'number' ? null : place[key]));
}

/** How late, in seconds, what ran out was dealt with: the mean between two samples, nothing where nothing ran out. */
export function latenessOf(places: Places): Line {
  return between(places, (before, after) => {
    const expired = after.expired - before.expired;
    return expired > 0 ? (after.overrunMs - before.overrunMs) / expired / 1_000 : null;
  });
}

function between(
  places: Places,
  value: (before: FigureSample, after: FigureSample, seconds: number) => number | null,
): Line {
  return places.map((after, n) => {
    const before = places[n - 1];
    if (typeof after === 'number' || before === undefined || typeof before === 'number') return null;
    const found = value(before, after, (Date.parse(after.at) - Date.parse(before.at)) / 1_000);
    return found === null || found < 0 ? null : found;
  });
}

export interface Summary {
  /** The mean of the last half minute, or of as long as was asked for. */
  readonly present: number | undefined;
  readonly least: number;
  readonly most: number;
  readonly mean: number;
}

/** Undefined where there is nothing to say anything about. */
export function summaryOf(
  times: readonly number[],
  line: Line,
  fromS: number,
  presentS = PRESENT_S,
): Summary | undefined {
  const values: number[] = [];
  const recent: number[] = [];
  const end = times.at(-1) ?? 0;
  line.forEach((value, n) => {
    const at = times[n] ?? 0;
    if (value === null || at < fromS) return;
    values.push(value);
    if (at > end - presentS) recent.push(value);
  });
  if (values.length === 0) return undefined;
  return {
    present: recent.length === 0 ? undefined : meanOf(recent),
    least: Math.min(...values),
    most: Math.max(...values),
    mean: meanOf(values),
  };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
