// Every bound of S18 in one place, so that a limit is named once and quoted by checks, docs and tests alike.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const LIMITS = {
  nameBytes: 512,
  nameSegments: 32,
  partsPerLease: 64,
  batchItems: 256,
  batchParts: 1_024,
  rowsPerStep: 1_000,
  ttlMs: 30 * DAY,
  minTtlManualMs: 100,
  minTtlAutoMs: 250,
  waitMs: DAY,
  minHoldMs: DAY,
  lockDelayMs: MINUTE,
  keepOutMs: 30 * DAY,
  maxHoldMs: 365 * DAY,
  priority: 100,
  sharedLimit: 1_000_000,
  ticketsPerNamespace: 10_000,
  metadataBytes: 4 * 1_024,
  ownerBytes: 128,
  reasonBytes: 1_024,
  operationBytes: 256 * 1_024,
  /** All operations of one lease of numbers together, and all of one page of a stream (but for its first). */
  operationsBytes: 4 * 1_024 * 1_024,
  numbersPerLease: 1_000,
  openNumbersPerStream: 100_000,
  /** How far ahead of the last leased number one may wait. */
  numbersAhead: 1_000_000,
  kindBytes: 128,
  readersPerStream: 1_000,
  holdersInRefusal: 20,
  wakesPerName: 64,
  heldByOneRequest: 1_024,
} as const;

/** Q1: one step of priority is worth this much waiting. */
export const PRIORITY_STEP_MS = 30 * SECOND;
/** Q2: how long a ticket lives without a refresh, and how often it is refreshed. */
export const TICKET_LIFE_MS = 10 * SECOND;
export const TICKET_REFRESH_MS = 3 * SECOND;
/** S8: an acquire whose id is unknown and older than this is refused, because its end may already be forgotten. */
export const ID_MAX_AGE_MS = MINUTE;
/** S8: how long an ended id is remembered. Twice its greatest age, so that a client whose estimate of the store's
 *  time runs ahead (by up to ID_MAX_AGE_MS) still cannot bring an ended id back. */
export const ID_KEEP_MS = 2 * ID_MAX_AGE_MS;
/** N3: how long after somebody waited for a stream its changes are worth a wake-up. */
export const WATCH_MS = 10 * SECOND;
/** N6: how long an operation id outlives its trimmed operation. */
export const OPERATION_ID_KEEP_MS = 30 * DAY;
