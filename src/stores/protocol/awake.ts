// Staying awake for an answer that is nearly there. A process that sleeps until its socket is readable has to be woken, which takes longer than
// a server on the same machine needs for a call, and both pay for it. So where answers are that quick, the loop goes on turning while one is
// on its way; whatever else is due on it is done meanwhile (S20). Anywhere else it sleeps: the answers themselves say where we are.
//
//   asleep ──a call leaves, the answer before it was quick, and it does not rest──▶ awake
//   awake ──nothing is on its way any more──▶ asleep
//   awake ──`awakeMs` since a call last left, and no answer──▶ resting, each time twice as long, until one was worth it again
//
// It decides nothing: whether the loop turns or sleeps, an answer is the same.
import type { Clock } from '../../domain/clock.js';

/** What an answer may take longer that finds this process asleep, for it to be worth a try. */
const WAKING_MS = 0.1;
/** A clock that stands still must not turn for ever. */
const MOST_TURNS = 1_000;
const FIRST_REST_MS = 0.1;
/** What was for nothing is a hundredth of the time at most. Longer, and a store that was busy for a while (filled, pruned) would find its
 *  way back too late: a try after a rest is one call, of a server that has gone to sleep. */
const LONGEST_REST_MS = 15;

export class Awake {
  readonly #clock: Clock;
  readonly #awakeMs: number;
  #underWay = 0;
  #leftAt = 0;
  #wasQuick = false;
  #isAwake = false;
  #turns = 0;
  #restsUntil = 0;
  #restMs = FIRST_REST_MS;

  /** `awakeMs`: longer than a call on the same machine takes, and shorter than most networks. */
  constructor(clock: Clock, awakeMs: number) {
    this.#clock = clock;
    this.#awakeMs = awakeMs;
  }

  left(): void {
    this.#underWay += 1;
    this.#leftAt = this.#clock.monotonic();
    if (this.#isAwake || !this.#wasQuick || this.#leftAt < this.#restsUntil) return;
    this.#isAwake = true;
    this.#turns = 0;
    this.#clock.soon(this.#turn);
  }

  /** However it ended. */
  answered(): void {
    this.#underWay -= 1;
    const tookMs = this.#clock.monotonic() - this.#leftAt;
    this.#wasQuick = tookMs <= this.#awakeMs + (this.#isAwake ? 0 : WAKING_MS);
    if (this.#wasQuick && this.#isAwake) this.#restMs = FIRST_REST_MS;
  }

  readonly #turn = (): void => {
    this.#turns += 1;
    const now = this.#clock.monotonic();
    const isLate = now - this.#leftAt > this.#awakeMs || this.#turns > MOST_TURNS;
    if (this.#underWay > 0 && !isLate) return this.#clock.soon(this.#turn);
    this.#isAwake = false;
    if (this.#underWay === 0) return;
    this.#restsUntil = now + this.#restMs;
    this.#restMs = Math.min(this.#restMs * 2, LONGEST_REST_MS);
  };
}
