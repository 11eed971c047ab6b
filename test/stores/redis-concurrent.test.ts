// Eight processes on one Redis for ten seconds, then the history checked.
import { describe, expect, test } from 'vitest';
import { openRedis } from '../../src/stores/redis/index.js';
import { systemClock } from '../../src/system-clock.js';
import { checkHistory } from '../../src/testing/store-conformance/check-history.js';
import { complaintText, expectWork, type WorkloadCounts } from '../../src/testing/store-conformance/concurrent.js';
import { readHistory, readRecords } from '../../src/testing/store-conformance/history-records.js';
import { chooseSeed } from '../../src/testing/store-conformance/seed.js';
import { startChild } from '../support/child.js';
import { startRedis } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const PROCESSES = 8;
const DURATION_MS = 10_000;
const seed = chooseSeed();

describe.skipIf(isSkipped('redis'))('many processes on one Redis', () => {
  test(`S1, S2, Q1, S6: the history of ${PROCESSES} processes in ${DURATION_MS} ms holds (SEED=${seed})`, async () => {
    const server = await startRedis();
    try {
      const children = Array.from({ length: PROCESSES }, (_, i) =>
        startChild('workload-child.mjs', server.url, `process-${i}`, String(seed + i), String(DURATION_MS)),
      );
      expect(await Promise.all(children.map((child) => child.ended))).toEqual(children.map(() => 0));
      const linesOf = (word: string): string[] =>
        children.flatMap(({ lines }) =>
          lines.filter((line) => line.startsWith(word)).map((line) => line.slice(word.length)),
        );
      expectWork(linesOf('counts ').map((text) => JSON.parse(text) as WorkloadCounts));
      const store = await openRedis(server.url, { clock: systemClock() });
      const complaints = checkHistory({ ...(await readHistory(store)), records: readRecords(linesOf('record ')) });
      await store.close();
      expect(complaints, complaintText(complaints)).toEqual([]);
    } finally {
      await server.remove();
    }
  });
});
