// Eight processes on one SQLite file for twenty seconds, then the history checked.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/stores/sqlite/index.js';
import { systemClock } from '../../src/system-clock.js';
import { checkHistory } from '../../src/testing/store-conformance/check-history.js';
import { complaintText, expectWork, type WorkloadCounts } from '../../src/testing/store-conformance/concurrent.js';
import { readHistory, readRecords } from '../../src/testing/store-conformance/history-records.js';
import { chooseSeed } from '../../src/testing/store-conformance/seed.js';
import { startChild } from '../support/child.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const PROCESSES = 8;
const DURATION_MS = 20_000;
const seed = chooseSeed();

test(`S1, S2, Q1, S6: the history of ${PROCESSES} processes in ${DURATION_MS} ms holds (SEED=${seed})`, async () => {
  const folder = temporaryFolder();
  try {
    const file = join(folder.path, 'leases.db');
    const children = Array.from({ length: PROCESSES }, (_, i) =>
      startChild('workload-child.mjs', `sqlite:${file}`, `process-${i}`, String(seed + i), String(DURATION_MS)),
    );
    expect(await Promise.all(children.map((child) => child.ended))).toEqual(children.map(() => 0));
    const linesOf = (word: string): string[] =>
      children.flatMap(({ lines }) =>
        lines.filter((line) => line.startsWith(word)).map((line) => line.slice(word.length)),
      );
    expectWork(linesOf('counts ').map((text) => JSON.parse(text) as WorkloadCounts));
    const store = await openSqlite(`sqlite:${file}`, { clock: systemClock() });
    const complaints = checkHistory({ ...(await readHistory(store)), records: readRecords(linesOf('record ')) });
    await store.close();
    expect(complaints, complaintText(complaints)).toEqual([]);
  } finally {
    folder.remove();
  }
});
