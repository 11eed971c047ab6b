// A world for the doctor's checks, made by hand: leases, rows of the log, and the facts around them.
import type { LogRow, StoredType } from '../../src/domain/events.js';
import type { Lease } from '../../src/domain/lease.js';
import { noFacts, type Facts } from '../../src/doctor/facts.js';

export const NOW = 10_000_000;
export const facts = (more: Partial<Facts>): Facts => ({ ...noFacts('postgres', 'default', NOW), ...more });

export function lease(more: Partial<Lease>): Lease {
  const parts = [{ name: 'orders/0', scope: 'node', mode: 'exclusive' }] as const;
  return {
    id: 'a',
    parts,
    owner: 'agent-a',
    epoch: 1,
    status: 'active',
    ttlMs: 30_000,
    acquiredAt: NOW - 60_000,
    renewedAt: NOW - 1_000,
    expiresAt: NOW + 29_000,
    renewals: 3,
    maxRenewals: -1,
    skewMs: 0,
    ...more,
  };
}

let position = 0;
export function row(
  type: StoredType,
  agoMs: number,
  leaseId: string,
  owner: string,
  epoch: number,
  more: Partial<LogRow> = {},
): LogRow {
  position += 1;
  const at = NOW - agoMs;
  const data = type === 'lease.expired' ? { expiresAt: at, heldMs: 1 } : {};
  return {
    id: `p${position}`,
    type,
    at,
    wallAt: at,
    namespace: 'default',
    resource: 'orders/0',
    leaseId,
    owner,
    epoch,
    data,
    ...more,
  };
}
