// The line to the store's streams: one item at a time through lanes, every call timed and bounded (S15, S21). What is asked
// about a number can always be asked again, so a call without an answer is repeated while there is time.
import type { Clock } from '../domain/clock.js';
import { LeaseError, mayPass } from '../domain/errors.js';
import type { CommitRequest, LeaseNumbers, ProgressRequest } from '../domain/sequence-requests.js';
import type { LeaseManager } from '../manager/lease-manager.js';
import { onAbort } from '../manager/on-abort.js';
import { Lane, type Answered } from '../stores/lane.js';
import type { CommitResult, LeaseNumbersResult, ProgressResult, SequenceStore } from '../stores/sequence-store.js';
import type { Answers, Reply } from '../stores/store.js';

const CALL_TIMEOUT_MS = 5_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

export class SequenceLink {
  readonly clock: Clock;
  readonly #manager: LeaseManager;
  readonly #lease: Lane<LeaseNumbers, LeaseNumbersResult>;
  readonly #commit: Lane<CommitRequest, CommitResult>;
  readonly #progress: Lane<ProgressRequest, ProgressResult>;
  readonly #intake = new AbortController();
  readonly #life = new AbortController();
  /** Streams that may lose what was answered, by the word of whoever opened them. */
  readonly #losing = new Set<string>();
  readonly #writable = new Map<boolean, Promise<unknown>>();

  constructor(manager: LeaseManager) {
    this.clock = manager.clock;
    this.#manager = manager;
    const lane = <Q extends object, R extends object>(
      what: string,
      send: (store: SequenceStore, requests: readonly Q[]) => Promise<Answers<R>>,
    ): Lane<Q, R> => new Lane((requests) => this.#timed(what, (store) => send(store, requests)), manager.clock);
    this.#lease = lane('sequence.lease', (store, requests) => store.lease(requests));
    this.#commit = lane('sequence.commit', (store, requests) => store.commit(requests));
    this.#progress = lane('sequence.progress', (store, requests) => store.progress(requests));
  }

  get owner(): string {
    return this.#manager.defaults.owner;
  }
  get latencyMs(): number {
    return this.#manager.link.latencyMs;
  }
  /** Aborts when the connection begins to be shut down: nothing new is begun. */
  get intake(): AbortSignal {
    return this.#intake.signal;
  }
  /** Aborts when work has had its time to finish (A9). */
  get life(): AbortSignal {
    return this.#life.signal;
  }
  get manager(): LeaseManager {
    return this.#manager;
  }
  get store(): SequenceStore {
    const { store } = this.#manager.link;
    if (store.sequences) return store.sequences;
    throw new LeaseError(
      'INVALID_ARGUMENT',
      `a ${store.kind} store keeps no sequences: use sqlite:, or memory: for tests`,
    );
  }

  /** A store without streams says so before anything is asked of it. */
  checkStore(): SequenceStore {
    return this.store;
  }

  acceptLoss(stream: string): void {
    this.#losing.add(stream);
  }

  /** N6: whether the store keeps what it answers, before anything is stored in the stream; looking needs no such promise. Asked
   *  once for the streams that accept loss and once for the others. */
  async mayWrite(stream: string): Promise<void> {
    const acceptLoss = this.#losing.has(stream);
    const asked = this.#writable.get(acceptLoss) ?? this.#within('sequence.ready', this.store.ready({ acceptLoss }));
    this.#writable.set(acceptLoss, asked);
    try {
      await asked;
    } catch (error) {
      this.#writable.delete(acceptLoss); // asked again by the next
      throw error;
    }
  }

  stopIntake(): void {
    this.#intake.abort(shuttingDown());
  }
  close(): void {
    this.stopIntake();
    this.#life.abort(shuttingDown());
  }

  lease(request: LeaseNumbers): Promise<Answered<LeaseNumbersResult>> {
    return this.#within('sequence.lease', this.#lease.ask(request));
  }
  commit(request: CommitRequest): Promise<Answered<CommitResult>> {
    return this.#within('sequence.commit', this.#commit.ask(request));
  }
  progress(request: ProgressRequest): Promise<Answered<ProgressResult>> {
    return this.#within('sequence.progress', this.#progress.ask(request));
  }
  call<T extends Reply>(what: string, act: (store: SequenceStore) => Promise<T>): Promise<T> {
    return this.#within(`sequence.${what}`, this.#timed(`sequence.${what}`, act));
  }

  /** Asks again and again while the answer may still come, at most until `until` on the monotonic clock. An abort of the
   *  signal ends it at once, with the signal's reason. */
  async untilAnswered<T>(until: number, ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      this.life.throwIfAborted();
      signal?.throwIfAborted();
      try {
        return await (signal ? unlessAborted(signal, ask()) : ask());
      } catch (error) {
        signal?.throwIfAborted(); // its reason may look like one that passes
        if (!mayPass(error) || this.clock.monotonic() + pauseMs >= until) throw error;
        await pause(this.clock, pauseMs, this.life, signal);
      }
    }
  }

  async #timed<T extends Reply>(what: string, act: (store: SequenceStore) => Promise<T>): Promise<T> {
    const { store } = this;
    return this.#manager.link.call(what, () => act(store));
  }
  #within<T>(what: string, answer: Promise<T>): Promise<T> {
    const ms = this.#manager.defaults.requestTimeoutMs ?? CALL_TIMEOUT_MS;
    return this.#manager.link.within(ms, what, answer);
  }
}

function shuttingDown(): LeaseError {
  return new LeaseError('SHUTTING_DOWN', 'shutdown() was called: connect again');
}

/** Ends early when one of the signals aborts; never rejects. */
export function pause(clock: Clock, ms: number, ...signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  return new Promise((resolve) => {
    const watched = signals.filter((signal) => signal !== undefined);
    if (watched.some(({ aborted }) => aborted)) {
      resolve();
      return;
    }
    const done = (): void => {
      timer.cancel();
      for (const forget of forgets) forget();
      resolve();
    };
    const timer = clock.after(ms, done, true);
    const forgets = watched.map((signal) => onAbort(signal, done));
  });
}

/** The answer, or a rejection as soon as the signal aborts, or has aborted: the request may still have its effect. */
export function unlessAborted<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error('aborted'));
    if (signal.aborted) stop();
    const forget = onAbort(signal, stop);
    answer.then(resolve, reject).finally(forget);
  });
}
