// Times and spans in few words. Pure: the present is handed in.
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** '0.4 s', '12 s', '3 min', '2 h 5 min', '4 d'. */
export function spanText(ms: number): string {
  const span = Math.max(0, ms);
  if (span < SECOND) return `${(span / SECOND).toFixed(1)} s`;
  if (span < 2 * MINUTE) return `${Math.floor(span / SECOND)} s`;
  if (span < HOUR) return `${Math.floor(span / MINUTE)} min`;
  if (span < DAY) return withRest(Math.floor(span / HOUR), 'h', Math.floor((span % HOUR) / MINUTE), 'min');
  return withRest(Math.floor(span / DAY), 'd', Math.floor((span % DAY) / HOUR), 'h');
}

/** '12 s ago', 'in 3 min', 'now'. */
export function relativeText(atMs: number, nowMs: number): string {
  const ms = nowMs - atMs;
  if (Math.abs(ms) < SECOND) return 'now';
  return ms > 0 ? `${spanText(ms)} ago` : `in ${spanText(-ms)}`;
}

const EXACT = new Intl.DateTimeFormat(undefined, {
  ...{ year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' },
  ...{ fractionalSecondDigits: 3, timeZoneName: 'short', hourCycle: 'h23' },
});

/** To the millisecond, here and in UTC. */
export function exactText(iso: string): string {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? iso : `${EXACT.format(at)} (${at.toISOString()})`;
}

function withRest(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}
