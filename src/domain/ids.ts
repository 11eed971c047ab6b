// Ids: made by the caller before anything is sent (S8), random, with the store time of their birth in front. The time
// is only for neighbourhood (rows born together lie together in the store); uniqueness comes from 100 random bits.
import { invalid } from './errors.js';

export const ID_TIME_DIGITS = 9;
const ID_SHAPE = /^[A-Za-z0-9_-]{16,64}$/;

/** Ids are born many to a millisecond. */
let last = { ms: NaN, digits: '' };

/** Fixed-width base 36, so that text order is number order (nine digits last until the year 5188). */
export function timeDigits(ms: number): string {
  if (ms !== last.ms) last = { ms, digits: Math.max(0, Math.floor(ms)).toString(36).padStart(ID_TIME_DIGITS, '0') };
  return last.digits;
}

/** `randomText` must hold at least 100 bits in the characters of an id. */
export function makeId(bornAtMs: number, randomText: string): string {
  return timeDigits(bornAtMs) + randomText;
}

export function checkId(id: unknown): string {
  if (typeof id === 'string' && ID_SHAPE.test(id)) return id;
  throw invalid('an id is 16 to 64 characters out of A-Z a-z 0-9 _ -: make it with makeId()');
}
