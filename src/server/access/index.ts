// What the rest of the server uses of access: who asks, what it may do, what it may see, and the line in the log about it.
export { audit, audited, type AuditFacts } from './audit.js';
export { takenBy, unwrapMetadata, unwrapped, wrapMetadata } from './lease-metadata.js';
export { redactError, redactRefusal, visibleEvent, visibleGraph, visibleLease, visibleLeases } from './redact.js';
export {
  boundFilter,
  isWithin,
  mayDo,
  mayRead,
  mayTouch,
  ownerFor,
  requireNames,
  requireReclaim,
  requireRevoke,
  requireRole,
  requireTouch,
  requireWhole,
} from './rules.js';
export { actorOf, tokenView, type NewToken, type Token, type TokenView } from './token.js';
export { TokenAccess, type MadeToken } from './token-access.js';
