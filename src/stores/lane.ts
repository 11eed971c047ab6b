// A lane (S21): group commit on the client. One item is asked for at a time; what is asked while a call is in flight
// rides in the next one. Nothing is ever delayed to fill a batch: an idle lane sends within the same turn of the loop; at the
// end of this turn's promises, or, for a server, when everything that has arrived by then has been read.
//
//   idle ──ask──▶ in flight ──answer──▶ idle, or at once in flight again with what came meanwhile (up to the limits)
//                     └─ no answer for PATIENCE_MS ──▶ the next call leaves beside it; a late answer still counts
//
// A store that works on several calls at once (`callsAtOnce`) is given a second one while the first is in flight, when
// enough have asked for it to be worth its own round trip: then caller and server work at the same time instead of in turn. A line
// is halved only for a store that has nothing to do: halves that have come apart stay apart, and are not halved again.
// What names something under way stays in line, and nobody behind it passes it: the order of asking is the order of sending.
//
// An item whose signal aborts before its batch was sent was never sent. Aborted afterwards, its outcome is unknown to the
// caller, who ends it by id (S15); its neighbours are not affected either way.
import type { Clock, TimerHandle } from '../domain/clock.js';
import { LeaseError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import type { Answers, Failed, Reply } from './store.js';

/** A call that hangs must not take everything asked later with it. */
const PATIENCE_MS = 100;

/** One item's own result with the facts of the reply it came in. */
export type Answered<R> = Reply & { readonly result: R };

/** What an idle lane waits for before it sends: the promises that are settled now, or the sockets that are readable now. A
 *  store that writes in the caller's thread holds those up: asked request by request it would never see two together. */
export type Gather = 'promises' | 'turn';

/** Told of every item's answer before its caller goes on: when it was asked for, and the reply, or undefined for an error. */
export type Heard = (askedAt: number, reply: Reply | undefined) => void;

interface Waiting<Q, R> {
  readonly request: Q;
  readonly askedAt: number;
  readonly resolve: (answer: Answered<R>) => void;
  readonly reject: (error: unknown) => void;
  signal: AbortSignal | undefined;
  onAbort: (() => void) | undefined;
}

/** How a lane uses a store that works on several calls at once. */
export interface Beside<Q> {
  readonly calls: number;
  /** So many are worth a call of their own beside one in flight; twice as many are sent in two halves where there is none. */
  readonly enough: number;
  /** What order is kept by. Undefined: it overlaps more than itself, and nothing goes beside it. */
  readonly key: (request: Q) => string | undefined;
  /** Shared by all lanes of the store: how many calls its callers wait for, whatever they are. */
  readonly underWay: { calls: number };
}

/** A call under way. */
interface Call<Q> {
  readonly requests: readonly Q[];
  /** On the monotonic clock. */
  readonly leftAt: number;
  /** What it is about, found when something wants to go beside it; null where nothing may. */
  keys: ReadonlySet<string> | null | undefined;
  patience: TimerHandle | undefined;
}

export class Lane<Q extends object, R extends object> {
  readonly #send: (requests: readonly Q[]) => Promise<Answers<R>>;
  readonly #clock: Clock | undefined;
  readonly #gather: Gather;
  readonly #beside: Beside<Q> | undefined;
  readonly #heard: Heard | undefined;
  #line: Waiting<Q, R>[] = [];
  #isGathering = false;
  /** Under way: none, one or a few. */
  readonly #calls: Call<Q>[] = [];
  /** Nobody waits for these any longer, but their answers may still come. */
  readonly #givenUp = new Set<Call<Q>>();
  /** When each left, made when somebody asks, which is seldom, and good until anything moves. */
  #leftAt: ReadonlyMap<object, number> | undefined;

  /** Without a clock the lane waits for an answer as long as it takes. */
  constructor(
    send: (requests: readonly Q[]) => Promise<Answers<R>>,
    clock?: Clock,
    gather: Gather = 'promises',
    beside?: Beside<Q>,
    heard?: Heard,
  ) {
    this.#send = send;
    this.#clock = clock;
    this.#gather = gather;
    this.#beside = beside;
    this.#heard = heard;
  }

  ask(request: Q, signal?: AbortSignal): Promise<Answered<R>> {
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    return new Promise<Answered<R>>((resolve, reject) => {
      const askedAt = this.#heard && this.#clock ? this.#clock.monotonic() : 0;
      const waiting: Waiting<Q, R> = { request, askedAt, resolve, reject, signal, onAbort: undefined };
      if (signal) {
        waiting.onAbort = () => this.#abort(waiting);
        signal.addEventListener('abort', waiting.onAbort, { once: true });
      }
      this.#line.push(waiting);
      this.#leftAt = undefined;
      if (!this.#isGathering && this.#mayLeave()) this.#flushSoon();
    });
  }

  /** A request that has not left yet is taken back, and its asker told so; true when there was one. */
  withdraw(request: object): boolean {
    if (this.leftAt(request) !== Infinity) return false;
    const waiting = this.#line.find((one) => one.request === request);
    if (!waiting) return false;
    this.#take(waiting);
    this.#fail(waiting, new LeaseError('STORE_UNAVAILABLE', 'taken back before it was sent: the store was too slow'));
    return true;
  }

  /** Infinity while it stands in the line, where it cannot have had any effect; undefined for one nobody waits for here. */
  leftAt(request: object): number | undefined {
    this.#leftAt ??= this.#departures();
    return this.#leftAt.get(request);
  }

  /** Of what was asked twice the later one counts. */
  #departures(): Map<object, number> {
    const departures = new Map<object, number>();
    for (const { requests, leftAt } of [...this.#givenUp, ...this.#calls])
      for (const request of requests) departures.set(request, leftAt);
    for (const { request } of this.#line) departures.set(request, Infinity);
    return departures;
  }

  #mayLeave(): boolean {
    if (this.#calls.length === 0) return this.#line.length > 0;
    const { calls = 1, enough = 0 } = this.#beside ?? {};
    return this.#calls.length < calls && this.#line.length >= enough;
  }

  /** Callers that were answered together ask again together. */
  #flushSoon(): void {
    this.#isGathering = true;
    if (this.#gather === 'turn' && this.#clock) this.#clock.soon(this.#flush);
    else queueMicrotask(this.#flush);
  }

  #take(waiting: Waiting<Q, R>): void {
    this.#line = this.#line.filter((other) => other !== waiting);
    this.#leftAt = undefined;
  }

  #abort(waiting: Waiting<Q, R>): void {
    this.#take(waiting);
    this.#fail(waiting, waiting.signal?.reason);
  }

  #fail(waiting: Waiting<Q, R>, error: unknown): void {
    forgetSignal(waiting);
    waiting.reject(error);
    this.#tell(waiting.askedAt, undefined);
  }

  #tell(askedAt: number, reply: Reply | undefined): void {
    try {
      this.#heard?.(askedAt, reply);
    } catch {
      // What is only counted decides nothing, and the others of the batch have their answers still to come.
    }
  }

  readonly #flush = (): void => {
    this.#isGathering = false;
    while (this.#mayLeave()) {
      const count = this.#nextBatch();
      if (count === 0) return;
      const batch = this.#line.splice(0, count);
      const requests = batch.map(({ request }) => request);
      const call: Call<Q> = { requests, leftAt: this.#clock?.monotonic() ?? 0, keys: undefined, patience: undefined };
      this.#leftAt = undefined;
      this.#calls.push(call);
      if (this.#beside) this.#beside.underWay.calls += 1;
      call.patience = this.#clock?.after(PATIENCE_MS, () => this.#giveUp(call));
      this.#send(requests).then(
        (answers) => this.#answered(call, batch, answers),
        (error: unknown) => this.#failed(call, batch, error),
      );
    }
  };

  #giveUp(call: Call<Q>): void {
    this.#givenUp.add(call);
    this.#goOn(call);
  }

  #over(call: Call<Q>): void {
    this.#leftAt = undefined;
    if (!this.#givenUp.delete(call)) this.#goOn(call);
  }

  #goOn(call: Call<Q>): void {
    this.#calls.splice(this.#calls.indexOf(call), 1);
    if (this.#beside) this.#beside.underWay.calls -= 1;
    call.patience?.cancel();
    if (!this.#isGathering) this.#flush();
  }

  /** How many from the front of the line go now. A long line is halved where the rest can go beside; what is about the same stays
   *  together, and nothing goes beside what it overlaps. */
  #nextBatch(): number {
    const { length } = this.#line;
    const isHalved = this.#beside?.underWay.calls === 0 && length >= 2 * this.#beside.enough;
    const half = isHalved ? Math.ceil(length / 2) : length;
    let seen = isHalved ? new Set<string>() : undefined;
    let parts = 0;
    let count = 0;
    for (const { request } of this.#line) {
      parts += (request as { parts?: readonly unknown[] }).parts?.length ?? 1;
      if (count >= LIMITS.batchItems || (parts > LIMITS.batchParts && count > 0)) break;
      if (this.#calls.length > 0 || seen) {
        const key = this.#beside?.key(request);
        if (!this.#mayGoBeside(key) || (count >= half && key !== undefined && seen?.has(key) === false)) break;
        if (key === undefined) seen = undefined;
        else seen?.add(key);
      }
      count += 1;
    }
    return count;
  }

  #mayGoBeside(key: string | undefined): boolean {
    for (const call of this.#calls) {
      if (call.keys === undefined) call.keys = this.#keysOf(call.requests);
      if (key === undefined || call.keys === null || call.keys.has(key)) return false;
    }
    return true;
  }

  #keysOf(requests: readonly Q[]): ReadonlySet<string> | null {
    const keys = new Set<string>();
    for (const request of requests) {
      const key = this.#beside?.key(request);
      if (key === undefined) return null;
      keys.add(key);
    }
    return keys;
  }

  /** The next batch leaves before the callers of this one go on: the lane never idles while somebody waits. */
  #answered(call: Call<Q>, batch: readonly Waiting<Q, R>[], answers: Answers<R>): void {
    if (!isWhole(answers, batch.length)) return this.#failed(call, batch, notWhole(batch.length));
    const { results, now, incarnation, settingsVersion } = answers;
    this.#over(call);
    for (let i = 0; i < batch.length; i += 1) {
      const waiting = batch[i] as Waiting<Q, R>;
      const result = results[i] as R | Failed;
      if (isFailed(result)) {
        this.#fail(waiting, result.error);
        continue;
      }
      forgetSignal(waiting);
      const answer = { now, incarnation, settingsVersion, result };
      waiting.resolve(answer);
      this.#tell(waiting.askedAt, answer);
    }
  }

  #failed(call: Call<Q>, batch: readonly Waiting<Q, R>[], error: unknown): void {
    this.#over(call);
    for (const waiting of batch) this.#fail(waiting, error);
  }
}

function forgetSignal({ signal, onAbort }: Pick<Waiting<object, object>, 'signal' | 'onAbort'>): void {
  if (onAbort) signal?.removeEventListener('abort', onAbort);
}

/** A store that was written elsewhere may answer anything; where one result is missing nobody can tell whose (S12). */
function isWhole(answers: unknown, count: number): boolean {
  const { results } = (answers ?? {}) as { results?: unknown };
  if (!Array.isArray(results) || results.length !== count) return false;
  for (const result of results) if (typeof result !== 'object' || result === null) return false;
  return true;
}

function notWhole(count: number): LeaseError {
  const message = `the store did not answer ${count} requests with as many results: it breaks the port, correct the store`;
  return new LeaseError('STORE_UNAVAILABLE', message);
}

function isFailed(result: object): result is Failed {
  return (result as Failed).outcome === 'failed';
}
