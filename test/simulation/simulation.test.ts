// The code that ships, over the model, in worlds where everything goes wrong and then heals. A failure is a seed:
// SEED=n repeats one world and prints its story, SEEDS=k runs another number of them, FIRST=n begins elsewhere.
import { describe, expect, test } from 'vitest';
import { findingText, runSeed, runSequenceSeed } from './run-seed.js';

const SEEDS_PER_TEST = 250;
/** Of so many worlds one has a stream as well: each takes about ten times as long. */
const STREAM_EVERY = 16;
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
  test(`seed ${seed}, with a stream`, async () => {
    const { finding, story, events, grants } = await runSequenceSeed(seed ?? 0, {}, true);
    process.stdout.write(`${story()}\n${events} events, ${grants} commits\n`);
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

describe.runIf(seed === undefined)(
  'N1 to N5, V1, V2: a stream in such worlds, after every event and at the end',
  () => {
    const last = first + Math.ceil(count / STREAM_EVERY) - 1;
    test(`seeds ${first} to ${last}`, { timeout: 300_000 }, async () => {
      let stored = 0;
      for (let one = first; one <= last; one += 1) {
        const result = await runSequenceSeed(one);
        if (result.finding) expect.fail(findingText(result.finding));
        stored += result.grants;
      }
      expect(stored).toBeGreaterThan(last - first);
    });
  },
);
