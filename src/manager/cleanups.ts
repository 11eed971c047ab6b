// Ending ids in the background (S9, S15): tickets nobody waits for any more, grants that came too late, releases whose
// answer did not come. Each is repeated until the store has answered or the id cannot be alive any more: a ticket dies
// in 10 s, a lease by its ttl. Those are the only ways out, and both are counted.
import type { Clock } from '../domain/clock.js';
import { LeaseError } from '../domain/errors.js';
import { TICKET_LIFE_MS } from '../domain/limits.js';
import type { EndRequest } from '../domain/requests.js';
import type { EndResult } from '../stores/store.js';
import type { StoreLink } from './store-link.js';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

export class Cleanups {
  readonly #clock: Clock;
  readonly #link: StoreLink;
  #running = 0;
  #onSettled: (() => void)[] = [];
  readonly #pauses = new Set<() => void>();
  #isStopped = false;
  /** Ids that were left to die by themselves because the store could not be reached. */
  leftToLapse = 0;

  constructor(clock: Clock, link: StoreLink) {
    this.#clock = clock;
    this.#link = link;
  }

  /** The answer, if one came before the id was over anyway. */
  end(request: EndRequest, ttlMs: number, requestTimeoutMs: number): Promise<EndResult | undefined> {
    return this.note(this.#end(request, ttlMs, requestTimeoutMs));
  }

  /** Under way until it is settled. */
  note<T>(ending: Promise<T>): Promise<T> {
    this.#running += 1;
    ending.then(this.#isOver, this.#isOver);
    return ending;
  }

  readonly #isOver = (): void => {
    this.#running -= 1;
    if (this.#running > 0) return;
    for (const tell of this.#onSettled.splice(0)) tell();
  };

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Nothing is repeated any more: what has not been answered by now is left to lapse. */
  stop(): void {
    this.#isStopped = true;
    for (const goOn of [...this.#pauses]) goOn();
  }

  /** Everything under way has been answered, or `withinMs` is over. */
  async settled(withinMs: number): Promise<void> {
    if (this.#running === 0) return;
    const all = new Promise<void>((resolve) => {
      this.#onSettled.push(resolve);
    });
    await this.#link.within(withinMs, 'the last releases', all).catch(() => undefined);
  }

  async #end(request: EndRequest, ttlMs: number, requestTimeoutMs: number): Promise<EndResult | undefined> {
    const until = this.#clock.monotonic() + ttlMs + TICKET_LIFE_MS;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        const answer = this.#link.end(request);
        const { result } = await this.#link.sentWithin(requestTimeoutMs, 'release', request, answer);
        if (result.outcome !== 'pinned') return result; // pinned by a guarded transaction (G1): that ends
      } catch (error) {
        if (error instanceof LeaseError && !error.retryable) break; // a closed store, say: it will not say another thing
      }
      if (this.#clock.monotonic() + pause >= until) break;
      if (!this.#isStopped) await this.#pause(pause);
      if (this.#isStopped) break;
    }
    this.leftToLapse += 1;
    return undefined;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const goOn = (): void => {
        timer.cancel();
        this.#pauses.delete(goOn);
        resolve();
      };
      const timer = this.#clock.after(ms, goOn);
      this.#pauses.add(goOn);
    });
  }
}
