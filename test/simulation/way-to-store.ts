// How the processes of a world reach the store: straight, or by HTTP through a server that is a process itself.
import type { MemoryStore } from '../../src/stores/memory/index.js';
import type * as port from '../../src/stores/store.js';
import { FaultyNetwork, type Witness } from './faulty-network.js';
import type { Profile } from './profile.js';
import { ProcessStore } from './process-store.js';
import type { SimulatedProcess } from './simulated-process.js';
import { SimulatedServer } from './simulated-server.js';
import { openSimulatedHttp } from './simulated-transport.js';
import { witnessed } from './witnessed-store.js';
import type { World } from './world.js';

export interface WayToStore {
  /** A store as one process opens it. It may fail, as opening does. */
  open(process: SimulatedProcess): Promise<port.Store>;
  /** What goes wrong on this way alone, and its end. */
  plan(profile: Profile): void;
  heal(): void;
}

export interface WayParts {
  readonly world: World;
  readonly store: MemoryStore;
  readonly network: FaultyNetwork;
  readonly witness: Witness;
  readonly hasSequences: boolean;
  /** A process for the server. */
  makeProcess(name: string): SimulatedProcess;
}

export function straightWay({ store, network, hasSequences }: WayParts): WayToStore {
  return {
    open: async (process) => new ProcessStore(store, network, process, hasSequences),
    plan: () => undefined,
    heal: () => undefined,
  };
}

const SERVER_PAUSES_MS = [4, 120, 600, 2_500];
const SERVER_AWAY_MS = [1, 100, 1_500];

export function servedWay(parts: WayParts): WayToStore {
  const { world, store, network, witness } = parts;
  const { random } = world;
  // Between server and store nothing is lost; what the server asks is no process's trust.
  const onlyChanges = { sent: () => undefined, answered: () => undefined, changed: witness.changed.bind(witness) };
  const behind = new FaultyNetwork(world, onlyChanges);
  let count = 0;
  const server = new SimulatedServer(world, () => {
    count += 1;
    const process = parts.makeProcess(`server ${count}`);
    return { process, store: new ProcessStore(store, behind, process, true) };
  });
  server.start();
  const times = (many: number, lengthMs: number, act: () => void): void => {
    for (let i = 0; i < many; i += 1) world.at(world.now + random.between(0, lengthMs), act);
  };
  const pause = (): void => {
    const { process } = server;
    if (!process?.isRunning) return;
    process.pause(false);
    world.at(world.now + random.pick(SERVER_PAUSES_MS) * random.between(0.7, 1.3), () => process.resume());
  };
  const crash = (): void => {
    server.crash();
    world.at(world.now + random.pick(SERVER_AWAY_MS), () => server.start());
  };
  return {
    open: async (process) => witnessed(await openSimulatedHttp(world, network, server, process), witness, process),
    plan: ({ serverPauses, serverCrashes, chaosMs }) => {
      times(serverPauses, chaosMs, pause);
      times(serverCrashes, chaosMs, crash);
    },
    heal: () => {
      server.process?.resume();
      server.start();
    },
  };
}
