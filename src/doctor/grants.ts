// The log read as grants: who got which name when, and how that lease ended. What the checks about owners have in common.
import type { LogRow } from '../domain/events.js';
import type { Part } from '../domain/part.js';
import type { Facts } from './facts.js';

export interface Grant {
  readonly resource: string;
  readonly leaseId: string;
  readonly owner: string;
  readonly epoch: number;
  readonly at: number;
  readonly end?: LogRow | undefined;
}

const ENDS: ReadonlySet<string> = new Set(['lease.released', 'lease.expired', 'lease.revoked']);

/** Exclusive grants by name, in the order of their epochs: shared leases have several owners at once, and no change between
 *  them. A lease taken before the log begins is known by its end. */
export function grantsByName({ log, ended }: Pick<Facts, 'log' | 'ended'>): Map<string, Grant[]> {
  const ends = new Map<string, LogRow>();
  for (const row of log) if (isEnd(row)) ends.set(`${row.leaseId ?? ''} ${row.epoch ?? 0}`, row);
  const grants = new Map<string, Grant[]>();
  const seen = new Set<string>();
  for (const row of log) {
    const { leaseId, owner, epoch, at } = row;
    if (leaseId === undefined || owner === undefined || epoch === undefined) continue;
    const key = `${leaseId} ${epoch}`;
    const isGrant = row.type === 'lease.acquired' || row.type === 'lease.delegated';
    if (!(isGrant || isEnd(row)) || seen.has(key)) continue;
    seen.add(key);
    for (const resource of exclusiveNames(row, ended.get(leaseId)?.parts)) {
      const known = grants.get(resource) ?? [];
      known.push({ resource, leaseId, owner, epoch, at, end: ends.get(key) });
      grants.set(resource, known);
    }
  }
  for (const known of grants.values()) known.sort((a, b) => a.epoch - b.epoch);
  return grants;
}

function isEnd(row: LogRow): boolean {
  return ENDS.has(row.type) && row.data['lifted'] !== true;
}

function exclusiveNames({ data, resource, resources }: LogRow, known: readonly Part[] | undefined): readonly string[] {
  const parts = Array.isArray(data['parts']) ? (data['parts'] as Part[]) : known;
  if (parts !== undefined) return parts.filter(({ mode }) => mode === 'exclusive').map(({ name }) => name);
  return resources ?? (resource === undefined ? [] : [resource]);
}

/** Ended by somebody or something else than its holder. */
export function isTaken({ end }: Grant): boolean {
  if (end === undefined) return false;
  return end.type === 'lease.expired' || end.type === 'lease.revoked';
}

/** Its own name took it over, in one step (A4). */
export function isReclaimed({ end }: Grant): boolean {
  return end?.type === 'lease.released' && end.reason === 'reclaimed';
}

/** Names that `connect` makes by itself, `host-pid-random`: one running instance each. */
export function isInstanceName(owner: string): boolean {
  return /-\d+-[\w-]{6}$/.test(owner);
}

/** A lease ended then, whenever it was written down. */
export function expiryOf(row: LogRow): number {
  const at = row.data['expiresAt'];
  return typeof at === 'number' ? at : row.at;
}

/** When each owner last showed that it was alive, and how. */
export function lastHeard({
  log,
  leases,
  tickets,
}: Facts): Map<string, { readonly at: number; readonly text: string }> {
  const heard = new Map<string, { at: number; text: string }>();
  const note = (owner: string, at: number, text: string): void => {
    if ((heard.get(owner)?.at ?? -1) < at) heard.set(owner, { at, text });
  };
  for (const { type, owner, at, resource = 'a name' } of log) {
    if (owner === undefined) continue;
    if (type === 'lease.queued') note(owner, at, `${owner} asked for ${resource} after that`);
    if (type === 'lease.acquired') note(owner, at, `${owner} took ${resource} after that`);
  }
  for (const { owner, renewedAt, parts } of [...leases, ...tickets]) {
    note(owner, renewedAt, `${owner} renewed ${parts[0]?.name ?? 'a lease'} after that`);
  }
  return heard;
}
