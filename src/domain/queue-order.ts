// Q1: the order of the queue is arrival − priority × 30 s, ties by arrival. A request without a ticket comes last.
import { PRIORITY_STEP_MS } from './limits.js';

/** A place in line: `rank` in milliseconds of store time, `arrival` a number that only grows within the namespace. */
export interface Place {
  readonly rank: number;
  readonly arrival: number;
}

export const LAST: Place = { rank: Infinity, arrival: Infinity };

export function rankOf(arrivedAt: number, priority: number): number {
  return arrivedAt - priority * PRIORITY_STEP_MS;
}

export function isAhead(a: Place, b: Place): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.arrival < b.arrival);
}

export function comparePlaces(a: Place, b: Place): number {
  if (isAhead(a, b)) return -1;
  return isAhead(b, a) ? 1 : 0;
}
