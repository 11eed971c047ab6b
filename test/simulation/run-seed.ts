// Runs one seed and says what was wrong, with the story that led there. An error nobody handled is a finding too (S12).
import { SequenceSimulation, type SequenceSabotage } from './sequence-simulation.js';
import { Simulation, type Sabotage } from './simulation.js';
import type { World } from './world.js';

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
  readonly story: () => string;
}

export function runSeed(seed: number, sabotage: Sabotage = {}, keepsAll = false): Promise<SeedResult> {
  const simulation = new Simulation(seed, sabotage);
  return watched(seed, simulation, keepsAll, () => simulation.ledger.granted);
}

/** A world with a stream. What counts is how many commits were answered. */
export function runSequenceSeed(seed: number, sabotage: SequenceSabotage = {}, keepsAll = false): Promise<SeedResult> {
  const simulation = new SequenceSimulation(seed, sabotage);
  return watched(seed, simulation, keepsAll, () => simulation.ledger.stored.length);
}

async function watched(
  seed: number,
  simulation: { readonly world: World; run(): Promise<void> },
  keepsAll: boolean,
  grants: () => number,
): Promise<SeedResult> {
  const { world } = simulation;
  world.keepsAll = keepsAll;
  const unhandled = (reason: unknown): void => world.fail(new Error(`S12: nobody handled ${text(reason)}`));
  process.on('unhandledRejection', unhandled);
  try {
    await simulation.run();
    return result();
  } catch (error) {
    return { ...result(), finding: { seed, message: text(error), story: world.story() } };
  } finally {
    process.off('unhandledRejection', unhandled);
  }

  function result(): SeedResult {
    return { events: world.count, grants: grants(), story: () => world.story(Infinity) };
  }
}

/** Throws the first finding among the seeds 1 to `seeds`. `sabotage` is made anew for each. */
export async function expectFine(seeds: number, sabotage: () => Sabotage): Promise<void> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const { finding } = await runSeed(seed, sabotage());
    if (finding) throw new Error(`seed ${seed} of this world: ${finding.message}\n\n${finding.story}`);
  }
}

export function findingText({ seed, message, story }: Finding): string {
  return `${message}\n\nrepeat it: SEED=${seed} npx vitest run --project conformance test/simulation/simulation.test.ts\n\n${story}`;
}

function text(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === 'Violation' ? error.message : (error.stack ?? error.message);
}
