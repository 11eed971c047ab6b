// What goes wrong in a world, and when: stops, suspended machines, kills and restarts, a store that stands still, cut lines,
// wall clocks that step. All of it is planned from the seed before it begins, and all of it is over when the world heals.
import type { FaultyNetwork } from './faulty-network.js';
import { LONG_SLEEP_MS, LONGEST_FREEZE_MS, type Profile } from './profile.js';
import type { SimulatedProcess } from './simulated-process.js';
import type { World } from './world.js';

const PAUSES_MS = [4, 30, 120, 600, 2_500, 12_000];
/** Far below the smallest margin (26 ms), or far above the largest (201 ms): S7 does not promise to see what lies between
 *  to the last half millisecond, because the same margin also covers drifting clocks. */
const SUSPENSIONS_MS = [3, 600, 2_500, 12_000];
const WALL_STEPS_MS = [30, 300, 5_000, 3_600_000];

export interface Cast {
  readonly world: World;
  readonly network: FaultyNetwork;
  readonly profile: Profile;
  readonly processes: SimulatedProcess[];
  /** A process that takes the place of one that was killed, some time later. */
  replace(killed: SimulatedProcess, afterMs: number): void;
  /** Somebody changes a setting: every process reads them again before its next acquire (O4). */
  changeSettings(): void;
  /** Asks a process to shut down. */
  end(process: SimulatedProcess): void;
}

export function planMisfortunes(cast: Cast): void {
  const { world, network, profile, processes } = cast;
  const { random } = world;
  const times = (count: number, act: () => void): void => {
    for (let i = 0; i < count; i += 1) world.at(world.now + random.between(0, profile.chaosMs), act);
  };
  const someone = (): SimulatedProcess => random.pick(processes);
  times(profile.pauses, () => pause(cast, someone(), false, random.pick(PAUSES_MS)));
  times(profile.suspensions, () => {
    const ms = profile.chaosMs > LONG_SLEEP_MS ? LONG_SLEEP_MS : random.pick(SUSPENSIONS_MS);
    pause(cast, someone(), true, ms);
  });
  times(profile.wallSteps, () => stepWall(cast, someone()));
  times(profile.freezes, () => network.freeze(random.between(10, LONGEST_FREEZE_MS)));
  times(profile.cuts, () => network.cut(someone(), random.pick([40, 300, 1_500, 5_000])));
  times(profile.settings, () => cast.changeSettings());
  times(profile.crashes, () => {
    const killed = someone();
    if (killed.isGone) return;
    killed.crash();
    if (random.chance(0.6)) cast.replace(killed, random.pick([1, 100, 1_500]));
  });
  times(profile.shutdowns, () => {
    const ended = someone();
    if (ended.isRunning) cast.end(ended);
  });
  times(profile.oneWayCuts, () => {
    network.cut(someone(), random.pick([40, 300, 1_500, 5_000]), random.chance(0.5) ? 'in' : 'out');
  });
}

function pause({ world }: Cast, process: SimulatedProcess, isMachine: boolean, ms: number): void {
  if (!process.isRunning) return;
  process.pause(isMachine);
  world.at(world.now + ms * world.random.between(0.7, 1.3), () => process.resume());
}

/** A wall clock set back hides a suspended machine, which nobody could notice then: steps back are for worlds without. */
function stepWall({ world, profile }: Cast, process: SimulatedProcess): void {
  const { random } = world;
  const ms = random.pick(WALL_STEPS_MS) * (profile.suspensions === 0 && random.chance(0.5) ? -1 : 1);
  process.clock.stepWall(ms);
  world.tell(() => `the wall clock of ${process.name} steps by ${ms} ms`);
}

/** No more faults; whoever is stopped goes on. */
export function heal({ world, network, processes }: Cast): void {
  network.heal();
  world.tell(() => 'everything heals');
  for (const process of processes) process.resume();
}
