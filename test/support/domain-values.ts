// Builders for the values the domain decides on, so that a test names only what matters to it, and fast-check
// arbitraries for small crowded worlds: few names, so that they overlap often.
import fc from 'fast-check';
import type { LeaseRow } from '../../src/domain/lease.js';
import type { Part } from '../../src/domain/part.js';
import type { AcquireRequest } from '../../src/domain/requests.js';

export function exclusive(name: string, scope: Part['scope'] = 'node'): Part {
  return { name, scope, mode: 'exclusive' };
}

export function shared(name: string, limit?: number, scope: Part['scope'] = 'node'): Part {
  return limit === undefined ? { name, scope, mode: 'shared' } : { name, scope, mode: 'shared', limit };
}

/** A live lease of `someone` on orders/0 at any time before 2_000, unless told otherwise. */
export function leaseRow(changes: Partial<LeaseRow> = {}): LeaseRow {
  return {
    id: 'lease-0123456789',
    content: 1,
    owner: 'someone',
    parts: [exclusive('orders/0')],
    status: 'active',
    epoch: 7,
    grantEpoch: 7,
    ttlMs: 1_000,
    acquiredAt: 1_000,
    renewedAt: 1_000,
    expiresAt: 2_000,
    renewals: 0,
    maxRenewals: -1,
    skewMs: 0,
    rank: 1_000,
    arrival: 1,
    arrivedAt: 1_000,
    joinedEpoch: 6,
    priority: 0,
    minHoldMs: 0,
    lockDelayMs: 0,
    holding: [],
    remote: false,
    blockedUntil: 0,
    keepOutUntil: 0,
    blockEpoch: 0,
    ...changes,
  };
}

/** A live ticket, with the rank its arrival and priority give it. */
export function ticketRow(changes: Partial<LeaseRow> = {}): LeaseRow {
  const { arrivedAt = 1_000, priority = 0 } = changes;
  return leaseRow({
    id: 'ticket-0123456789',
    status: 'pending',
    epoch: 0,
    grantEpoch: 0,
    rank: arrivedAt - priority * 30_000,
    ...changes,
  });
}

export function acquireRequest(changes: Partial<AcquireRequest> = {}): AcquireRequest {
  return {
    id: 'request-0123456789',
    bornAt: 1_000,
    owner: 'someone',
    parts: [exclusive('orders/0')],
    ttlMs: 30_000,
    priority: 0,
    join: false,
    holding: [],
    reclaim: false,
    maxRenewals: -1,
    minHoldMs: 0,
    lockDelayMs: 0,
    remote: false,
    callerWall: 1_000,
    ...changes,
  };
}

export const crowdedName = fc.constantFrom('a', 'a/b', 'a/b/c', 'a/d', 'ab', 'a-b', 'b');

const scope = fc.constantFrom('node', 'subtree');

export const plainPart: fc.Arbitrary<Part> = fc.record({
  name: crowdedName,
  scope,
  mode: fc.constantFrom('exclusive', 'shared'),
});

const limitedPart: fc.Arbitrary<Part> = fc.record({
  name: crowdedName,
  scope,
  mode: fc.constant('shared'),
  limit: fc.integer({ min: 1, max: 3 }),
});

export const anyPart: fc.Arbitrary<Part> = fc.oneof(plainPart, limitedPart);

/** The parts of one lease: each name once. */
export function partsFrom(part: fc.Arbitrary<Part>): fc.Arbitrary<Part[]> {
  return fc.uniqueArray(part, { minLength: 1, maxLength: 3, selector: (one) => one.name });
}
