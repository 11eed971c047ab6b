// What of the history is wanted: in the address, in a question to the server, and as a test for events that come in live.
import type { LeaseEvent } from '../../api/types.js';

export interface HistoryFilter {
  /** This name and everything below it. */
  readonly prefix?: string;
  /** This very name. */
  readonly resource?: string;
  readonly owner?: string;
  readonly leaseId?: string;
  readonly type?: string;
  /** ISO times of the store. */
  readonly since?: string;
  readonly until?: string;
}

/** The address speaks of `resource`, `owner`, `lease`, `type`, `from` and `to`. */
export function filterOf(query: Readonly<Record<string, string>>): HistoryFilter {
  const wanted = {
    prefix: query['resource']?.replace(/\/+$/, ''),
    owner: query['owner'],
    leaseId: query['lease']?.trim(),
    type: query['type'],
    since: query['from'],
    until: query['to'],
  };
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => (value ?? '') !== ''));
}

export function isWanted(event: LeaseEvent, filter: HistoryFilter): boolean {
  const { prefix, resource, owner, leaseId, type, since, until } = filter;
  const names = event.resources ?? (event.resource === undefined ? [] : [event.resource]);
  return (
    (prefix === undefined || names.some((name) => name === prefix || name.startsWith(`${prefix}/`))) &&
    (resource === undefined || names.includes(resource)) &&
    (owner === undefined || event.owner === owner) &&
    (leaseId === undefined || event.leaseId === leaseId) &&
    (type === undefined || event.type === type) &&
    (since === undefined || Date.parse(event.at) >= Date.parse(since)) &&
    (until === undefined || Date.parse(event.at) < Date.parse(until))
  );
}

/** Types that are kept in the log, in the order they are offered. */
export const EVENT_TYPES = [
  ...['lease.acquired', 'lease.released', 'lease.expired', 'lease.revoked', 'lease.queued', 'lease.failed'],
  ...['lease.renewed', 'lease.delegated', 'lease.upgraded', 'lease.downgraded', 'deadlock.detected'],
  ...['sequence.leased', 'sequence.committed', 'sequence.gap', 'sequence.filled', 'sequence.moved'],
  ...['recovery.succeeded', 'recovery.failed', 'cascade.entered', 'cascade.left', 'alert.raised', 'alert.cleared'],
  ...['store.clock_stepped', 'store.incarnation'],
];

/** The value of a field for date and time, in the zone of the browser; empty where there is none. */
export function fieldOf(iso: string | undefined): string {
  const at = new Date(iso ?? '');
  if (Number.isNaN(at.getTime())) return '';
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

export function isoOf(field: string): string | undefined {
  const at = new Date(field);
  return field === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
