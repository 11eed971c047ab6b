// What is asked of a store, item by item (contract, section 14). Requests are complete and normalised: a store fills in
// no default. `check-request.ts` says what a valid one is.
import type { Part } from './part.js';

/** Try, join, refresh, claim, reclaim and upgrade in one. Repeating it with the same id is always safe (S8). */
export interface AcquireRequest {
  readonly id: string;
  /** Store time, as the caller knew it, when the id was made. */
  readonly bornAt: number;
  readonly owner: string;
  readonly parts: readonly Part[];
  readonly ttlMs: number;
  readonly priority: number;
  /** Join the queue when it cannot be granted now. A ticket that exists is refreshed either way. */
  readonly join: boolean;
  /** Ids of leases the requester holds (Q4). */
  readonly holding: readonly string[];
  /** Q5: make this shared lease exclusive. `parts` are its parts in exclusive mode. */
  readonly upgrades?: { readonly id: string; readonly epoch: number } | undefined;
  /** Replace the owner's own live lease or block with exactly these parts, ahead of the queue. */
  readonly reclaim: boolean;
  /** −1 for no bound. */
  readonly maxRenewals: number;
  readonly maxHoldMs?: number | undefined;
  readonly minHoldMs: number;
  readonly lockDelayMs: number;
  readonly operationId?: string | undefined;
  readonly metadata?: unknown;
  /** Taken through a server, for a holder on another machine. */
  readonly remote: boolean;
  /** The holder's wall clock, for the skew shown in records. */
  readonly callerWall: number;
  /** Whoever lets go of what it waits for may claim for it in the same step (Q1). The lease then lives as long as the ticket would have,
   *  so this is for who renews. A store need not do it, and does it only for who joined with it. */
  readonly handOver?: boolean | undefined;
}

export interface RenewRequest {
  readonly id: string;
  readonly epoch: number;
  readonly requestId: string;
  /** `undefined`: the ttl the lease has. */
  readonly ttlMs?: number | undefined;
  readonly callerWall: number;
}

/** Release, or cancel. A cancel knows no epoch: it ends a ticket, or the grant its own acquire was still waiting for. */
export interface EndRequest {
  readonly id: string;
  readonly epoch?: number | undefined;
  readonly requestId: string;
  readonly why: 'released' | 'timeout' | 'cancelled';
}

export type ChangeRequest =
  | {
      readonly kind: 'delegate';
      readonly id: string;
      readonly epoch: number;
      readonly requestId: string;
      readonly toOwner: string;
    }
  | {
      readonly kind: 'resume';
      readonly id: string;
      readonly epoch: number;
      readonly requestId: string;
      readonly toOwner: string;
      readonly callerWall: number;
    }
  | { readonly kind: 'downgrade'; readonly id: string; readonly epoch: number; readonly requestId: string };

/** What a revocation is aimed at. `resource` is that name alone, `under` that name and everything below it. */
export type RevokeTarget =
  | { readonly resource: string }
  | { readonly under: string }
  | { readonly leaseId: string }
  | { readonly owner: string };

export interface RevokeOrder {
  readonly target: RevokeTarget;
  readonly reason: string;
  readonly actor: string;
  /** Ends only what has an epoch up to this one (tickets: joined at or before it), so a repeat spares the next holder. */
  readonly upToEpoch: number;
  /** Bars the old owner, and only it, for this long. */
  readonly keepOutMs: number;
}

export interface ListFilter {
  /** This name and everything below it. */
  readonly prefix?: string | undefined;
  readonly resource?: string | undefined;
  readonly owner?: string | undefined;
  /** Without it: what is live now, leases and tickets. */
  readonly status?: 'pending' | 'active' | undefined;
  /** Held (or waiting) for at least this long. */
  readonly olderThanMs?: number | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface EventQuery {
  /** A position; rows after it. Without one: from the oldest row there is. */
  readonly after?: string | undefined;
  /** Newest first, going back from `before` (or from the end). */
  readonly backward?: boolean | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
  readonly resource?: string | undefined;
  readonly prefix?: string | undefined;
  readonly leaseId?: string | undefined;
  readonly owner?: string | undefined;
  readonly type?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}
