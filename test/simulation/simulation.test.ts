// The code that ships, over the model, in worlds where everything goes wrong and then heals. A failure is a seed:
// SEED=n repeats one world and prints its story, SEEDS=k runs another number of them, FIRST=n begins elsewhere.
import { describe, expect, test } from 'vitest';
import { findingText, runSeed } from './run-seed.js';

const SEEDS_PER_TEST = 250;
const seed = numberFrom('SEED');
const first = numberFrom('FIRST') ?? 1;
const count = numberFrom('SEEDS') ?? 2_000;

function numberFrom(name: string): number | undefined {
  const text = process.env[name];
  if (text === undefined || text === '') return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  throw new Error(`${name} is a whole number, got ${JSON.stringify(text)}`);
}

describe.runIf(seed !== undefined)('one world', () => {
  test(`seed ${seed}`, async () => {
    const { finding, story, events, grants } = await runSeed(seed ?? 0, {}, true);
    process.stdout.write(`${story()}\n${events} events, ${grants} grants\n`);
    if (finding) expect.fail(findingText(finding));
  });
});

describe.runIf(seed === undefined)('S1, S2, S7, S9, Q1, Q2 after every event, and everybody finishes', () => {
  for (let from = first; from < first + count; from += SEEDS_PER_TEST) {
    const to = Math.min(from + SEEDS_PER_TEST, first + count) - 1;
    test(`seeds ${from} to ${to}`, { timeout: 300_000 }, async () => {
      let grants = 0;
      for (let one = from; one <= to; one += 1) {
        const result = await runSeed(one);
        if (result.finding) expect.fail(findingText(result.finding));
        grants += result.grants;
      }
      expect(grants).toBeGreaterThan(to - from); // worlds in which nothing is ever granted would show nothing
    });
  }
});
