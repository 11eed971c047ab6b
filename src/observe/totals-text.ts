// Totals as a small document (at most 4 KiB: it is kept as the metadata of a lease) and back. Numbers are in base 36, lists
// without names. What does not read as a whole is no document: a version of the future, or somebody's own lease.
import {
  HOLD_SECONDS,
  newKind,
  noTotals,
  OUTCOMES,
  OVERRUN_SECONDS,
  type KindTotals,
  type LogTotals,
  type Spread,
  type Tally,
} from './log-totals.js';

/** Totals as of a position of the log. Processes that follow one base agree. */
export interface Checkpoint {
  readonly base: string;
  readonly position: string;
  readonly totals: LogTotals;
}

const VERSION = 1;
const PLAIN = [
  'acquired',
  'timeouts',
  'aborted',
  'deadlocks',
  'released',
  'revoked',
  'expired',
  'active',
  'pending',
  'countedAt',
] as const;
const TALLY = OUTCOMES.length;
const KIND_NUMBERS = 2 * TALLY + 2 + OVERRUN_SECONDS.length + 1;

export function writeCheckpoint({ base, position, totals }: Checkpoint): Record<string, unknown> {
  return {
    v: VERSION,
    base,
    position,
    plain: write(PLAIN.map((key) => totals[key])),
    hold: write([totals.hold.sumMs, ...totals.hold.counts]),
    kinds: [...totals.kinds].map(([name, kind]) => [name, write(numbersOf(kind))]),
  };
}

export function readCheckpoint(value: unknown): Checkpoint | undefined {
  const given = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const { v, base, position, kinds } = given;
  if (v !== VERSION || typeof base !== 'string' || typeof position !== 'string') return undefined;
  const plain = read(given['plain'], PLAIN.length);
  const hold = read(given['hold'], HOLD_SECONDS.length + 2);
  if (!plain || !hold || !Array.isArray(kinds)) return undefined;
  const totals = noTotals();
  PLAIN.forEach((key, i) => {
    totals[key] = plain[i] ?? 0;
  });
  fill(totals.hold, hold);
  for (const one of kinds as unknown[]) {
    const [name, text] = Array.isArray(one) ? (one as unknown[]) : [];
    const numbers = read(text, KIND_NUMBERS);
    if (!numbers || typeof name !== 'string') return undefined;
    totals.kinds.set(name, kindFrom(numbers));
  }
  return { base, position, totals };
}

function numbersOf({ expired, recovered, failures, overrun }: KindTotals): number[] {
  const tally = (one: Tally): number[] => OUTCOMES.map((outcome) => one[outcome]);
  return [...tally(expired), ...tally(recovered), failures, overrun.sumMs, ...overrun.counts];
}

function kindFrom(numbers: readonly number[]): KindTotals {
  const kind = newKind();
  OUTCOMES.forEach((outcome, i) => {
    kind.expired[outcome] = numbers[i] ?? 0;
    kind.recovered[outcome] = numbers[TALLY + i] ?? 0;
  });
  kind.failures = numbers[2 * TALLY] ?? 0;
  fill(kind.overrun, numbers.slice(2 * TALLY + 1));
  return kind;
}

function fill(spread: Spread, [sumMs = 0, ...counts]: readonly number[]): void {
  spread.sumMs = sumMs;
  counts.forEach((count, i) => {
    spread.counts[i] = count;
  });
}

const write = (numbers: readonly number[]): string =>
  numbers.map((one) => (one === 0 ? '' : Math.round(one).toString(36))).join(' ');

function read(text: unknown, length: number): number[] | undefined {
  if (typeof text !== 'string') return undefined;
  const numbers = text.split(' ').map((one) => (one === '' ? 0 : Number.parseInt(one, 36)));
  const isWhole = numbers.length === length && numbers.every((one) => Number.isSafeInteger(one));
  return isWhole ? numbers : undefined;
}
