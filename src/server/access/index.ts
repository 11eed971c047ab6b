// What the rest of the server uses of access: who asks, what it may do, what it may see, and the line in the log about it.
export { audit, type AuditFacts } from './audit.js';
export { wrapMetadata } from './lease-metadata.js';
export {
  redactError,
  redactRefusal,
  visibleCycle,
  visibleEvent,
  visibleGraph,
  visibleLease,
  visibleLeases,
} from './redact.js';
export {
  boundFilter,
  isBoundToOwner,
  mayDo,
  mayRead,
  ownerFor,
  refuseNumber,
  requireNames,
  requireReclaim,
  requireRevoke,
  requireRole,
  requireTouch,
  requireWhole,
} from './rules.js';
export { actorOf, tokenView, type NewToken, type TokenView } from './token.js';
export { KNOWN_WITHIN_MS, TokenAccess } from './token-access.js';
export { visibleManual, visibleStreams } from './visible-pages.js';
