// A second connection of our own, for short calls while the first has one under way: one half of the callers is answered while the
// other half is dealt with here. Over one connection the halves never come apart, because what is asked in one turn of the loop is
// written, read and answered together (docs/decisions/0017). It is made when it is first missed, in the background, and nobody
// waits for it: where it cannot be had, everything goes over the first.
import type { Clock } from '../../domain/clock.js';
import type { Connections } from './connections.js';

/** A server that has no connection to spare is not asked all the time. */
const ASK_AGAIN_MS = 5_000;
/** Unused for longer than this it may have died without a word. */
const IDLE_MS = 30_000;
/** So many arguments have lists of some sixty items: those are quicker one behind the other. */
const SHORT_ARGUMENTS = 256;

export class SecondConnection {
  readonly #connections: Connections;
  readonly #clock: Clock;
  #askedAt = -Infinity;
  #usedAt = 0;

  constructor(connections: Connections, clock: Clock) {
    this.#connections = connections;
    this.#clock = clock;
  }

  get isOpen(): boolean {
    return this.#connections.current !== undefined;
  }

  /** For this call, if it is short and the connection is there. */
  for(args: readonly string[]): Connections | undefined {
    if (args.length > SHORT_ARGUMENTS) return undefined;
    const now = this.#clock.monotonic();
    const { current } = this.#connections;
    if (current && now - this.#usedAt <= IDLE_MS) {
      this.#usedAt = now;
      return this.#connections;
    }
    if (current) this.#connections.discard(current);
    if (now - this.#askedAt >= ASK_AGAIN_MS) this.#open(now);
    return undefined;
  }

  /** Where the first leads to is not known any more. */
  letGo(): void {
    const { current } = this.#connections;
    if (current) this.#connections.discard(current);
    this.#askedAt = -Infinity;
  }

  close(): void {
    this.#connections.close();
  }

  #open(now: number): void {
    this.#askedAt = now;
    this.#usedAt = now; // it is opened within seconds, or not at all
    this.#connections.open().catch(() => undefined);
  }
}
