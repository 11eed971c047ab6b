// The public face of holdfast: re-exports only.
export type { Clock, TimerHandle } from './domain/clock.js';
export { formatDuration, parseDuration, type Duration } from './domain/duration.js';
export { LeaseError, type LeaseErrorCode } from './domain/errors.js';
export { toEvent, type LeaseEvent, type LogRow } from './domain/events.js';
export { makeId } from './domain/ids.js';
export { toRecord, type Lease, type LeaseRecord } from './domain/lease.js';
export { normaliseParts, type Mode, type Part, type PartInput, type Resources, type Scope } from './domain/part.js';
export type {
  AcquireRequest,
  ChangeRequest,
  EndRequest,
  EventQuery,
  ListFilter,
  RenewRequest,
  RevokeOrder,
} from './domain/requests.js';
export { Batching, type Answered } from './stores/batching.js';
export type * from './stores/store.js';
export { systemClock } from './system-clock.js';
