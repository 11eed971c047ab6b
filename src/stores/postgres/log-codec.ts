// Log rows as the functions of the schema answer them: arrays of JSON, in the order of log_json_v1. The two rows every lease has
// keep their facts in columns; the others keep them as JSON.
import { EVENT_NUMBERS, EVENT_TYPES } from '../../domain/event-numbers.js';
import type { LogRow, StoredType } from '../../domain/events.js';
import { formatPosition, parsePosition } from '../../domain/position.js';
import { statusOf } from './row-codec.js';

const KEY = /^(\d{1,16})-(\d{1,16})$/;

export type LogColumns = [
  e: number,
  s: number,
  type: number,
  from: number | null,
  to: number | null,
  at: number,
  wallAt: number | null,
  epoch: number | null,
  n1: number | null,
  n2: number | null,
  n3: number | null,
  name: string | null,
  id: string | null,
  owner: string | null,
  actor: string | null,
  reason: string | null,
  names: string[] | null,
  data: Record<string, unknown> | null,
];

/** A place in the log: the namespace's epoch then, and the number of the row. */
export interface Spot {
  readonly incarnation: string;
  readonly e: number;
  readonly s: number;
}

/** Padded, so that text order is log order. */
export function positionAt(namespace: string, { incarnation, e, s }: Spot): string {
  const key = `${String(e).padStart(16, '0')}-${String(s).padStart(16, '0')}`;
  return formatPosition({ store: 'postgres', namespace, incarnation, key });
}

/** Of this namespace, or undefined: of another store or namespace, or no position at all. */
export function spotOf(text: string, namespace: string): Spot | undefined {
  const position = parsePosition(text);
  const key = KEY.exec(position?.key ?? '');
  if (position?.store !== 'postgres' || position.namespace !== namespace || !key) return undefined;
  const [e, s] = [Number(key[1]), Number(key[2])];
  return Number.isSafeInteger(e) && Number.isSafeInteger(s) ? { incarnation: position.incarnation, e, s } : undefined;
}

/** -1 for a type there is not: nothing matches it. */
export function typeNumber(type: string): number {
  return Object.hasOwn(EVENT_NUMBERS, type) ? EVENT_NUMBERS[type as StoredType] : -1;
}

export function decodeLog(columns: LogColumns, namespace: string, incarnation: string): LogRow {
  const [e, s, code, from, to, at, wallAt, epoch] = columns;
  const type = EVENT_TYPES.get(code) as StoredType;
  return {
    id: positionAt(namespace, { incarnation, e, s }),
    type,
    at,
    wallAt: wallAt ?? at,
    namespace,
    resource: columns[11] ?? undefined,
    resources: columns[16] ?? undefined,
    leaseId: columns[12] ?? undefined,
    owner: columns[13] ?? undefined,
    epoch: epoch ?? undefined,
    from: from === null ? undefined : statusOf(from),
    to: to === null ? undefined : statusOf(to),
    actor: columns[14] ?? undefined,
    reason: columns[15] ?? undefined,
    ...factsOf(type, columns),
  };
}

/** What went wrong with a recovery is kept among its facts. */
function factsOf(type: StoredType, columns: LogColumns): Pick<LogRow, 'error' | 'data'> {
  const data = dataOf(type, columns);
  if (type !== 'recovery.failed') return { error: undefined, data };
  const { error, ...rest } = data;
  return { error: error as string | undefined, data: rest };
}

function dataOf(type: StoredType, columns: LogColumns): Record<string, unknown> {
  const [n1, n2, n3, data] = [columns[8], columns[9], columns[10], columns[17]];
  if (type === 'lease.acquired') return { ttlMs: n1, expiresAt: n2, waitedMs: n3, ...data };
  if (type === 'lease.released') return n2 === null ? { heldMs: n1 } : { heldMs: n1, blockedUntil: n2 };
  return data ?? {};
}
