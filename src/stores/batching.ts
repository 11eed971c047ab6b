// Batching (S21): group commit on the client. One item is asked for at a time; what is asked while a call is in flight
// rides in the next one. Nothing is ever delayed to fill a batch: an idle lane sends within the same turn of the loop.
//
//   idle ──ask──▶ in flight ──answer──▶ idle, or at once in flight again with what came meanwhile (up to the limits)
//
// An item whose signal aborts before its batch was sent was never sent. Aborted afterwards, its outcome is unknown to the
// caller, who ends it by id (S15); its neighbours are not affected either way.
import { LIMITS } from '../domain/limits.js';
import type { AcquireRequest, ChangeRequest, EndRequest, RenewRequest } from '../domain/requests.js';
import type { AcquireResult, Answers, ChangeResult, EndResult, Failed, RenewResult, Reply, Store } from './store.js';

/** One item's own result with the facts of the reply it came in. */
export type Answered<R> = Reply & { readonly result: R };

interface Waiting<Q, R> {
  readonly request: Q;
  readonly resolve: (answer: Answered<R>) => void;
  readonly reject: (error: unknown) => void;
  signal: AbortSignal | undefined;
  onAbort: (() => void) | undefined;
}

export class Lane<Q extends object, R extends object> {
  readonly #send: (requests: readonly Q[]) => Promise<Answers<R>>;
  #line: Waiting<Q, R>[] = [];
  #isBusy = false;

  constructor(send: (requests: readonly Q[]) => Promise<Answers<R>>) {
    this.#send = send;
  }

  ask(request: Q, signal?: AbortSignal): Promise<Answered<R>> {
    return new Promise<Answered<R>>((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const waiting: Waiting<Q, R> = { request, resolve, reject, signal, onAbort: undefined };
      if (signal) {
        waiting.onAbort = () => this.#abort(waiting);
        signal.addEventListener('abort', waiting.onAbort, { once: true });
      }
      this.#line.push(waiting);
      if (!this.#isBusy) this.#flushSoon();
    });
  }

  /** At the end of this turn of promises: callers that were answered together ask again together. */
  #flushSoon(): void {
    this.#isBusy = true;
    queueMicrotask(() => this.#flush());
  }

  #abort(waiting: Waiting<Q, R>): void {
    this.#line = this.#line.filter((other) => other !== waiting);
    waiting.reject(waiting.signal?.reason);
  }

  #flush(): void {
    const batch = this.#takeBatch();
    this.#isBusy = batch.length > 0;
    if (batch.length === 0) return;
    this.#send(batch.map((waiting) => waiting.request)).then(
      (answers) => this.#answered(batch, answers),
      (error: unknown) => this.#failed(batch, error),
    );
  }

  #takeBatch(): Waiting<Q, R>[] {
    let parts = 0;
    let count = 0;
    for (const { request } of this.#line) {
      parts += (request as { parts?: readonly unknown[] }).parts?.length ?? 1;
      if (count >= LIMITS.batchItems || (parts > LIMITS.batchParts && count > 0)) break;
      count += 1;
    }
    if (count === this.#line.length) {
      const all = this.#line;
      this.#line = [];
      return all;
    }
    return this.#line.splice(0, count);
  }

  /** The next batch leaves before the callers of this one go on: the lane never idles while somebody waits. */
  #answered(batch: readonly Waiting<Q, R>[], { results, now, incarnation, settingsVersion }: Answers<R>): void {
    this.#flush();
    for (let i = 0; i < batch.length; i += 1) {
      const waiting = batch[i] as Waiting<Q, R>;
      const result = results[i] as R | Failed;
      forgetSignal(waiting);
      if (isFailed(result)) waiting.reject(result.error);
      else waiting.resolve({ now, incarnation, settingsVersion, result });
    }
  }

  #failed(batch: readonly Waiting<Q, R>[], error: unknown): void {
    this.#flush();
    for (const waiting of batch) {
      forgetSignal(waiting);
      waiting.reject(error);
    }
  }
}

function forgetSignal({ signal, onAbort }: Pick<Waiting<object, object>, 'signal' | 'onAbort'>): void {
  if (onAbort) signal?.removeEventListener('abort', onAbort);
}

function isFailed(result: object): result is Failed {
  return (result as Failed).outcome === 'failed';
}

/** The four list methods of a store, one item at a time. */
export class Batching {
  readonly #acquire: Lane<AcquireRequest, AcquireResult>;
  readonly #renew: Lane<RenewRequest, RenewResult>;
  readonly #end: Lane<EndRequest, EndResult>;
  readonly #change: Lane<ChangeRequest, ChangeResult>;

  constructor(store: Store) {
    this.#acquire = new Lane((requests) => store.acquire(requests));
    this.#renew = new Lane((requests) => store.renew(requests));
    this.#end = new Lane((requests) => store.end(requests));
    this.#change = new Lane((requests) => store.change(requests));
  }

  acquire(request: AcquireRequest, signal?: AbortSignal): Promise<Answered<AcquireResult>> {
    return this.#acquire.ask(request, signal);
  }
  renew(request: RenewRequest, signal?: AbortSignal): Promise<Answered<RenewResult>> {
    return this.#renew.ask(request, signal);
  }
  end(request: EndRequest, signal?: AbortSignal): Promise<Answered<EndResult>> {
    return this.#end.ask(request, signal);
  }
  change(request: ChangeRequest, signal?: AbortSignal): Promise<Answered<ChangeResult>> {
    return this.#change.ask(request, signal);
  }
}
