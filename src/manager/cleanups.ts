// Ending ids in the background (S9, S15): tickets nobody waits for any more, grants that came too late, releases whose
// answer did not come. Each is repeated until the store has answered or the id cannot be alive any more: a ticket dies
// in 10 s, a lease by its ttl. Those are the only ways out, and both are counted.
//
// A store that is away for long meets every caller's failed acquires here, so there is a bound to what is repeated (S18), and
// one id is enough to find out that it is back: the others wait for that answer.
import type { Clock } from '../domain/clock.js';
import { LeaseError } from '../domain/errors.js';
import { LIMITS, TICKET_LIFE_MS } from '../domain/limits.js';
import type { EndRequest } from '../domain/requests.js';
import type { EndResult } from '../stores/store.js';
import type { StoreLink } from './store-link.js';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;
/** Of all but one, once nothing has been answered for `LONGEST_PAUSE_MS`. */
const SILENT_PAUSE_MS = 30_000;
/** Beyond it the oldest is left to lapse. As many as a namespace can have tickets. */
const MOST_REPEATED = LIMITS.ticketsPerNamespace;

/** An id that was asked about, and without an answer. */
interface Repeated {
  /** When it cannot be alive any more. */
  readonly until: number;
  isLeft: boolean;
  /** Ends its pause. */
  goOn: () => void;
}

export class Cleanups {
  readonly #clock: Clock;
  readonly #link: StoreLink;
  #running = 0;
  #onSettled: (() => void)[] = [];
  /** The oldest first. */
  readonly #repeated = new Set<Repeated>();
  /** Since when no end was answered. */
  #silentSince: number | undefined;
  /** The one that goes on asking as before meanwhile. */
  #asker: Repeated | undefined;
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
    for (const { goOn } of [...this.#repeated]) goOn();
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
    const one: Repeated = { until, isLeft: false, goOn: () => undefined };
    const result = await this.#repeat(one, request, requestTimeoutMs);
    this.#forget(one);
    if (!result) this.leftToLapse += 1;
    return result;
  }

  async #repeat(one: Repeated, request: EndRequest, requestTimeoutMs: number): Promise<EndResult | undefined> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        const answer = this.#link.end(request);
        const { result } = await this.#link.sentWithin(requestTimeoutMs, 'release', request, answer);
        this.#answered();
        if (result.outcome !== 'pinned') return result; // pinned by a guarded transaction (G1): that ends
      } catch (error) {
        if (error instanceof LeaseError && !error.retryable) return undefined; // a closed store, say: it will not say another thing
        this.#silentSince ??= this.#clock.monotonic();
      }
      if (this.#mayGoOn(one)) await this.#pause(one, pauseMs);
      if (!this.#mayGoOn(one)) return undefined;
    }
  }

  #mayGoOn({ until, isLeft }: Repeated): boolean {
    return !this.#isStopped && !isLeft && this.#clock.monotonic() < until;
  }

  #pause(one: Repeated, pauseMs: number): Promise<void> {
    this.#repeated.add(one);
    if (this.#repeated.size > MOST_REPEATED) this.#leaveOldest();
    this.#asker ??= one;
    const ms = this.#isSilent() && one !== this.#asker ? SILENT_PAUSE_MS : pauseMs;
    return new Promise((resolve) => {
      const timer = this.#clock.after(Math.min(ms, one.until - this.#clock.monotonic()), resolve);
      one.goOn = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  #leaveOldest(): void {
    for (const oldest of this.#repeated) {
      this.#forget(oldest);
      oldest.isLeft = true;
      return oldest.goOn();
    }
  }

  #forget(one: Repeated): void {
    this.#repeated.delete(one);
    if (this.#asker === one) this.#asker = undefined;
  }

  #isSilent(): boolean {
    return this.#silentSince !== undefined && this.#clock.monotonic() - this.#silentSince >= LONGEST_PAUSE_MS;
  }

  #answered(): void {
    const wasSilent = this.#isSilent();
    this.#silentSince = undefined;
    if (wasSilent) for (const { goOn } of [...this.#repeated]) goOn();
  }
}
