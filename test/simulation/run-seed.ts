// Runs one seed and says what was wrong. An error nobody handled is a finding too (S12). A world is run without a story and
// without stacks, which cost more than the world itself; one that fails is run again, word for word, and tells both.
import type { Profile } from './profile.js';
import { SequenceSimulation, type SequenceSabotage } from './sequence-simulation.js';
import { Simulation, type Sabotage } from './simulation.js';
import { warmUp } from './warm-up.js';
import { Violation, type World } from './world.js';

export interface Finding {
  readonly seed: number;
  /** One sentence that begins with the rule. */
  readonly message: string;
  readonly story: string;
}

export interface SeedResult {
  readonly finding?: Finding;
  readonly events: number;
  readonly grants: number;
  readonly virtualMs: number;
  /** As it was drawn, and changed. */
  readonly profile: Profile;
  readonly story: () => string;
}

const STORY_END = 60;

interface OneWorld {
  readonly world: World;
  /** How much was granted or stored: worlds in which nothing is would show nothing. */
  readonly grants: number;
  readonly profile: Profile;
  run(): Promise<void>;
}

/** `sabotage` is made anew for each run, because what breaks a world may count. */
export function runSeed(seed: number, sabotage: () => Sabotage = () => ({}), isTold = false): Promise<SeedResult> {
  return runWorld(() => new Simulation(seed, sabotage()), isTold);
}

/** A world with a stream. */
export function runSequenceSeed(
  seed: number,
  sabotage: () => SequenceSabotage = () => ({}),
  isTold = false,
): Promise<SeedResult> {
  return runWorld(() => new SequenceSimulation(seed, sabotage()), isTold);
}

async function runWorld(make: () => OneWorld, isTold: boolean): Promise<SeedResult> {
  await warmUp();
  const result = await runOnce(make(), isTold);
  if (isTold || !result.finding) return result;
  const again = await runOnce(make(), true);
  if (again.finding) return again;
  const message = `${result.finding.message}\n(and not when it is run again: a world that is not told twice is a bug of the simulation)`;
  return { ...result, finding: { ...result.finding, message } };
}

async function runOnce(simulation: OneWorld, isTold: boolean): Promise<SeedResult> {
  const { world } = simulation;
  world.isTold = isTold;
  const unhandled = (reason: unknown): void => world.fail(new Violation(`S12: nobody handled ${text(reason)}`));
  const { stackTraceLimit } = Error;
  if (!isTold) Error.stackTraceLimit = 0;
  process.on('unhandledRejection', unhandled);
  try {
    await simulation.run();
    return result();
  } catch (error) {
    return { ...result(), finding: { seed: world.seed, message: text(error), story: world.story(STORY_END) } };
  } finally {
    process.off('unhandledRejection', unhandled);
    Error.stackTraceLimit = stackTraceLimit;
  }

  function result(): SeedResult {
    const { grants, profile } = simulation;
    return { events: world.count, grants, profile, virtualMs: world.now, story: () => world.story() };
  }
}

/** Throws the first finding among the seeds 1 to `seeds`. */
export async function expectFine(seeds: number, sabotage: () => Sabotage): Promise<void> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const { finding } = await runSeed(seed, sabotage);
    if (finding) throw new Error(`seed ${seed} of this world: ${finding.message}\n\n${finding.story}`);
  }
}

function text(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === 'Violation' ? error.message : (error.stack ?? error.message);
}
