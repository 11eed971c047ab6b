// The numbers of stored event types, for stores that keep a number instead of the text. They are in people's data: add, never
// change. The compiler asks for every type there is.
import type { StoredType } from './events.js';

export const EVENT_NUMBERS: Readonly<Record<StoredType, number>> = {
  'lease.queued': 0,
  'lease.acquired': 1,
  'lease.renewed': 2,
  'lease.released': 3,
  'lease.expired': 4,
  'lease.revoked': 5,
  'lease.failed': 6,
  'lease.delegated': 7,
  'lease.upgraded': 8,
  'lease.downgraded': 9,
  'deadlock.detected': 10,
  'sequence.leased': 11,
  'sequence.committed': 12,
  'sequence.gap': 13,
  'sequence.filled': 14,
  'sequence.moved': 15,
  'recovery.succeeded': 16,
  'recovery.failed': 17,
  'cascade.entered': 18,
  'cascade.left': 19,
  'alert.raised': 20,
  'alert.cleared': 21,
  'store.clock_stepped': 22,
  'store.incarnation': 23,
};

export const EVENT_TYPES: ReadonlyMap<number, StoredType> = new Map(
  Object.entries(EVENT_NUMBERS).map(([type, number]) => [number, type as StoredType]),
);
