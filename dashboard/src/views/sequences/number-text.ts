// Numbers of a stream in words, and the fold of its log that says which are open. Pure: everything is handed in.
import type { LeaseEvent, StreamView } from '../../api/types.js';

/** One lease of numbers that is not settled yet. */
export interface OpenLease {
  readonly number: number;
  readonly count: number;
  readonly operationId: string;
  readonly kind: string;
  readonly owner: string;
  readonly leasedAt: string;
  /** As of its lease, unless `isExact`: progress puts it off without a word in the log. */
  readonly expiresAt: string;
  readonly isExact: boolean;
  /** When recovery may take it, where that is known. */
  readonly dueAt?: string;
  readonly isRecovering: boolean;
}

const SETTLES: ReadonlySet<string> = new Set([
  'sequence.committed',
  'sequence.gap',
  'sequence.filled',
  'sequence.moved',
]);

/** '7', or '7–9'. */
export function spanOf(number: number, count = 1): string {
  return count > 1 ? `${shown(number)}–${shown(number + count - 1)}` : shown(number);
}

export function shown(number: number): string {
  return number.toLocaleString('en');
}

export function countText(count: number, one: string, many = `${one}s`): string {
  return `${shown(count)} ${count === 1 ? one : many}`;
}

/** From the newest event to the oldest: the first that leases or settles a number says what it is. */
export function openLeases({ watermark, oldestOpen }: StreamView, newestFirst: readonly LeaseEvent[]): OpenLease[] {
  const decided = new Set<number>();
  const open = new Map<number, OpenLease>();
  for (const event of newestFirst) {
    const number = numberIn(event, 'number');
    if (number === undefined || number <= watermark || decided.has(number)) continue;
    if (SETTLES.has(event.type)) decided.add(number);
    if (event.type !== 'sequence.leased') continue;
    decided.add(number);
    const expiresAt = numberIn(event, 'expiresAt');
    open.set(number, {
      number,
      count: numberIn(event, 'count') ?? 1,
      operationId: textIn(event, 'operationId'),
      kind: textIn(event, 'kind'),
      owner: event.owner ?? '',
      leasedAt: event.at,
      expiresAt: expiresAt === undefined ? event.at : new Date(expiresAt).toISOString(),
      isExact: false,
      isRecovering: false,
    });
  }
  if (oldestOpen) {
    const { state, number, ...rest } = oldestOpen;
    const count = open.get(number)?.count ?? 1;
    open.set(number, { ...rest, number, count, isExact: true, isRecovering: state === 'recovering' });
  }
  return [...open.values()].toSorted((a, b) => a.number - b.number);
}

export interface OutcomeCount {
  readonly outcome: string;
  readonly count: number;
}

/** How often each came, the most frequent first. */
export function countOutcomes(recoveries: readonly LeaseEvent[]): OutcomeCount[] {
  const counts = new Map<string, number>();
  for (const event of recoveries) counts.set(outcomeOf(event), (counts.get(outcomeOf(event)) ?? 0) + 1);
  return [...counts].map(([outcome, count]) => ({ outcome, count })).toSorted((a, b) => b.count - a.count);
}

/** What a recovery came to, in a word or two. */
export function outcomeOf({ type, data }: LeaseEvent): string {
  const { outcome, method } = data;
  if (outcome === 'discarded') return 'discarded';
  if (type === 'recovery.failed') return outcome === 'manual' ? 'given to a person' : 'failed, tried again';
  if (outcome === 'gap') return 'left a gap';
  if (outcome === 'moved') return 'moved';
  return method === 'partial_work' ? 'rebuilt' : 'stored after all';
}

export function numberIn({ data }: LeaseEvent, key: string): number | undefined {
  const value = data[key];
  return typeof value === 'number' ? value : undefined;
}

export function textIn({ data }: LeaseEvent, key: string): string {
  const value = data[key];
  return typeof value === 'string' ? value : '';
}
