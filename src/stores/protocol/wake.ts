// Q3 after a step: which tickets to wake for the parts it freed. Reads the rows as the step left them.
import { isLive, isWaiting } from '../../domain/expiry.js';
import { wakeOrder } from '../../domain/wake-order.js';
import type { Part } from '../../domain/part.js';
import type { Rows, Step } from './rows.js';

export function wokenBy(step: Step): string[] {
  if (step.space.tickets === 0) return step.wake;
  return [...step.wake, ...wokenFor(step.rows, step.freed, step.now)];
}

export function wokenFor(rows: Pick<Rows, 'overlapping'>, freed: readonly Part[], now: number): string[] {
  if (freed.length === 0) return [];
  const near = rows.overlapping(freed);
  const tickets = near.filter((row) => isWaiting(row, now));
  return wakeOrder(
    freed,
    tickets,
    near.filter((row) => isLive(row, now)),
  );
}
