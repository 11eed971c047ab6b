// The public face of holdfast: re-exports only.
export { connect, type ConnectOptions } from './connect.js';
export type { Clock, TimerHandle } from './domain/clock.js';
export { formatDuration, parseDuration, type Duration } from './domain/duration.js';
export { LeaseError, type LeaseErrorCode } from './domain/errors.js';
export { toEvent, type EventType, type LeaseEvent, type LogRow } from './domain/events.js';
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
export { describeConflicts, type FileConflict, type FileRefusal } from './files/file-conflicts.js';
export type { FileLeases, FileOptions, FileTryResult } from './files/file-leases.js';
export type { FilePlace } from './files/file-name.js';
export type { FileRootOptions, Paths } from './files/file-root.js';
export { Holdfast, type Health } from './holdfast.js';
export type { AcquireOptions, HeldLease, Refusal, Released, Renewed, TryResult, Wait } from './manager/face.js';
export type { Authority, RawRenewed, RevokeInput } from './manager/governing.js';
export type { Filter, HistoryQuery, ResourceView, ShowOptions } from './manager/looking.js';
export type { WatchFilter } from './manager/watching.js';
export type { Logger } from './observe/logger.js';
export type { Followed, SequenceLease, SequenceOptions, Settled, Stream, StreamGap } from './sequence/face.js';
export { Batching, type Answered } from './stores/batching.js';
export type * from './stores/sequence-store.js';
export type * from './stores/store.js';
export type { Settings } from './domain/settings.js';
export type { WaitGraph, WaitingTicket, WaitStep } from './domain/wait-graph.js';
export { systemClock } from './system-clock.js';
