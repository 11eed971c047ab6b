// The suite is worth something only if it rejects stores that are wrong. Each of these is the memory store with one fault
// put in; the test shows that a case of the rule it breaks fails, and prints which. Without a fault everything passes.
import { describe, expect, test } from 'vitest';
import { conformanceCases, fullTitle, runCase } from '../../src/testing/store-conformance/index.js';
import { faults, withFault } from './faults.js';
import { memoryHarness } from './memory-harness.js';

/** Thousands of requests are left to the test of the whole store. */
const cases = conformanceCases.filter(({ needs }) => !needs?.manyRequests);

async function failing(fault: Parameters<typeof withFault>[0], isEnough: (tags: readonly string[]) => boolean) {
  const harness = memoryHarness('broken', (store) => withFault(fault, store));
  const failed: string[] = [];
  for (const one of cases) {
    const isFine = await runCase(one, harness).then(
      () => true,
      () => false,
    );
    if (isFine) continue;
    failed.push(fullTitle(one));
    if (isEnough(one.tags)) break;
  }
  return failed;
}

test('every case has a title of its own, so that a skip means one case', () => {
  const titles = conformanceCases.map(fullTitle);
  expect(titles.filter((title, i) => titles.indexOf(title) !== i)).toEqual([]);
});

describe('stores broken on purpose', () => {
  for (const [what, { breaks, fault }] of Object.entries(faults)) {
    test(`a store is rejected when ${what}`, async () => {
      const failed = await failing(fault, (tags) => tags[0] === breaks);
      console.log(`${what}: ${failed.length} failed, the last is ${failed.at(-1) ?? 'none'}`);
      expect(failed.at(-1)).toMatch(new RegExp(`^${breaks}\\b`));
    });
  }

  test('the same store without a fault is not rejected', async () => {
    expect(
      await failing(
        () => ({}),
        () => false,
      ),
    ).toEqual([]);
  });
});
