// Q6: blocks, computed from the ended lease's row. A block stands on the parts the lease had and conflicts by the same
// rule as the lease did; `keepOut` bars only the old owner, and bars it from everything that overlaps.
import type { Standing } from './conflict.js';
import type { LeaseRow } from './lease.js';
import { asExclusive } from './part.js';

export type BlockReason = 'min_hold' | 'lock_delay';

export interface Block extends Standing {
  readonly reason: BlockReason;
  readonly until: number;
}

/** Until when a lease that ends now keeps others out: 0 for not at all. */
export function blockedUntilAfter(
  row: Pick<LeaseRow, 'acquiredAt' | 'expiresAt' | 'minHoldMs' | 'lockDelayMs'>,
  how: 'released' | 'expired' | 'revoked',
  now: number,
): number {
  if (how === 'released') return row.minHoldMs > 0 ? row.acquiredAt + row.minHoldMs : 0;
  if (row.lockDelayMs === 0) return 0;
  return (how === 'expired' ? row.expiresAt : now) + row.lockDelayMs;
}

const NO_BLOCKS: readonly Block[] = [];

/** The blocks of this row that stand at `now` against a request of `owner`. Counts an expiry nobody wrote down yet. */
export function blocksOf(row: LeaseRow, now: number, owner: string): readonly Block[] {
  if (row.status === 'pending' && row.keepOutUntil <= now) return NO_BLOCKS; // a queue is mostly these
  const blocks: Block[] = [];
  const lapsed = row.status === 'active' && now >= row.expiresAt;
  const until = lapsed ? blockedUntilAfter(row, 'expired', now) : row.blockedUntil;
  const reason: BlockReason = row.status === 'released' ? 'min_hold' : 'lock_delay';
  if (row.status !== 'pending' && until > now && (lapsed || row.status !== 'active')) {
    blocks.push({ parts: row.parts, reason, until });
  }
  if (row.keepOutUntil > now && row.owner === owner) {
    blocks.push({ parts: asExclusive(row.parts), reason: 'lock_delay', until: row.keepOutUntil });
  }
  return blocks;
}
