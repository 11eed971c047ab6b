// One store's run as a test: how long, with which seed, and what is said at the end.
import { expect, test } from 'vitest';
import { chooseSeed } from '../../../src/testing/store-conformance/seed.js';
import { runCrowd } from './crowd.js';
import { writeReport } from './report.js';
import type { SiteName } from './site.js';

const SHORT_SECONDS = 60;
const LONG_SECONDS = 30 * 60;
/** Starting, settling and checking take this long at most. */
const AROUND_MS = 300_000;

/** FAULTS_SECONDS=n for another length than 60 s, or 30 min with LONG=1. */
function chooseSeconds(): number {
  const given = process.env['FAULTS_SECONDS'] ?? '';
  if (/^[1-9]\d{0,5}$/.test(given)) return Number(given);
  if (given !== '') throw new Error(`FAULTS_SECONDS is a whole number of seconds, got ${JSON.stringify(given)}`);
  return (process.env['LONG'] ?? '') === '' ? SHORT_SECONDS : LONG_SECONDS;
}

export function testCrowd(store: SiteName, title: string): void {
  const [seed, seconds] = [chooseSeed(), chooseSeconds()];
  test(
    `${title} (${seconds} s, SEED=${seed})`,
    async () => {
      const report = await runCrowd({ store, seed, seconds });
      const file = writeReport(report);
      const leftOut = report.leftOut.map((reason) => `\n  left out: ${reason}`).join('');
      process.stderr.write(`${report.sentence}${leftOut}\n  ${file}\n`);
      expect(report.complaints, `${report.complaints.join('\n')}\nrepeat it: SEED=${seed}`).toEqual([]);
    },
    seconds * 1_000 + AROUND_MS,
  );
}
