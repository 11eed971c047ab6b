// What the store's log says about holders, in the order of the log: whoever is granted a name comes after the end of whoever had
// it before (S1, S3). This asks no clock, so it holds also where the server's clock was set back, when one instant comes twice:
// then what is compared by the clock (the checkers of check-history.ts) is left out.
import { checkEnds } from '../../../src/testing/store-conformance/history-ends.js';
import { checkEpochs } from '../../../src/testing/store-conformance/history-epochs.js';
import { checkExclusion } from '../../../src/testing/store-conformance/history-exclusion.js';
import { checkHistory } from '../../../src/testing/store-conformance/check-history.js';
import type { History } from '../../../src/testing/store-conformance/history-records.js';
import { transitionOf } from '../../../src/testing/store-conformance/history-rows.js';
import { checkTable } from '../../../src/testing/store-conformance/history-table.js';

/** `isMonotonic`: whether the clock of this store never goes back, whatever its server's does. */
export function checkLog(history: History, isMonotonic: boolean): string[] {
  const inOrder = checkExclusion(byPosition(history));
  if (isMonotonic) return [...inOrder, ...checkHistory(history)];
  return [...inOrder, ...[checkEpochs, checkEnds, checkTable].flatMap((check) => check(history))];
}

/** The same history with the place in the log for a clock: a lease lives from the row that granted it to the row that ended it. */
function byPosition({ log, table }: History): History {
  const rows = log.map((row, at) => {
    const kind = transitionOf(row)?.kind;
    if (kind === 'leaseEnded') return { ...row, at, data: { ...row.data, expiresAt: at } };
    const { expiresAt: _, ...data } = row.data;
    return { ...row, at, data: kind === 'granted' ? { ...data, expiresAt: Number.MAX_SAFE_INTEGER } : data };
  });
  return { log: rows, records: [], table: { ...table, items: [] } };
}
