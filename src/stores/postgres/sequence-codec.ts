// Answers about streams as the functions of the schema give them: arrays of JSON, and texts where a list was answered in one
// statement. Operations come as they were written: one JSON inside the other.
import { checkSameCount } from '../../domain/check-sequence.js';
import { invalid, LeaseError } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import type {
  Claimed,
  Gap,
  ManualItem,
  OpenNumber,
  OperationState,
  RecoveryMethod,
  SettledNumber,
  SettledState,
  StreamFigures,
} from '../../domain/sequence.js';
import { settledNumbers } from '../protocol/sequence/look.js';
import type { ShownSpan } from '../protocol/sequence/rows.js';
import type { NotHeldNumber, StreamHead } from '../sequence-store.js';
import type { Failed, Reply } from '../store.js';
import { failedItem } from './item-errors.js';

/** A word, and what belongs to it. */
export type Answer = readonly [outcome: string, ...rest: unknown[]];

const STATES = ['leased', 'recovering', 'committed', 'gap', 'filled', 'moved'] as const;

/** A page, column by column. Numbers are dense, so only the first is told; what few spans have comes by first number. */
export type PageColumns = [
  head: HeadColumns,
  from: number,
  to: number,
  first: number,
  operations?: (unknown[] | null)[],
  operationIds?: string[],
  kinds?: string[],
  states?: string,
  others?: [first: number, count: number, movedTo: number | null, recovery: RecoveryColumns | null][],
];
type RecoveryColumns = [movedFrom: number, recoveredAt: number, type: RecoveryMethod];

export function decodePage([, from, to, first, ...columns]: PageColumns): SettledNumber[] {
  const [operations = [], operationIds = [], kinds = [], states = '', others = []] = columns;
  const special = new Map(others.map((one) => [one[0], one]));
  const items: SettledNumber[] = [];
  let number = first;
  for (let i = 0; i < operationIds.length; i += 1) {
    const [operationId, kind, made] = [operationIds[i] as string, kinds[i] as string, operations[i] ?? null];
    const other = special.size === 0 ? undefined : special.get(number);
    const state = Number(states[i]);
    if (other) {
      const [, count, movedTo, recovery] = other;
      items.push(...decodeShown([number, count, state, operationId, kind, movedTo, recovery, made], from, to));
      number += count;
      continue;
    }
    const settled = STATES[state] as SettledState;
    if (made === null) items.push({ number, state: settled, operationId, kind });
    else items.push({ number, state: settled, operationId, kind, operation: made[0] });
    number += 1;
  }
  return items;
}

/** span.operations is not text here: it came as JSON. */
export type ShownColumns = [
  first: number,
  count: number,
  state: number,
  operationId: string,
  kind: string,
  movedTo: number | null,
  recovery: RecoveryColumns | null,
  operations: unknown[] | null,
];

export function decodeShown(columns: ShownColumns, from?: number, to?: number): SettledNumber[] {
  const [first, count, state, operationId, kind, movedTo, recovery, operations] = columns;
  const shown: Omit<ShownSpan, 'operations'> = {
    first,
    count,
    state: STATES[state] ?? 'gap',
    operationId,
    kind,
    movedTo: movedTo ?? undefined,
    recovery: recovery
      ? {
          originalNumber: recovery[0],
          originalOperationId: operationId,
          recoveredAt: recovery[1],
          type: recovery[2],
        }
      : undefined,
  };
  return settledNumbers({ ...shown, operations: undefined }, from, to).map((item) =>
    operations === null ? item : { ...item, operation: operations[item.number - first] },
  );
}

type OpenColumns = [
  number: number,
  state: number,
  operationId: string,
  kind: string,
  owner: string,
  leasedAt: number,
  expiresAt: number,
  dueAt: number,
];
export type HeadColumns = [
  watermark: number,
  seal: number,
  next: number,
  trimmedBefore: number,
  oldest: OpenColumns | null,
];

function decodeOpen([number, state, operationId, kind, owner, leasedAt, expiresAt, dueAt]: OpenColumns): OpenNumber {
  return { number, state: state === 1 ? 'recovering' : 'leased', operationId, kind, owner, leasedAt, expiresAt, dueAt };
}

export function decodeHead([watermark, seal, next, trimmedBefore, oldest]: HeadColumns): Omit<StreamHead, keyof Reply> {
  return { watermark, seal, next, trimmedBefore, ...(oldest === null ? {} : { oldestOpen: decodeOpen(oldest) }) };
}

export function decodeNotHeld([, state, epoch]: Answer): NotHeldNumber {
  const found = { outcome: 'notHeld', state: state as OperationState } as const;
  return epoch === null ? found : { ...found, epoch: epoch as number };
}

