// What the event log adds up to (O2): a pure fold of its rows. Two processes that fold the same rows from the same base have
// the same totals, which is why two servers agree. Nothing here knows a store.
//
// Kinds are labels, so there is a bound on them: the first sixteen are kept by name, what comes after is counted as `other`.
import type { LogRow } from '../domain/events.js';

/** How many fell into each bucket, the last one for everything above; and their sum. */
export interface Spread {
  readonly counts: number[];
  sumMs: number;
}

/** How an expired number was dealt with; `none` for a lease, which has nothing to recover. */
export const OUTCOMES = ['none', 'partial_work', 'recommitted', 'gap', 'manual', 'failed'] as const;
export type Outcome = (typeof OUTCOMES)[number];
export type Tally = Record<Outcome, number>;

export interface KindTotals {
  readonly expired: Tally;
  readonly recovered: Tally;
  failures: number;
  readonly overrun: Spread;
}

export interface LogTotals {
  acquired: number;
  timeouts: number;
  aborted: number;
  deadlocks: number;
  released: number;
  revoked: number;
  /** Leases and numbers, however they were dealt with. */
  expired: number;
  readonly hold: Spread;
  readonly kinds: Map<string, KindTotals>;
  active: number;
  pending: number;
  /** Leases that lapsed up to here were not among the active ones when those were counted. */
  countedAt: number;
}

export const HOLD_SECONDS = [0.1, 1, 5, 30, 120, 600, 3_600, 21_600, 86_400];
export const OVERRUN_SECONDS = [0.1, 1, 5, 15, 30, 60, 300, 3_600];
/** The kind of leases, which have none of their own. */
export const LEASE_KIND = 'lease';
const OTHER_KIND = 'other';
const MAX_KINDS = 16;
const MAX_KIND_BYTES = 48;

export function noTotals(): LogTotals {
  return {
    acquired: 0,
    timeouts: 0,
    aborted: 0,
    deadlocks: 0,
    released: 0,
    revoked: 0,
    expired: 0,
    hold: newSpread(HOLD_SECONDS),
    kinds: new Map([[LEASE_KIND, newKind()]]),
    active: 0,
    pending: 0,
    countedAt: 0,
  };
}

export function newKind(): KindTotals {
  return { expired: newTally(), recovered: newTally(), failures: 0, overrun: newSpread(OVERRUN_SECONDS) };
}
function newTally(): Tally {
  return { none: 0, partial_work: 0, recommitted: 0, gap: 0, manual: 0, failed: 0 };
}
function newSpread(bounds: readonly number[]): Spread {
  return { counts: new Array<number>(bounds.length + 1).fill(0), sumMs: 0 };
}

export function copyTotals(totals: LogTotals): LogTotals {
  return structuredClone(totals);
}

/** Leases that are over, however they ended. */
export function endedLeases(totals: LogTotals): number {
  return totals.released + totals.revoked + expiredLeases(totals);
}
export function expiredLeases({ kinds }: LogTotals): number {
  return kinds.get(LEASE_KIND)?.expired.none ?? 0;
}
export function recoveries({ kinds }: LogTotals): { succeeded: number; failed: number } {
  let [succeeded, failed] = [0, 0];
  for (const { recovered, failures } of kinds.values()) {
    for (const outcome of OUTCOMES) succeeded += recovered[outcome];
    failed += failures;
  }
  return { succeeded, failed };
}

