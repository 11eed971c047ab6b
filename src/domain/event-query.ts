// Whether a log row answers a query: one meaning for every store that filters in this process.
import type { LogRow } from './events.js';
import type { EventQuery } from './requests.js';
import { isAbove } from './resource-name.js';

export function matchesQuery(row: LogRow, query: EventQuery): boolean {
  if (query.leaseId !== undefined && row.leaseId !== query.leaseId) return false;
  if (query.owner !== undefined && row.owner !== query.owner) return false;
  if (query.type !== undefined && row.type !== query.type) return false;
  if (query.since !== undefined && row.at < query.since) return false;
  if (query.until !== undefined && row.at >= query.until) return false;
  const { resource, prefix } = query;
  if (resource !== undefined && !namesOf(row).includes(resource)) return false;
  return prefix === undefined || namesOf(row).some((name) => name === prefix || isAbove(prefix, name));
}

function namesOf(row: LogRow): readonly string[] {
  return row.resources ?? (row.resource === undefined ? [] : [row.resource]);
}
