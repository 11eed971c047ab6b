// Which steps of recovery are tried (V3), as pure rules: load decides first, then how often a step has been of use lately.
import type { Load } from './load.js';

/** In this order; the first that succeeds wins (V2). */
export type RecoveryStepName = 'own' | 'finished' | 'partial' | 'gap';

const BY_LOAD: Readonly<Record<Load, readonly RecoveryStepName[]>> = {
  low: ['own', 'finished', 'partial', 'gap'],
  medium: ['partial', 'gap'],
  high: ['gap'],
  unknown: ['gap'],
};

export const TRIES_KEPT = 50;
const WORTH_SHARE = 0.1;
const MOST_KINDS = 1_000;

/** How the last tries of each step went, by kind. */
export class StepRecord {
  readonly #tries = new Map<string, boolean[]>();

  note(step: RecoveryStepName, kind: string, succeeded: boolean): void {
    const key = `${step} ${kind}`;
    const tries = this.#tries.get(key) ?? [];
    tries.push(succeeded);
    if (tries.length > TRIES_KEPT) tries.shift();
    if (this.#tries.size >= MOST_KINDS) this.#tries.clear();
    this.#tries.set(key, tries);
  }

  /** Below a tenth of its last 50 tries. */
  isHopeless(step: RecoveryStepName, kind: string): boolean {
    const tries = this.#tries.get(`${step} ${kind}`) ?? [];
    return tries.length === TRIES_KEPT && tries.filter(Boolean).length < TRIES_KEPT * WORTH_SHARE;
  }
}

/** A gap is always left to be made. */
export function stepsFor(load: Load, kind: string, record: StepRecord): readonly RecoveryStepName[] {
  return BY_LOAD[load].filter((step) => step === 'gap' || load === 'low' || !record.isHopeless(step, kind));
}
