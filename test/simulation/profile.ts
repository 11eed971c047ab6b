// What kind of world a seed is: how many processes, how bad the network, which misfortunes. Each seed leaves out about half
// of them, so that a rare one is also seen alone and not drowned by the others.
import { Random } from './random.js';

export interface NetworkTraits {
  readonly delayMs: number;
  /** How often a message takes much longer, and how long at most. */
  readonly slowShare: number;
  readonly slowMs: number;
  readonly lostRequestShare: number;
  readonly lostReplyShare: number;
  readonly failBeforeShare: number;
  readonly failAfterShare: number;
  readonly twiceShare: number;
  readonly lostWakeShare: number;
  readonly twiceWakeShare: number;
  /** A call without an answer fails after this long; Infinity: the caller never hears of it again. */
  readonly givesUpMs: number;
}

export interface Profile {
  readonly processes: number;
  readonly actors: number;
  readonly steps: number;
  /** What more than half of the steps are about. */
  readonly theme: 'anything' | 'changes' | 'nesting';
  /** How long things go wrong. */
  readonly chaosMs: number;
  readonly network: NetworkTraits;
  /** How far clocks drift, in parts per million. */
  readonly ppm: number;
  /** How late a timer may fire. */
  readonly timersLateMs: number;
  /** The wall clock stands still with the machine: then nobody could know that it slept. */
  readonly hidesSleep: boolean;
  readonly pauses: number;
  readonly suspensions: number;
  readonly wallSteps: number;
  readonly crashes: number;
  readonly shutdowns: number;
  readonly freezes: number;
  readonly cuts: number;
  /** Lines that are cut in one direction only. */
  readonly oneWayCuts: number;
  readonly settings: number;
  /** How often a server that stands between is stopped, and killed: in worlds that have one. */
  readonly serverPauses: number;
  readonly serverCrashes: number;
  /** How many of the steps take a turn in a line, with a ttl long enough for a release to hand over (Q1). */
  readonly turnsShare: number;
  /** How many processes run their services. */
  readonly servicesShare: number;
  /** Looking at `isHeld` may set the manager to work: some worlds look at every event, some rarely. */
  readonly lookShare: number;
}

export const CALM: NetworkTraits = {
  delayMs: 2,
  slowShare: 0,
  slowMs: 0,
  lostRequestShare: 0,
  lostReplyShare: 0,
  failBeforeShare: 0,
  failAfterShare: 0,
  twiceShare: 0,
  lostWakeShare: 0,
  twiceWakeShare: 0,
  givesUpMs: Infinity,
};

/** Nothing goes wrong at all. */
export const QUIET: Partial<Profile> = {
  network: CALM,
  chaosMs: 0,
  pauses: 0,
  suspensions: 0,
  wallSteps: 0,
  crashes: 0,
  shutdowns: 0,
  freezes: 0,
  cuts: 0,
  oneWayCuts: 0,
  settings: 0,
  serverPauses: 0,
  serverCrashes: 0,
};

/** No message is under way longer than this, a store that stands still included: what S9 has to allow for. */
export const LONGEST_DELAY_MS = 4_100;
const LONGEST_SLOW_MS = 1_500;
export const LONGEST_FREEZE_MS = 1_000;
/** Long enough that a process's idea of the store's time is worth nothing afterwards (S8). */
export const LONG_SLEEP_MS = 90_000;

/** Mostly short; sometimes long enough for a ticket to die of a pause, rarely for an id to be too old after one. */
function chaosFrom(random: Random): number {
  if (random.chance(0.15)) return random.between(13_000, 20_000);
  return random.chance(0.02) ? LONG_SLEEP_MS * 1.5 : random.between(2_000, 7_000);
}

export function profileFrom(random: Random): Profile {
  const maybe = (most: number): number => (random.chance(0.5) ? random.whole(1, most) : 0);
  const share = (most: number): number => (random.chance(0.5) ? random.between(0, most) : 0);
  return {
    processes: random.whole(2, 4),
    actors: random.whole(1, 3),
    steps: random.whole(2, 7),
    theme: random.pick(['anything', 'anything', 'anything', 'changes', 'nesting']),
    chaosMs: chaosFrom(random),
    network: {
      delayMs: random.pick([0.2, 2, 8]),
      slowShare: share(0.3),
      slowMs: random.pick([30, 200, LONGEST_SLOW_MS]),
      lostRequestShare: share(0.2),
      lostReplyShare: share(0.2),
      failBeforeShare: share(0.15),
      failAfterShare: share(0.15),
      twiceShare: share(0.2),
      lostWakeShare: random.pick([0, 0.3, 1]),
      twiceWakeShare: share(0.3),
      givesUpMs: random.pick([100, 2_000, 10_000, Infinity]),
    },
    ppm: 300,
    timersLateMs: 1,
    hidesSleep: false,
    pauses: maybe(4),
    suspensions: random.chance(0.3) ? random.whole(1, 3) : 0,
    wallSteps: maybe(3),
    crashes: maybe(2),
    shutdowns: random.chance(0.3) ? 1 : 0,
    freezes: maybe(2),
    cuts: maybe(3),
    settings: random.chance(0.2) ? 1 : 0,
    servicesShare: 0.1,
    lookShare: random.chance(0.7) ? 1 : 0.2,
    // What came later is drawn last, so that the rest of a seed stays what it was.
    oneWayCuts: random.chance(0.3) ? random.whole(1, 3) : 0,
    serverPauses: maybe(2),
    serverCrashes: maybe(2),
    turnsShare: random.chance(0.3) ? random.pick([0.3, 0.9]) : 0,
  };
}

/** Most worlds are small: what goes wrong goes wrong between two or three, and eight small worlds cost what a crowd does. */
const SMALL_SHARE = 0.75;

export function sizeOf(seed: number): Partial<Profile> {
  const random = new Random(seed ^ 0x51ce);
  if (!random.chance(SMALL_SHARE)) return {};
  return {
    processes: random.chance(0.7) ? 2 : 3,
    actors: random.whole(1, 2),
    steps: random.whole(2, 4),
    chaosMs: random.between(1_500, 4_500),
  };
}
