// Reclaim (A4): the owner's own live lease, or the block it left, with exactly these parts, is replaced in one step:
// new id, new epoch, ahead of the queue. A block that bars the owner itself (`keepOut`) is nobody's to reclaim.
import { blocksOf } from '../../domain/blocks.js';
import { isLive } from '../../domain/expiry.js';
import type { LeaseRow } from '../../domain/lease.js';
import { sameParts } from '../../domain/part.js';
import type { AcquireRequest } from '../../domain/requests.js';
import type { Step } from './rows.js';
import { eventOf, release, writeExpiry } from './transitions.js';

/** A live lease before a block; of several, the one with the lowest epoch. */
export function findReclaimed(
  step: Step,
  request: AcquireRequest,
  overlapping: readonly LeaseRow[],
): LeaseRow | undefined {
  const own = overlapping
    .filter((row) => row.id !== request.id && row.owner === request.owner && row.status !== 'pending')
    .filter((row) => row.keepOutUntil <= step.now && sameParts(row.parts, request.parts))
    .sort((a, b) => a.epoch - b.epoch);
  return (
    own.find((row) => isLive(row, step.now)) ?? own.find((row) => blocksOf(row, step.now, request.owner).length > 0)
  );
}

export function replaceReclaimed(step: Step, row: LeaseRow): void {
  if (isLive(row, step.now)) {
    release(step, row, 'reclaimed');
    return;
  }
  if (row.status === 'active') writeExpiry(step, row);
  row.blockedUntil = 0;
  step.rows.save(row, 'ended');
  const event = { ...eventOf(row, 'lease.revoked'), reason: 'reclaimed', from: row.status, to: row.status };
  step.rows.log({ ...event, actor: row.owner, data: { lifted: true } });
}
