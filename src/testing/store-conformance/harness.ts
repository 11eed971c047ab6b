// What a store's own test gives the conformance suite: how to open the store on empty data, how to let its clock move on,
// and the test runner's functions, which are handed in so that this package imports no test framework.
import type { Store } from '../../stores/store.js';

export interface StoreHarness {
  readonly name: string;
  /** A store with fresh, empty data, of another incarnation than any opened before (so a fake clock needs a new seed). */
  open(): Promise<Opened>;
  /** The same with an epoch counter fewer than 1,000 steps below 2^53, where the store can be set up so (S17). */
  openNearLimit?: (() => Promise<Opened>) | undefined;
  /** Cases this store does not run, by full title, each with the reason. They are listed in the output as skipped. */
  readonly skip?: Readonly<Record<string, string>> | undefined;
  readonly capabilities?: HarnessCapabilities | undefined;
}

export interface HarnessCapabilities {
  /**
   * The longest `passTime` that is reasonable here, for stores whose clock cannot be set and so must really be waited
   * for. Cases that need more are listed as skipped. Without it: any.
   */
  readonly longestPassMs?: number | undefined;
  /** Set by a store that sends no hints across connections: the wake-up cases are listed as skipped. */
  readonly noWakeUps?: boolean | undefined;
  /** Set by a store that keeps sequences (`store.sequences`): their cases are run. Without it they are listed as skipped. */
  readonly sequences?: boolean | undefined;
  /** Set by a store whose releases claim for the first in line (Q1). Without it those cases are listed as skipped. */
  readonly handsOver?: boolean | undefined;
  /** Set when `Opened.stepWall` is there. */
  readonly stepsWall?: boolean | undefined;
}

export interface Opened {
  readonly store: Store;
  /** Another connection to the same data: a second client. Closed by `close` of this. */
  another(): Promise<Store>;
  /** Lets the store's own clock move on by at least `ms`. */
  passTime(ms: number): Promise<void>;
  /** The caller's wall clock, for `callerWall`. */
  wall(): number;
  /** Steps the wall clock of the store's machine; its monotonic clock does not notice (S13). */
  stepWall?: ((ms: number) => void) | undefined;
  /** Text that was never answered before, of 16 to 40 characters from `[a-z0-9]`: the stuff of ids. */
  randomText(): string;
  /** Lets hints that are on their way arrive. Without it the suite passes 20 ms of time instead. */
  letHintsArrive?: (() => Promise<void>) | undefined;
  /** Closes every connection that was opened and removes the data. Harmless when the store is closed already. */
  close(): Promise<void>;
}

/** The test framework, as far as the suite needs it. */
export interface Runner {
  describe(title: string, fn: () => void): void;
  test(title: string, fn: () => Promise<void>): void;
  /** Lists a case as skipped; without it the case is registered as a test that passes under a title saying so. */
  skip?: ((title: string) => void) | undefined;
}
