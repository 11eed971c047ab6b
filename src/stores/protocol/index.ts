// holdfast/stores/protocol: the lease protocol for the author of a store that runs it in its own process. The store keeps
// rows, log and counters (`Rows`, `Space`); these functions decide. See docs/guide/writing-a-store.md.
export { acquire } from './acquire.js';
export { failTicket, isRevocable, revoke, sweep } from './govern.js';
export { change, end, renew } from './hold.js';
export { standingOn, waitGraph } from './look.js';
export type { Changed, Handing, LogEntry, Rows, Space, Step } from './rows.js';
export { runItems } from './run-items.js';
export { tellHandedOver } from './tell-handed-over.js';
export { wokenBy } from './wake.js';

/** The same for streams of numbers. */
export * as sequence from './sequence/index.js';

// Domain rules that every such store applies in the same words.
export { checkBatch, checkFilter, checkLimit, checkNamespace, checkSoughtIds } from '../../domain/check-request.js';
export { anyOverlap } from '../../domain/conflict.js';
export { liftedEpoch } from '../../domain/epoch.js';
export { matchesQuery } from '../../domain/event-query.js';
export { isLive, isWaiting } from '../../domain/expiry.js';
export { leaseAt, type LeaseRow } from '../../domain/lease.js';
export { ID_KEEP_MS, LIMITS } from '../../domain/limits.js';
export { formatPosition, parsePosition, type Position } from '../../domain/position.js';
export { compareNames, isAbove } from '../../domain/resource-name.js';
export { checkSettings, DEFAULT_SETTINGS, type Settings } from '../../domain/settings.js';
export { tellEach } from '../../domain/tell-each.js';
export type { WaitGraph } from '../../domain/wait-graph.js';
