// A case of the suite as data: which rules it proves, what it says, what it does, and what it needs of the harness.
import type { CaseContext } from './context.js';
import type { StoreHarness } from './harness.js';

export interface ConformanceCase {
  /** The rules it proves, by their tags in the contract. */
  readonly tags: readonly string[];
  readonly title: string;
  readonly needs?: CaseNeeds | undefined;
  readonly run: (context: CaseContext) => Promise<void>;
}

export interface CaseNeeds {
  /** How much time it lets pass in all, where that is more than a moment. */
  readonly passMs?: number;
  readonly wakeUps?: true;
  readonly stepsWall?: true;
  /** A release that claims for the first in line. */
  readonly handsOver?: true;
  /** Is run on `openNearLimit`. */
  readonly nearLimit?: true;
  /** Streams of numbers (`store.sequences`). */
  readonly sequences?: true;
  /** Thousands of requests. */
  readonly manyRequests?: true;
}

export function fullTitle({ tags, title }: ConformanceCase): string {
  return `${tags.join(', ')}: ${title}`;
}

/** Why this case is not run on this store, or undefined when it is. */
export function skipReason(one: ConformanceCase, harness: StoreHarness): string | undefined {
  const { longestPassMs = Infinity, noWakeUps, stepsWall, sequences, handsOver } = harness.capabilities ?? {};
  const needs = one.needs ?? {};
  const asked = harness.skip?.[fullTitle(one)];
  if (asked !== undefined) return asked;
  if (needs.sequences && !sequences) return 'the store keeps no sequences';
  if ((needs.passMs ?? 0) > longestPassMs) return `needs ${String(needs.passMs)} ms to pass`;
  if (needs.handsOver && !handsOver) return 'a release wakes here, and claims for nobody';
  if (needs.wakeUps && noWakeUps) return 'the store sends no hints across connections';
  if (needs.stepsWall && !stepsWall) return 'the wall clock of the store cannot be stepped here';
  if (needs.nearLimit && !harness.openNearLimit) return 'the epoch counter cannot be set here';
  return undefined;
}
