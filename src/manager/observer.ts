// What the manager tells to whoever watches it: events, and figures for metrics. The manager knows no bus, no registry and
// no logger; `holdfast.ts` wires them in here. Nothing an observer does may throw (S12).
import type { EventFacts, EventType } from '../domain/events.js';
import type { Lease } from '../domain/lease.js';
import type { Part } from '../domain/part.js';

export type AcquisitionResult = 'success' | 'conflict' | 'timeout' | 'aborted' | 'deadlock' | 'error';
/** `lost`: a definite no. `limit`: maxRenewals or maxHold was reached. `error`: no answer, or an error. */
export type RenewalResult = 'success' | 'lost' | 'limit' | 'error';

export interface Observer {
  /** False: nobody listens, the facts need not be gathered. */
  wants(type: EventType): boolean;
  announce(facts: EventFacts): void;
  acquisition(result: AcquisitionResult, waitMs: number): void;
  /** An acquire begins, in its caller's context. Answers who is told how it ended, with the lease if it was granted. */
  asking?(parts: readonly Part[]): (result: AcquisitionResult, lease?: Lease) => void;
  renewals(result: RenewalResult, count: number): void;
  /** A stale epoch was met by renew, release or a guard. */
  conflict(): void;
  /** A guard refused a write. */
  guardRejection?(guard: string): void;
  held(count: number): void;
  holdEnded(parts: readonly Part[], heldMs: number, leaseId: string): void;
  storeCall(operation: string, result: 'ok' | 'error', ms: number): void;
  /** This machine's wall clock against the store's. */
  skew(ms: number): void;
}
