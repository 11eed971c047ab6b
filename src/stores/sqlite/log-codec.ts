// Log rows to columns and back. `data` holds what the event says; `more` holds from, to, actor, reason, error and the
// other names, and only where they are not what the type says by itself.
import { EVENT_NUMBERS, EVENT_TYPES } from '../../domain/event-numbers.js';
import type { LogRow, StoredType } from '../../domain/events.js';
import type { LeaseStatus } from '../../domain/expiry.js';
import type { LogEntry } from '../protocol/rows.js';
import { grantedFacts } from './granted-row.js';

const USUAL: Partial<Record<StoredType, readonly [from: LeaseStatus | undefined, to: LeaseStatus]>> = {
  'lease.queued': [undefined, 'pending'],
  'lease.acquired': [undefined, 'active'],
  'lease.renewed': ['active', 'active'],
  'lease.released': ['active', 'released'],
};

interface More {
  from?: LeaseStatus | undefined;
  to?: LeaseStatus | undefined;
  actor?: string | undefined;
  reason?: string | undefined;
  error?: string | undefined;
  resources?: readonly string[] | undefined;
}

export const LOG_COLUMNS = 'row, name, owner, epoch, type, at, wall_at, id, more, data, status, acquired_at, ttl_ms';
export type LogColumns = [
  row: number,
  name: string | null,
  owner: string | null,
  epoch: number | null,
  type: number,
  at: number | null,
  wallAt: number,
  lease: string | null,
  more: string | null,
  data: string | null,
  status: number | null,
  acquiredAt: number | null,
  ttlMs: number | null,
];

export function encodeType(type: StoredType): number {
  return EVENT_NUMBERS[type];
}
export function typeNumber(type: string): number {
  return Object.hasOwn(EVENT_NUMBERS, type) ? EVENT_NUMBERS[type as StoredType] : -1;
}

export function encodeLogMore(entry: LogEntry): string | null {
  const { from, to, actor, reason, error, resources } = entry;
  const usual = USUAL[entry.type];
  const isUsual = usual !== undefined && usual[0] === from && usual[1] === to;
  if (isUsual && actor === undefined && reason === undefined && error === undefined && resources === undefined)
    return null;
  const more: More = { from, to, actor, reason, error, resources };
  return JSON.stringify(more);
}

export function decodeLog(columns: LogColumns, namespace: string, position: (row: number) => string): LogRow {
  const { 0: row, 1: name, 2: owner, 3: epoch, 4: typeCode, 5: at, 6: wallAt, 7: lease, 8: moreText } = columns;
  const { 9: data, 10: status } = columns;
  const type = EVENT_TYPES.get(typeCode) as StoredType;
  if (status !== null) return decodeGrant(columns, namespace, position);
  const more: More = moreText === null ? usual(type) : (JSON.parse(moreText) as More);
  return {
    id: position(row),
    type,
    at: at ?? 0,
    wallAt,
    namespace,
    resource: name ?? undefined,
    resources: more.resources,
    leaseId: lease ?? undefined,
    owner: owner ?? undefined,
    epoch: epoch ?? undefined,
    from: more.from,
    to: more.to,
    actor: more.actor,
    reason: more.reason,
    error: more.error,
    data: JSON.parse(data ?? '{}') as Record<string, unknown>,
  };
}

/** The row of a lease that is its own event (granted-row.ts). */
function decodeGrant(columns: LogColumns, namespace: string, position: (row: number) => string): LogRow {
  const { 0: row, 1: name, 2: owner, 3: epoch, 6: wallAt, 7: lease, 8: more, 9: data, 11: at, 12: ttlMs } = columns;
  const acquiredAt = at ?? 0;
  const lived = { owner: owner ?? '', epoch: epoch ?? 0, acquiredAt, ttlMs: ttlMs ?? 0 };
  return {
    id: position(row),
    type: 'lease.acquired',
    at: acquiredAt,
    wallAt,
    namespace,
    resource: name ?? undefined,
    resources: undefined,
    leaseId: lease ?? undefined,
    ...usual('lease.acquired'),
    actor: undefined,
    reason: undefined,
    error: undefined,
    ...grantedFacts(lived, more, data),
  };
}

function usual(type: StoredType): { from: LeaseStatus | undefined; to: LeaseStatus | undefined } {
  return { from: USUAL[type]?.[0], to: USUAL[type]?.[1] };
}