/** Adds one row of the log. */
export function addRow(totals: LogTotals, row: LogRow): void {
  switch (row.type) {
    case 'lease.queued':
      totals.pending += 1;
      return;
    case 'lease.acquired':
      totals.acquired += 1;
      totals.active += 1;
      if (row.from === 'pending') leaveQueue(totals);
      return;
    case 'lease.upgraded':
      // A ticket that waited is spent; one that was granted at once never stood in the queue.
      if (numberIn(row, 'waitedMs') > 0) leaveQueue(totals);
      return;
    case 'lease.released':
      totals.released += 1;
      endLease(totals);
      measure(totals.hold, HOLD_SECONDS, numberIn(row, 'heldMs'));
      return;
    case 'lease.expired':
      addExpiry(totals, row);
      return;
    case 'lease.revoked':
      addRevocation(totals, row);
      return;
    case 'lease.failed':
      leaveQueue(totals);
      if (row.reason === 'timeout') totals.timeouts += 1;
      else totals.aborted += 1;
      return;
    case 'deadlock.detected':
      leaveQueue(totals);
      totals.deadlocks += 1;
      return;
    case 'sequence.gap':
      if (row.data['method'] === 'manual') addSettled(totals, row, 'manual');
      return;
    case 'recovery.succeeded':
      addRecovery(totals, row);
      return;
    case 'recovery.failed':
      if (row.data['outcome'] !== 'discarded') kindOf(totals, row).failures += 1;
      return;
    default:
      return;
  }
}

function addExpiry(totals: LogTotals, row: LogRow): void {
  const kind = kindNamed(totals, LEASE_KIND);
  totals.expired += 1;
  kind.expired.none += 1;
  measure(kind.overrun, OVERRUN_SECONDS, numberIn(row, 'overrunMs'));
  measure(totals.hold, HOLD_SECONDS, numberIn(row, 'heldMs'));
  if (numberIn(row, 'expiresAt') > totals.countedAt) endLease(totals);
}

function addRevocation(totals: LogTotals, row: LogRow): void {
  if (row.data['lifted'] === true) return; // only a block was lifted
  if (row.from === 'pending') {
    totals.aborted += 1;
    leaveQueue(totals);
    return;
  }
  totals.revoked += 1;
  endLease(totals);
}

/** A gap that was counted when it became one is not counted again when its operation is stored after all. */
function addRecovery(totals: LogTotals, row: LogRow): void {
  const method = outcomeOf(row.data['method']);
  kindOf(totals, row).recovered[method] += 1;
  const { outcome } = row.data;
  const isFirst = outcome === 'moved' || outcome === 'committed' || (outcome === 'gap' && method === 'gap');
  if (isFirst) addSettled(totals, row, method);
}

function addSettled(totals: LogTotals, row: LogRow, outcome: Outcome): void {
  const kind = kindOf(totals, row);
  totals.expired += 1;
  kind.expired[outcome] += 1;
  measure(kind.overrun, OVERRUN_SECONDS, numberIn(row, 'overrunMs'));
}

function outcomeOf(method: unknown): Outcome {
  return OUTCOMES.find((outcome) => outcome === method) ?? 'recommitted'; // a spooled result is a finished one
}

/** Never below nothing: a ticket that was dead when the queue was counted may be written down later. */
function leaveQueue(totals: LogTotals): void {
  totals.pending = Math.max(0, totals.pending - 1);
}
function endLease(totals: LogTotals): void {
  totals.active = Math.max(0, totals.active - 1);
}

function measure(spread: Spread, boundsSeconds: readonly number[], ms: number): void {
  const found = boundsSeconds.findIndex((bound) => ms <= bound * 1_000);
  const bucket = found === -1 ? boundsSeconds.length : found;
  spread.counts[bucket] = (spread.counts[bucket] ?? 0) + 1;
  spread.sumMs += ms;
}

function kindOf(totals: LogTotals, row: LogRow): KindTotals {
  const { kind } = row.data;
  return kindNamed(totals, typeof kind === 'string' && kind !== '' ? kind : OTHER_KIND);
}

function kindNamed({ kinds }: LogTotals, name: string): KindTotals {
  const known = kinds.get(name);
  if (known) return known;
  const isNamed = name === LEASE_KIND || (kinds.size < MAX_KINDS && Buffer.byteLength(name) <= MAX_KIND_BYTES);
  const label = isNamed ? name : OTHER_KIND;
  const kind = kinds.get(label) ?? newKind();
  kinds.set(label, kind);
  return kind;
}

function numberIn(row: LogRow, key: string): number {
  const value = row.data[key];
  return typeof value === 'number' ? value : 0;
}
