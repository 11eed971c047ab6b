// The manager's line to its store: one item at a time through batching, calls timed, and what every reply carries kept
// (S13, O4): an estimate of the store clock, the skew of this machine, the settings.
//
// The estimate is for births of ids and for display only; no decision about a lease rests on it. An answer that does not
// come in time is an unknown answer (S15): the caller stops waiting, the request may still have its effect.
import type { Clock } from '../domain/clock.js';
import { LeaseError } from '../domain/errors.js';
import type { Lease } from '../domain/lease.js';
import type { AcquireRequest, ChangeRequest, EndRequest, RenewRequest } from '../domain/requests.js';
import type { Settings } from '../domain/settings.js';
import { Batching, type Answered, type Gather } from '../stores/batching.js';
import type {
  AcquireResult,
  Answers,
  ChangeResult,
  EndResult,
  RenewResult,
  Reply,
  SettingsReply,
  Store,
} from '../stores/store.js';
import type { Observer } from './observer.js';

const LATENCY_WEIGHT = 0.2;
const SETTINGS_TIMEOUT_MS = 1_000;

export class StoreLink {
  readonly store: Store;
  readonly #clock: Clock;
  readonly #observer: Observer;
  readonly #batching: Batching;
  /** Store clock minus monotonic clock, as of the last reply. */
  #offset: number | undefined;
  #settings: Settings | undefined;
  #settingsVersion = -1;
  #isStale = true;
  #settingsAsked: Promise<Settings> | undefined;
  /** The holder's wall clock against the store's (A10), and a moving average of the round trip. */
  skewMs = 0;
  latencyMs = 0;

  constructor(store: Store, clock: Clock, observer: Observer, gather?: Gather) {
    this.store = store;
    this.#clock = clock;
    this.#observer = observer;
    this.#batching = new Batching(store, clock, gather, (operation, at, reply) => this.#heard(operation, at, reply));
  }

  /** The store clock as far as this process can tell; the wall clock before the first reply. */
  now(): number {
    const estimate = this.#offset === undefined ? this.#clock.wall() : this.#offset + this.#clock.monotonic();
    return Math.max(0, Math.floor(estimate));
  }

  /** How long a lease may live yet: its ttl, or more where it was longer once (S4). */
  lifeMs({ ttlMs, expiresAt }: Lease): number {
    return Math.max(ttlMs, expiresAt - this.now());
  }

  acquire(request: AcquireRequest): Promise<Answered<AcquireResult>> {
    return this.#batching.acquire(request);
  }
  renew(request: RenewRequest): Promise<Answered<RenewResult>> {
    return this.#batching.renew(request);
  }
  end(request: EndRequest): Promise<Answered<EndResult>> {
    return this.#batching.end(request);
  }
  change(request: ChangeRequest): Promise<Answered<ChangeResult>> {
    return this.#batching.change(request);
  }
  /** What is due together in one call. */
  async renewTogether(requests: readonly RenewRequest[]): Promise<Answers<RenewResult>> {
    const answers = await this.#timed('renew', this.store.renew(requests));
    if (answers.results.length === requests.length) return answers;
    const message = `the store gave ${answers.results.length} answers to ${requests.length} renewals: look at what stands between`;
    throw new LeaseError('STORE_UNAVAILABLE', message);
  }
  /** Any other call of the port, timed and read like the rest. */
  call<T extends Reply>(operation: string, act: (store: Store) => Promise<T>): Promise<T> {
    return this.#timed(operation, act(this.store));
  }

  /** What has been asked through batching and has not left yet is not sent at all; true when it was there. */
  withdraw(request: object): boolean {
    return this.#batching.withdraw(request);
  }
  /** When it left on its way: Infinity while it stands in the line. */
  leftAt(request: object): number {
    return this.#batching.leftAt(request);
  }

  /** Like `within`, but the time in the line does not count: one copy in the line is enough, and it will leave. */
  sentWithin<T>(ms: number, what: string, request: object, answer: Promise<T>): Promise<T> {
    return answerWithin(this.#clock, ms, what, answer, () => this.leftAt(request));
  }

  /** The settings, read again first when a reply carried another version (O4). They are defaults: where they cannot be
   *  read in time, the ones that are known go on, and the next one who asks tries again. */
  settings(): Settings | Promise<Settings> {
    if (this.#settings && !this.#isStale) return this.#settings;
    this.#settingsAsked ??= this.#readSettings().finally(() => {
      this.#settingsAsked = undefined;
    });
    return this.#settingsAsked;
  }
  /** Read already, on connecting. */
  know({ settings, settingsVersion }: SettingsReply): void {
    this.#settings = settings;
    this.#settingsVersion = settingsVersion;
    this.#isStale = false;
  }

  within<T>(ms: number, what: string, answer: Promise<T>): Promise<T> {
    return answerWithin(this.#clock, ms, what, answer);
  }

  async #readSettings(): Promise<Settings> {
    try {
      const asked = this.call('settings', (store) => store.settings());
      const reply = await this.within(SETTINGS_TIMEOUT_MS, 'settings', asked);
      this.know(reply);
      return reply.settings;
    } catch (error) {
      if (this.#settings) return this.#settings;
      throw error;
    }
  }

  async #timed<T extends Reply>(operation: string, answer: Promise<T>): Promise<T> {
    const sentAt = this.#clock.monotonic();
    try {
      const reply = await answer;
      this.#heard(operation, sentAt, reply);
      return reply;
    } catch (error) {
      this.#heard(operation, sentAt, undefined);
      throw error;
    }
  }

  #heard(operation: string, sentAt: number, reply: Reply | undefined): void {
    const tookMs = this.#clock.monotonic() - sentAt;
    if (!reply) return this.#observer.storeCall(operation, 'error', tookMs);
    this.#observer.storeCall(operation, 'ok', tookMs);
    this.latencyMs += (tookMs - this.latencyMs) * LATENCY_WEIGHT;
    this.#offset = reply.now - (sentAt + tookMs / 2);
    this.skewMs = Math.round(this.#clock.wall() - tookMs / 2 - reply.now);
    this.#observer.skew(this.skewMs);
    this.#isStale = reply.settingsVersion !== this.#settingsVersion;
  }
}

/** The answer, or STORE_UNAVAILABLE after `ms`: what happened to the request is then unknown (S15). The time counts from when it
 *  left, where that can be told. */
export function answerWithin<T>(
  clock: Clock,
  ms: number,
  what: string,
  answer: Promise<T>,
  leftAt?: () => number,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const isOver = (): void => {
      const leftMs = leftAt ? leftAt() + ms - clock.monotonic() : 0;
      if (leftMs > 0) timer = clock.after(Math.min(leftMs, ms), isOver, true);
      else reject(noAnswer(what, ms));
    };
    let timer = clock.after(ms, isOver, true);
    answer.then(
      (value) => {
        timer.cancel();
        resolve(value);
      },
      (error: unknown) => {
        timer.cancel();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}

function noAnswer(what: string, ms: number): LeaseError {
  return new LeaseError('STORE_UNAVAILABLE', `no answer to ${what} within ${Math.round(ms)} ms: look at the store`, {
    details: { timedOut: true, waitedMs: ms },
  });
}
