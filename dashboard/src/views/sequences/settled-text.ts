// What came of an order to settle, in a sentence. Pure.
import type { ManualItem, ManualOutcome } from '../../api/types.js';
import { spanOf } from './number-text.js';

/** Without an outcome the server knew no such operation in the queue. */
export function settledText(outcome: ManualOutcome | undefined, { number, count }: ManualItem): string {
  const where = spanOf(number, count);
  switch (outcome?.outcome) {
    case undefined:
      return 'It is not in the queue any more: somebody has settled it meanwhile. Nothing was done twice.';
    case 'stored':
      return outcome.number === undefined || outcome.number === number
        ? `Stored under its own number, ${where}.`
        : `Stored as number ${spanOf(outcome.number, count)}: readers had passed ${where}.`;
    case 'queued':
      return 'Ordered: the next process that recovers operations of this kind takes it.';
    case 'discarded':
      return `Discarded: ${where} stays a gap.`;
    default:
      return `The server says: ${outcome?.outcome ?? ''}.`;
  }
}
