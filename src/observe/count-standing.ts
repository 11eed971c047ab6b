// Counts what stands in a namespace, once: every later figure follows from the log. The only walk over all live leases there
// is, a page at a time, taken when a namespace is followed for the first time or its log was lost.
//
// Leases move while they are counted. What the log says happened since the count began is applied to the ids that were seen,
// so that the figure is exact for the position it is given for.
import { hash53 } from '../domain/content.js';
import { LeaseError } from '../domain/errors.js';
import type { LogRow } from '../domain/events.js';
import { LIMITS } from '../domain/limits.js';
import type { FollowedStore } from './log-follower.js';

export interface Standing {
  readonly active: number;
  readonly pending: number;
  readonly position: string;
  /** Store clock when the count began. */
  readonly countedAt: number;
}

const PAGE = LIMITS.rowsPerStep;
const MAX_PAGES = 10_000;

/** `told` hears every row between the beginning and the position. */
export async function countStanding(store: FollowedStore, told: (row: LogRow) => void): Promise<Standing> {
  let position = await endOfLog(store);
  const active = await idsOf(store, 'active');
  const pending = await idsOf(store, 'pending');
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await store.events({ after: position, limit: PAGE });
    if (answer.outcome === 'lost') break;
    for (const row of answer.rows) {
      told(row);
      move(row, active.ids, pending.ids);
    }
    position = answer.next;
    const { countedAt } = active;
    if (!answer.more) return { active: active.ids.size, pending: pending.ids.size, position, countedAt };
  }
  throw new LeaseError('STORE_UNAVAILABLE', 'the log moved on while leases were counted: they are counted again');
}

/** The newest row may lie before a pause of the history: then nobody can go on from it, and the end is where it resumed. */
async function endOfLog(store: Pick<FollowedStore, 'events'>): Promise<string> {
  const last = await store.events({ backward: true, limit: 1 });
  if (last.outcome === 'lost') return last.oldest;
  const newest = last.rows[0]?.id ?? last.next;
  const after = await store.events({ after: newest, limit: 1 });
  return after.outcome === 'lost' ? after.oldest : newest;
}

/** Ids as numbers: a million of them are few enough bytes to be kept for the time of a count. */
async function idsOf(
  store: FollowedStore,
  status: 'active' | 'pending',
): Promise<{ ids: Set<number>; countedAt: number }> {
  const ids = new Set<number>();
  let countedAt: number | undefined;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await store.list({ status, limit: PAGE, cursor });
    countedAt ??= answer.now;
    for (const { id } of answer.items) ids.add(hash53(id));
    cursor = answer.cursor;
    if (cursor === undefined) break;
  }
  return { ids, countedAt: countedAt ?? 0 };
}

function move(row: LogRow, active: Set<number>, pending: Set<number>): void {
  if (row.leaseId === undefined || row.to === undefined || row.data['lifted'] === true) return;
  const id = hash53(row.leaseId);
  active.delete(id);
  pending.delete(id);
  if (row.to === 'active') active.add(id);
  if (row.to === 'pending') pending.add(id);
  const { ticketId } = row.data;
  if (typeof ticketId === 'string') pending.delete(hash53(ticketId));
}
