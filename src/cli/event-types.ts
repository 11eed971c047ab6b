// The types of events as people type them.
import { STORED_TYPES } from '../domain/events.js';
import { usage } from './exit-codes.js';
import { nearest } from './nearest.js';

/** `acquired` is `lease.acquired`. */
export function typeOf(text: string): string {
  const known: readonly string[] = STORED_TYPES;
  const full = known.find((type) => type === text || type === `lease.${text}`);
  if (full !== undefined) return full;
  const guess = nearest(text, [...known, ...known.map((type) => type.replace('lease.', ''))]);
  throw usage(
    `there are no events of type ${text}${guess === undefined ? '' : ` (Did you mean ${guess}?)`}: known are ${known.join(', ')}`,
  );
}
