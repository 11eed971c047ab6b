// Conformance, part two: random programs of operations from three clients, compared answer by answer with the model
// (contract, section 12). A run is a function of its seed, which stands in the title; SEED=n repeats it. A failure is
// shrunk and printed as a program of readable lines with the two answers that differ.
import fc from 'fast-check';
import { checkHistory } from './check-history.js';
import { readHistory } from './history-records.js';
import type { StoreHarness, Runner } from './harness.js';
import { Recorder } from './programs/recorder.js';
import { Disagreement, ProgramRun, type Watcher } from './programs/run-program.js';
import { program, type Step } from './programs/steps.js';
import { chooseSeed } from './seed.js';

export interface ProgramOptions {
  readonly programs?: number | undefined;
  readonly steps?: number | undefined;
  readonly seed?: number | undefined;
}

const PROGRAMS = 300;
const STEPS = 40;

export function randomPrograms(harness: StoreHarness, runner: Runner, options: ProgramOptions = {}): void {
  const { programs = PROGRAMS, steps = STEPS, seed = chooseSeed() } = options;
  const register = (from: StoreHarness, count: number, where: string): void => {
    const title = `${count} random programs of ${steps} steps are answered as by the model${where} (SEED=${seed})`;
    runner.test(title, async () => {
      const found = await findDisagreement(from, { programs: count, steps, seed });
      if (found !== undefined) throw new Disagreement(found);
    });
  };
  runner.describe(`${harness.name}: random programs`, () => {
    register(harness, programs, '');
    const { openNearLimit } = harness;
    if (openNearLimit) register({ ...harness, open: openNearLimit }, Math.ceil(programs / 10), ', near 2^53');
  });
}

/** Runs the programs; the first that is answered otherwise than by the model is shrunk and told, or undefined. */
export async function findDisagreement(
  harness: StoreHarness,
  options: Required<{ [K in keyof ProgramOptions]: number }>,
  watch?: Watcher,
): Promise<string | undefined> {
  const { programs, steps, seed } = options;
  const property = fc.asyncProperty(program(steps), (made) => runProgram(harness, made, watch));
  const result = await fc.check(property, { seed, numRuns: programs });
  if (!result.failed) return undefined;
  if (!(result.errorInstance instanceof Disagreement)) throw result.errorInstance;
  const [made] = result.counterexample ?? [[]];
  const why = await trim(harness, made, result.errorInstance);
  return `${harness.name} and the model disagree (program ${result.numRuns} of SEED=${seed})\n${why.message}`;
}

/** Takes steps out, then items of batches, one at a time, for as long as store and model still disagree. */
async function trim(harness: StoreHarness, made: readonly Step[], found: Disagreement): Promise<Disagreement> {
  for (const shorter of shorterThan(made)) {
    try {
      await runProgram(harness, shorter, undefined);
    } catch (error) {
      if (error instanceof Disagreement) return trim(harness, shorter, error);
    }
  }
  return found;
}

function* shorterThan(made: readonly Step[]): Generator<readonly Step[]> {
  const steps = made.filter(({ op }) => op !== 'nothing');
  for (const [i, step] of steps.entries()) {
    yield steps.toSpliced(i, 1);
    if (!('what' in step) || !Array.isArray(step.what) || step.what.length === 1) continue;
    for (const item of step.what.keys()) yield steps.with(i, { ...step, what: step.what.toSpliced(item, 1) } as Step);
  }
}

async function runProgram(harness: StoreHarness, made: readonly Step[], watch: Watcher | undefined): Promise<void> {
  const opened = await harness.open();
  try {
    const recorder = new Recorder();
    const watchers: Watcher = (...told) => {
      recorder.watch(...told);
      watch?.(...told);
    };
    const { longestPassMs } = harness.capabilities ?? {};
    const run = await ProgramRun.begin(opened, { watch: watchers, longestPassMs });
    for (const step of made) await run.step(step);
    await run.finish();
    if (!recorder.isLogWhole) return;
    const complaints = checkHistory({ ...(await readHistory(opened.store)), records: recorder.records });
    if (complaints.length > 0)
      run.disagree(`store and model agree, but not with the contract: ${complaints.join('; ')}`);
  } finally {
    await opened.close();
  }
}
