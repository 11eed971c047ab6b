// Times as people read them: UTC to the second, and how long ago or how much longer in six columns at most.
import { invalid, shown } from '../domain/errors.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `2026-01-31 12:00:00Z` */
export function utc(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 19)}Z`;
}

/** `850ms`, `12s`, `4m05s`, `2h03m`, `9d04h` */
export function span(ms: number): string {
  const left = Math.max(0, Math.round(ms));
  if (left < SECOND) return `${left}ms`;
  if (left < MINUTE) return `${Math.floor(left / SECOND)}s`;
  if (left < HOUR) return `${Math.floor(left / MINUTE)}m${two((left % MINUTE) / SECOND)}s`;
  if (left < DAY) return `${Math.floor(left / HOUR)}h${two((left % HOUR) / MINUTE)}m`;
  return `${Math.floor(left / DAY)}d${two((left % DAY) / HOUR)}h`;
}

/** How long ago: whole seconds are fine enough. */
export function ago(ms: number): string {
  return ms < SECOND ? '0s' : span(ms);
}

function two(value: number): string {
  return String(Math.floor(value)).padStart(2, '0');
}

/** A moment given as a time, or as how long ago it was: `2026-01-31T12:00:00Z`, `2026-01-31`, `90m`. */
export function momentOf(
  text: string,
  name: string,
  now: string,
  agoMs: (text: string, name: string) => number | undefined,
): string {
  const ago = agoMs(text, name);
  if (ago !== undefined) return new Date(Date.parse(now) - ago).toISOString();
  const isTime = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/.test(text);
  const hasZone = /(Z|[+-]\d\d:?\d\d)$/.test(text) || text.length === 10;
  const ms = isTime ? Date.parse(hasZone ? text : `${text}Z`) : NaN;
  if (Number.isNaN(ms)) {
    throw invalid(`${name} is how long ago, such as 90m, or a time such as 2026-01-31T12:00:00Z, got ${shown(text)}`);
  }
  return new Date(ms).toISOString();
}
