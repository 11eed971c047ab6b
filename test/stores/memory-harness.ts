// The memory store as the conformance suite opens it: on a clock that moves when it is told to. Shared by the test of the
// memory store and the test of stores broken on purpose.
import type { Store } from '../../src/stores/store.js';
import { MemoryStore } from '../../src/stores/memory/index.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import type { Opened, StoreHarness } from '../../src/testing/store-conformance/index.js';

/** The wall time, in milliseconds, at which an epoch counter starts fewer than 1,000 steps below 2^53. */
const NEAR_LIMIT = Math.floor(Number.MAX_SAFE_INTEGER / 1_000);

let seed = 0;

function opened(clock: FakeClock, through: (store: Store) => Store): Opened {
  const store = through(new MemoryStore({ clock }));
  return {
    store,
    another: async () => store,
    passTime: (ms) => clock.advance(ms),
    wall: () => clock.wall(),
    stepWall: (ms) => clock.stepWall(ms),
    randomText: () => clock.randomText(),
    close: () => store.close(),
  };
}

/** `through` may put something between the suite and the store. */
export function memoryHarness(name = 'memory', through = (store: Store): Store => store): StoreHarness {
  return {
    name,
    capabilities: { stepsWall: true, sequences: true, handsOver: true },
    open: async () => opened(new FakeClock({ seed: (seed += 1) }), through),
    openNearLimit: async () => opened(new FakeClock({ seed: (seed += 1), wall: NEAR_LIMIT }), through),
  };
}
