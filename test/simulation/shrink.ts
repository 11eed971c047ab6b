// From a world that fails to a smaller one that fails by the same rule: fewer processes, actors, steps and misfortunes, a shorter
// and calmer time, one thing less after another, as long as the rule is still broken. What is left out changes the luck of all
// the rest, so each smaller world is tried with a few seeds. It is a search without chance and without a clock: the same world
// becomes the same story, and the number of events it may take is bounded.
import { CALM, type NetworkTraits, type Profile } from './profile.js';
import type { SeedResult } from './run-seed.js';
import { runOrder, type WorldOrder } from './worlds.js';

const MOST_EVENTS = 60_000;
const OTHER_SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

export interface Shrunk {
  readonly order: WorldOrder;
  readonly result: SeedResult;
  readonly tried: number;
}

type Run = (order: WorldOrder) => Promise<SeedResult>;

export async function shrink(
  failing: WorldOrder,
  found: SeedResult,
  run: Run = (order) => runOrder(order),
): Promise<Shrunk> {
  const search = new Search(failing, found, run);
  for (let isDone = false; !isDone;) {
    isDone = true;
    for (const less of LESS) if (await search.tryLess(less)) isDone = false;
  }
  return { order: search.best, result: search.result, tried: search.tried };
}

class Search {
  best: WorldOrder & { readonly profile: Profile };
  result: SeedResult;
  tried = 0;
  #events = 0;
  readonly #rule: string | undefined;
  readonly #run: Run;

  constructor(failing: WorldOrder, found: SeedResult, run: Run) {
    // Everything is said, so that nothing is left to be drawn.
    this.best = { ...failing, profile: found.profile };
    this.result = found;
    this.#rule = ruleOf(found);
    this.#run = run;
  }

  /** Takes the smaller world if it fails by the same rule and is no longer. */
  async tryLess(less: Less): Promise<boolean> {
    const smaller = less(this.best.profile);
    if (!smaller) return false;
    const profile = { ...this.best.profile, ...smaller };
    for (const seed of [this.best.seed, ...OTHER_SEEDS]) {
      if (this.#events > MOST_EVENTS) return false;
      const order = { ...this.best, seed, profile };
      const result = await this.#run(order);
      this.tried += 1;
      this.#events += result.events;
      if (ruleOf(result) !== this.#rule || result.events > this.result.events) continue;
      this.best = order;
      this.result = result;
      return true;
    }
    return false;
  }
}

function ruleOf({ finding }: SeedResult): string | undefined {
  return finding && (/^[A-Z]+\d+/.exec(finding.message)?.[0] ?? 'an error');
}

/** One thing less; undefined when there is nothing to take. */
type Less = (profile: Profile) => Partial<Profile> | undefined;

const COUNTS = [
  ...['pauses', 'suspensions', 'wallSteps', 'crashes', 'shutdowns', 'freezes', 'cuts', 'oneWayCuts', 'settings'],
  ...['serverPauses', 'serverCrashes', 'servicesShare', 'ppm'],
] as const as readonly (keyof Profile & ('pauses' | 'ppm'))[];

const TRAITS: readonly (keyof NetworkTraits)[] = [
  ...(['slowShare', 'lostRequestShare', 'lostReplyShare', 'failBeforeShare', 'failAfterShare', 'twiceShare'] as const),
  ...(['lostWakeShare', 'twiceWakeShare', 'delayMs', 'givesUpMs'] as const),
];

const LESS: readonly Less[] = [
  ({ network }) => (network === CALM ? undefined : { network: CALM }),
  ...COUNTS.map(
    (key): Less =>
      (profile) =>
        profile[key] > 0 ? { [key]: 0 } : undefined,
  ),
  ({ processes }) => (processes > 2 ? { processes: 2 } : undefined),
  ({ actors }) => (actors > 1 ? { actors: 1 } : undefined),
  ({ steps }) => (steps > 1 ? { steps: Math.ceil(steps / 2) } : undefined),
  ({ steps }) => (steps > 1 ? { steps: steps - 1 } : undefined),
  ({ processes }) => (processes > 1 ? { processes: processes - 1 } : undefined),
  ({ chaosMs }) => (chaosMs > 50 ? { chaosMs: chaosMs / 2 } : undefined),
  ...TRAITS.map(
    (key): Less =>
      ({ network }) =>
        network[key] === CALM[key] ? undefined : { network: { ...network, [key]: CALM[key] } },
  ),
  ...COUNTS.map(
    (key): Less =>
      (profile) =>
        profile[key] > 1 ? { [key]: profile[key] - 1 } : undefined,
  ),
  ({ lookShare }) => (lookShare === 1 ? undefined : { lookShare: 1 }),
];
