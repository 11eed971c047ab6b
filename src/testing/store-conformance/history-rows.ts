// Reading log rows for what they say about one id: which kind of transition a row is, on which parts, and until when a
// lease or ticket lived that ended by running out. All checkers read rows through this file.
import type { LogRow } from '../../domain/events.js';
import type { Part } from '../../domain/part.js';
import type { History } from './history-records.js';

export type Transition =
  | { readonly kind: 'queued'; readonly id: string }
  | { readonly kind: 'granted'; readonly id: string }
  /** `ticketId`: the ticket that asked for it, spent with this row. */
  | { readonly kind: 'upgraded'; readonly id: string; readonly ticketId: string }
  | { readonly kind: 'changed'; readonly id: string }
  | { readonly kind: 'leaseEnded'; readonly id: string }
  | { readonly kind: 'ticketEnded'; readonly id: string };

/** What a row did to the id it names; undefined for rows that change no lease or ticket. */
export function transitionOf(row: LogRow): Transition | undefined {
  const id = row.leaseId;
  if (id === undefined) return undefined;
  switch (row.type) {
    case 'lease.queued':
      return { kind: 'queued', id };
    case 'lease.acquired':
      return { kind: 'granted', id };
    case 'lease.upgraded':
      return { kind: 'upgraded', id, ticketId: String(row.data['ticketId']) };
    case 'lease.renewed':
    case 'lease.delegated':
    case 'lease.downgraded':
      return { kind: 'changed', id };
    case 'lease.released':
    case 'lease.expired':
      return { kind: 'leaseEnded', id };
    case 'lease.failed':
    case 'deadlock.detected':
      return { kind: 'ticketEnded', id };
    case 'lease.revoked':
      if (row.data['lifted'] === true) return undefined;
      return { kind: row.from === 'pending' ? 'ticketEnded' : 'leaseEnded', id };
    default:
      return undefined;
  }
}

/** Parts are spelled out unless they are one exclusive node. */
export function partsOf(row: LogRow): readonly Part[] {
  const parts = row.data['parts'];
  if (Array.isArray(parts)) return parts as Part[];
  return [{ name: row.resource ?? '', scope: 'node', mode: 'exclusive' }];
}

export function numberIn(row: LogRow, key: string): number | undefined {
  const value = row.data[key];
  return typeof value === 'number' ? value : undefined;
}

/** `lease X of ann on a, d (row 12)` */
export function rowText(row: LogRow, index: number): string {
  const names = partsOf(row).map(({ name, scope, mode }) => `${name}${scope === 'subtree' ? '/**' : ''} ${mode}`);
  return `${row.type} of ${row.leaseId ?? 'nothing'} by ${row.owner ?? 'nobody'} on ${names.join(', ')} (row ${index + 1}, at ${row.at})`;
}

export interface Lives {
  /** The instant each lease ran out; Infinity while something else ended it or it still stands. */
  readonly leaseUntil: ReadonlyMap<string, number>;
  /** The same for tickets. */
  readonly ticketUntil: ReadonlyMap<string, number>;
}

/**
 * Until when the clock alone let each lease and ticket live. Written down late or never, an expiry counts from its own
 * instant (S3): what the log says, else the table, else the last answer anybody was given.
 */
export function livesOf({ log, records, table }: History): Lives {
  const leaseUntil = new Map<string, number>();
  const ticketUntil = new Map<string, number>();
  const queuedAt = new Map<string, number>();
  const later = (lives: Map<string, number>, id: string, until: number): void =>
    void lives.set(id, Math.max(lives.get(id) ?? 0, until));
  for (const record of records) {
    if (record.answer === undefined || record.now === undefined) continue;
    const { now } = record;
    if (record.op === 'acquire') {
      for (const [i, result] of record.answer.results.entries()) {
        if (result.outcome === 'granted') later(leaseUntil, result.lease.id, result.lease.expiresAt);
        if (result.outcome === 'queued') later(ticketUntil, record.asked[i]?.id ?? '', now + result.ticketLeftMs);
      }
    } else if (record.op === 'renew') {
      for (const [i, result] of record.answer.results.entries()) {
        if (result.outcome === 'renewed') later(leaseUntil, record.asked[i]?.id ?? '', result.expiresAt);
      }
    }
  }
  for (const { id, status, expiresAt } of table.items) {
    (status === 'pending' ? ticketUntil : leaseUntil).set(id, expiresAt);
  }
  for (const row of log) {
    const change = transitionOf(row);
    if (change?.kind === 'queued') queuedAt.set(change.id, row.at);
    if (change?.kind === 'granted' || row.type === 'lease.renewed') {
      later(leaseUntil, row.leaseId ?? '', numberIn(row, 'expiresAt') ?? 0);
    }
    if (change?.kind === 'granted' || change?.kind === 'ticketEnded') {
      const died = row.reason === 'died' ? (queuedAt.get(change.id) ?? 0) + (numberIn(row, 'waitedMs') ?? 0) : Infinity;
      ticketUntil.set(change.id, died);
    }
    if (change?.kind === 'upgraded') ticketUntil.set(change.ticketId, Infinity);
    if (change?.kind === 'leaseEnded') leaseUntil.set(change.id, numberIn(row, 'expiresAt') ?? Infinity);
  }
  return { leaseUntil, ticketUntil };
}
