// Durations: a number of milliseconds, or text such as '30s', '1m30s', '250ms', '2h', '1d'. Always whole milliseconds. Text
// without a unit is refused, for nobody knows which one was meant; of nothing at all, '0', it makes no difference.
import { invalid, shown } from './errors.js';

export type Duration = number | string;

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const PIECE = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/y;
const NO_UNIT = /^\d{1,12}(?:\.\d{1,3})?$/;

export interface DurationBounds {
  readonly name: string;
  readonly minMs: number;
  readonly maxMs: number;
}

/** Milliseconds of `value`, or INVALID_ARGUMENT that names the setting, what it got and what it takes. */
export function parseDuration(value: unknown, bounds: DurationBounds): number {
  const ms = typeof value === 'string' ? parseText(value, bounds) : value;
  if (typeof ms !== 'number' || !Number.isFinite(ms)) {
    throw invalid(`${bounds.name} takes milliseconds or text such as '30s', got ${shown(value)}`);
  }
  const whole = Math.round(ms);
  if (whole < bounds.minMs || whole > bounds.maxMs) {
    throw invalid(
      `${bounds.name} is from ${formatDuration(bounds.minMs)} to ${formatDuration(bounds.maxMs)}, got ${shown(value)}`,
    );
  }
  return whole;
}

function parseText(text: string, { name }: DurationBounds): number | undefined {
  if (NO_UNIT.test(text)) {
    if (Number(text) === 0) return 0;
    const other = Number(text) % 1_000 === 0 ? formatDuration(Number(text)) : `${text}s`;
    throw invalid(`${name} needs a unit: write ${text}ms or ${other}, got ${shown(text)}`);
  }
  PIECE.lastIndex = 0;
  let total = 0;
  while (PIECE.lastIndex < text.length) {
    const piece = PIECE.exec(text);
    if (!piece) return undefined;
    total += Number(piece[1]) * (UNIT_MS[piece[2] as string] as number);
  }
  return text === '' ? undefined : total;
}

/** The shortest text that parses back to the same number: 90000 is '1m30s'. */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return String(ms);
  if (Math.round(ms) === 0) return '0s';
  let rest = Math.abs(Math.round(ms));
  let text = ms < 0 ? '-' : '';
  for (const [unit, size] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
    ['ms', 1],
  ] as const) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text;
}
