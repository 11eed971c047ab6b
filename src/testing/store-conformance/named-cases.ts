// Runs the named cases: each on fresh data, each for itself; what a store does not run is listed with the reason.
import assert from 'node:assert/strict';
import { casesByTopic, conformanceCases } from './cases/index.js';
import { fullTitle, skipReason, type ConformanceCase } from './conformance-case.js';
import { openContext } from './context.js';
import type { Runner, StoreHarness } from './harness.js';

/** Runs one case on fresh data; rejects with what it found wrong. */
export async function runCase(one: ConformanceCase, harness: StoreHarness): Promise<void> {
  const { context, close } = await openContext(harness, one.needs?.nearLimit === true);
  try {
    await one.run(context);
  } finally {
    await close();
  }
}

/** Registers every named case with the test framework. */
export function storeConformance(harness: StoreHarness, runner: Runner): void {
  runner.describe(`conformance of ${harness.name}`, () => {
    for (const [topic, cases] of Object.entries(casesByTopic)) {
      runner.describe(topic, () => cases.forEach((one) => register(one, harness, runner)));
    }
    runner.test('the cases this store skips are cases of the suite', async () => {
      const titles = new Set(conformanceCases.map(fullTitle));
      const unknown = Object.keys(harness.skip ?? {}).filter((title) => !titles.has(title));
      assert.deepEqual(unknown, []);
    });
    runner.test('a store that keeps sequences has told the suite so', async () => {
      const opened = await harness.open();
      const isTold = harness.capabilities?.sequences === true;
      assert.equal(
        opened.store.sequences !== undefined,
        isTold,
        'capabilities.sequences of the harness says otherwise',
      );
      await opened.close();
    });
  });
}

function register(one: ConformanceCase, harness: StoreHarness, runner: Runner): void {
  const reason = skipReason(one, harness);
  if (reason === undefined) {
    runner.test(fullTitle(one), () => runCase(one, harness));
    return;
  }
  const title = `${fullTitle(one)} (skipped: ${reason})`;
  if (runner.skip) runner.skip(title);
  else runner.test(title, () => Promise.resolve());
}
