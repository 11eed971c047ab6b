// What becomes of a number that was claimed (V2 to V4): the first step that load allows and that succeeds says it. A step that
// throws or hangs puts the number off with backoff; after the last try a person has to look.
import type { Clock } from '../../domain/clock.js';
import { LIMITS } from '../../domain/limits.js';
import type { Load } from '../../domain/load.js';
import { stepsFor, StepRecord, type RecoveryStepName } from '../../domain/recovery-steps.js';
import type { Settlement } from '../../domain/sequence-requests.js';
import type { Claimed } from '../../domain/sequence.js';
import { answerWithin } from '../../manager/store-link.js';
import type { Registry } from './registry.js';
import { gapFor, KEPT_AGAIN_MS, STEPS } from './steps.js';

const STEP_MS = 60_000;
const MOST_TRIES = 3;
/** A gap whose kept result nobody can use goes to a person after this many looks, a minute apart. */
const MOST_GAP_TRIES = 10;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
// eslint-disable-next-line no-control-regex -- control characters are what is taken out
const CONTROL = /[\u0000-\u001f\u007f-\u009f]+/g;

export class Decider {
  readonly #clock: Clock;
  readonly #registry: Registry;
  readonly #record = new StepRecord();

  constructor(clock: Clock, registry: Registry) {
    this.#clock = clock;
    this.#registry = registry;
  }

  async decide(item: Claimed, load: Load): Promise<Settlement> {
    const tried: RecoveryStepName[] = [];
    for (const name of stepsFor(load, item.kind, this.#record)) {
      if (name === 'gap') break;
      tried.push(name);
      try {
        const settlement = await answerWithin(
          this.#clock,
          STEP_MS,
          `the step ${name}`,
          STEPS[name](item, this.#registry),
        );
        if (settlement || hadSomething(name, item, this.#registry))
          this.#record.note(name, item.kind, settlement !== undefined);
        if (settlement) return settlement;
      } catch (error) {
        this.#record.note(name, item.kind, false);
        return putOff(item, error);
      }
    }
    const gap = gapFor(item, tried, this.#registry);
    if (!item.isGap || gap.to !== 'gap' || gap.againAfterMs === undefined) return gap;
    return leftOver(item, load);
  }
}

/** Whether a step that answered nothing had anything to try: only then it counts as of no use. */
function hadSomething(name: RecoveryStepName, item: Claimed, registry: Registry): boolean {
  if (name === 'own') return registry.stepOf(item) !== undefined;
  return name === 'partial' && item.partial !== undefined && registry.rebuildOf(item) !== undefined;
}

function putOff(item: Claimed, error: unknown): Settlement {
  const text = messageOf(error);
  if (item.attempts + 1 >= MOST_TRIES)
    return { to: 'manual', reason: `recovery failed ${item.attempts + 1} times`, error: text };
  return { to: 'retry', error: text, afterMs: Math.min(FIRST_RETRY_MS * 2 ** item.attempts, LONGEST_RETRY_MS) };
}

/** A gap with a result that cannot be used here: another process may, for a while; then a person has to look. */
function leftOver(item: Claimed, load: Load): Settlement {
  const error = `nobody rebuilt its partial work of kind ${item.kind} (load here: ${load})`;
  if (item.attempts + 1 >= MOST_GAP_TRIES) return { to: 'manual', reason: 'its result could not be used', error };
  return { to: 'retry', error, afterMs: KEPT_AGAIN_MS };
}

/** As a reason may be: without control characters, bounded, never empty. */
function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const plain = text
    .toWellFormed()
    .replace(CONTROL, ' ')
    .slice(0, LIMITS.reasonBytes / 4);
  return plain.trim() === '' ? 'it failed without a message' : plain;
}
