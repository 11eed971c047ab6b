// All checkers over one recorded history (contract, section 12): exclusion, epochs, renewals, queue order,
// ends, the table, and the order that clients saw. Guarded writes (history-writes.ts) and linearizability
// (history-linear.ts) need records of their own.
// An empty list means that nothing speaks against it; each complaint is a sentence that begins with the rule.
import { checkEnds } from './history-ends.js';
import { checkEpochs } from './history-epochs.js';
import { checkExclusion } from './history-exclusion.js';
import { checkOrder } from './history-order.js';
import { checkQueue } from './history-queue.js';
import type { History } from './history-records.js';
import { checkRenewals } from './history-renewals.js';
import { checkTable } from './history-table.js';

export function checkHistory(history: History): string[] {
  return [checkExclusion, checkEpochs, checkRenewals, checkQueue, checkEnds, checkTable, checkOrder].flatMap((check) =>
    check(history),
  );
}
