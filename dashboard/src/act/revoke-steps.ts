// Taking a lease away, step by step, without a page around it. The order names the lease and the epoch that was seen: what was
// handed on meanwhile is spared, and a second order finds nothing to end.
//
//   look --as it was shown--> send --ended--> done
//    │                         ├──nothing ended--> gone, or changed: told as it is now
//    │                         └──no answer--> look again: revoked by this order--> done; still there--> unclear, safe to repeat
//    ├──ended--> gone, nothing is sent
//    └──another epoch, or the holder came back to life--> changed, nothing is sent: it has to be confirmed again
import { ApiError } from '../api/client.js';
import type { LeaseRecord, Revoked } from '../api/types.js';
import { signsOfLife } from './signs-of-life.js';

export interface RevokeParts {
  /** The lease as it is now; undefined when the store has forgotten it. */
  readonly look: () => Promise<LeaseRecord | undefined>;
  readonly send: (order: RevokeOrder) => Promise<Revoked>;
  readonly now: () => number;
}

export interface RevokeOrder {
  readonly leaseId: string;
  readonly upToEpoch?: number;
  readonly reason: string;
  readonly keepOut?: string;
}

export type Wish = Pick<RevokeOrder, 'reason' | 'keepOut'>;

export type RevokeEnd =
  | { readonly is: 'done'; readonly record: LeaseRecord }
  | { readonly is: 'gone'; readonly record: LeaseRecord | undefined }
  | { readonly is: 'changed'; readonly record: LeaseRecord; readonly why: string }
  | { readonly is: 'unclear'; readonly record: LeaseRecord; readonly error: unknown };

export async function revoke(shown: LeaseRecord, wish: Wish, { look, send, now }: RevokeParts): Promise<RevokeEnd> {
  const fresh = await look();
  if (!fresh || !isLive(fresh)) return { is: 'gone', record: fresh };
  const why = changeOf(shown, fresh, now());
  if (why !== undefined) return { is: 'changed', record: fresh, why };
  const bound = fresh.status === 'active' ? { upToEpoch: fresh.epoch } : {};
  try {
    const { items, count } = await send({ leaseId: fresh.id, ...bound, ...wish });
    const [ended] = items;
    if (count > 0) return { is: 'done', record: ended ?? { ...fresh, status: 'revoked', reason: wish.reason } };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 0) throw error;
    return afterSilence(await look(), wish, error);
  }
  const after = await look();
  if (!after || !isLive(after)) return { is: 'gone', record: after };
  return { is: 'changed', record: after, why: 'It changed at this very moment, and was not revoked.' };
}

function afterSilence(after: LeaseRecord | undefined, wish: Wish, error: unknown): RevokeEnd {
  if (after && isLive(after)) return { is: 'unclear', record: after, error };
  const isOurs = after?.status === 'revoked' && after.reason === wish.reason;
  return isOurs ? { is: 'done', record: after } : { is: 'gone', record: after };
}

/** What the one who confirms has not seen yet; undefined when it is as it was shown. */
export function changeOf(shown: LeaseRecord, fresh: LeaseRecord, now: number): string | undefined {
  if (fresh.status !== shown.status) return 'It was waiting when you looked, and holds now.';
  if (fresh.owner !== shown.owner) return 'It was handed to another owner while you looked.';
  if (fresh.epoch !== shown.epoch) return 'It changed hands while you looked: the epoch is another one.';
  const wasSilent = isQuiet(shown, now);
  return wasSilent && !isQuiet(fresh, now) && fresh.renewedAt !== shown.renewedAt
    ? 'It was renewed while you looked: the holder is alive after all.'
    : undefined;
}

export function isLive({ status }: Pick<LeaseRecord, 'status'>): boolean {
  return status === 'active' || status === 'pending';
}

function isQuiet(record: LeaseRecord, now: number): boolean {
  const { is } = signsOfLife(record, now);
  return record.status === 'active' && (is === 'overdue' || is === 'over');
}