/** What went wrong with one item, in the words every store uses. */
export function decodeFailed([, word, fact]: Answer, stream: string, operations: readonly unknown[] = []): Failed {
  try {
    if (word === 'count') checkSameCount(operations, fact as number);
  } catch (error) {
    return { outcome: 'failed', error: error as LeaseError };
  }
  if (word === 'busy') {
    const message = `the number is being settled by another transaction that is still open: try again`;
    return { outcome: 'failed', error: new LeaseError('STORE_UNAVAILABLE', message, { details: { stream } }) };
  }
  if (word === 'open') {
    const most = LIMITS.openNumbersPerStream;
    const message = `${String(fact)} numbers of ${stream} are open, at most ${most}: commit or release some`;
    return { outcome: 'failed', error: new LeaseError('RATE_LIMITED', message, { details: { open: fact } }) };
  }
  if (word === 'unfinished') {
    return { outcome: 'failed', error: invalid('there is no finished result to commit: rebuild it, or make a gap') };
  }
  return failedItem(String(word), undefined);
}

type ClaimedColumns = [
  stream: string,
  first: number,
  count: number,
  operationId: string,
  kind: string,
  claimEpoch: number,
  claimUntil: number,
  leasedAt: number,
  expiresAt: number,
  attempts: number,
  isGap: boolean,
  partial: unknown,
  finished: unknown[] | null,
  hasPartial: boolean,
];
export type ClaimedBody = [claimed: ClaimedColumns[], backlog: number, more: boolean];

export function decodeClaimed(columns: ClaimedColumns, now: number): Claimed {
  const [stream, first, count, operationId, kind, claimEpoch, claimUntil, leasedAt, expiresAt, attempts, isGap] =
    columns;
  return {
    stream,
    first,
    count,
    operationId,
    kind,
    claimEpoch,
    remainingMs: claimUntil - now,
    leasedAt,
    expiresAt,
    overrunMs: Math.max(0, now - expiresAt),
    attempts,
    isGap,
    ...workOf(columns[11], columns[12], columns[13]),
  };
}

function workOf(
  partial: unknown,
  finished: unknown[] | null,
  hasPartial: boolean,
): { partial?: unknown; finished?: readonly unknown[] } {
  return { ...(hasPartial ? { partial } : {}), ...(finished === null ? {} : { finished }) };
}

export type GapColumns = [
  first: number,
  count: number,
  operationId: string,
  kind: string,
  reason: string | null,
  settledAt: number | null,
  expiresAt: number,
  seal: number,
  movedTo: number | null,
  hasResult: boolean,
];

export function decodeGap(columns: GapColumns): Gap {
  const [number, count, operationId, kind, reason, settledAt, originalExpiry, seal, movedTo, hasResult] = columns;
  const sealed = number <= seal;
  return {
    number,
    count,
    operationId,
    kind,
    reason: reason ?? '',
    createdAt: settledAt ?? 0,
    originalExpiry,
    fillable: !sealed && movedTo === null,
    sealed,
    ...(movedTo === null ? {} : { movedTo }),
    hasResult,
  };
}

type ManualColumns = [
  stream: string,
  first: number,
  count: number,
  operationId: string,
  kind: string,
  reason: string | null,
  attempts: number,
  lastError: string | null,
  settledAt: number,
  isRetryOrdered: boolean,
  partial: unknown,
  finished: unknown[] | null,
  hasPartial: boolean,
];
export type ManualBody = [items: ManualColumns[], more: boolean];

export function decodeManual(columns: ManualColumns): ManualItem {
  const [stream, number, count, operationId, kind, reason, attempts, lastError, createdAt, isRetryOrdered] = columns;
  return {
    stream,
    number,
    count,
    operationId,
    kind,
    reason: reason ?? '',
    attempts,
    lastError: lastError ?? '',
    createdAt,
    ...workOf(columns[10], columns[11], columns[12]),
    isRetryOrdered,
  };
}

export type StreamColumns = [
  name: string,
  next: number,
  seal: number,
  trimmedBefore: number,
  gaps: number,
  moved: number,
  manual: number,
  oldest: OpenColumns | null,
  open: number,
  readers: [name: string, done: number, movedAt: number][] | null,
];

export function decodeStream(columns: StreamColumns): StreamFigures {
  const [name, next, seal, trimmedBefore, gaps, moved, manual, oldest, open, readers] = columns;
  const watermark = (oldest?.[0] ?? next) - 1;
  return {
    name,
    leased: next - 1,
    open,
    watermark,
    seal,
    trimmedBefore,
    gaps,
    moved,
    manual,
    ...(oldest === null ? {} : { oldestOpen: decodeOpen(oldest) }),
    readers: (readers ?? []).map(([reader, done, movedAt]) => ({
      name: reader,
      done,
      distance: Math.max(0, watermark - done),
      movedAt,
    })),
  };
}
