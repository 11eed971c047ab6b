// Requests that stay: waiting acquires and event streams (W5). Each is counted, in all and for its token, and ends with
// whatever comes first: its own end, its client, its token, or the server's draining.
//
//   begun --client gone | token revoked or expired | draining--> aborted, with the error to answer as its reason --end--> over
//     └──────────────────────────── done ────────────────────────────────────────────────────────────────────end──────^
import { LeaseError } from '../../domain/errors.js';
import { onAbort } from '../../manager/on-abort.js';
import type { Caller } from '../context.js';

interface EndOfTokens {
  onEnd(caller: Caller, ended: (why: LeaseError) => void): () => void;
}

export interface WaitLimits {
  /** At once, in all. */
  readonly most: number;
  /** At once, for one token. While none was made there is nobody to leave room for. */
  readonly mostPerToken: number;
}

export interface Stay {
  /** Aborts when it has to end; its reason is a LeaseError unless it is the client that has gone. */
  readonly signal: AbortSignal;
  /** Must be called, once, when it is over. */
  end(): void;
}

export class Waits {
  readonly #access: EndOfTokens;
  readonly #limits: WaitLimits;
  readonly #draining: AbortSignal;
  readonly #perToken = new Map<string, number>();
  #count = 0;

  constructor(access: EndOfTokens, limits: WaitLimits, draining: AbortSignal) {
    this.#access = access;
    this.#limits = limits;
    this.#draining = draining;
  }

  get count(): number {
    return this.#count;
  }

  /** Throws RATE_LIMITED for one too many, SHUTTING_DOWN when draining. */
  begin(caller: Caller, client: AbortSignal): Stay {
    const key = this.#come(caller);
    const controller = new AbortController();
    const stops = [
      onAbort(client, () => controller.abort(client.reason)),
      onAbort(this.#draining, () => controller.abort(drained())),
      this.#access.onEnd(caller, (why) => controller.abort(why)),
    ];
    if (client.aborted) controller.abort(client.reason);
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      for (const stop of stops) stop();
      this.#leave(key);
    };
    return { signal: controller.signal, end };
  }

  /** Counts what ends by itself with its client and with the server: `stop` is told when its token ends. Cheaper than a stay:
   *  thousands may wait. Answers the function that must be called, once, when it is over. */
  enter(caller: Caller, stop: (why: LeaseError) => void): () => void {
    const key = this.#come(caller);
    const forget = this.#access.onEnd(caller, stop);
    return () => {
      forget();
      this.#leave(key);
    };
  }

  /** Runs what waits. When it fails because it had to end, the error says why: 401, or 503, instead of "aborted". */
  async run<T>(caller: Caller, client: AbortSignal, wait: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const stay = this.begin(caller, client);
    try {
      return await wait(stay.signal);
    } catch (error) {
      const reason: unknown = stay.signal.reason;
      throw stay.signal.aborted && reason instanceof LeaseError ? reason : error;
    } finally {
      stay.end();
    }
  }

  #come(caller: Caller): string {
    if (this.#draining.aborted) throw drained();
    const key = caller.tokenId ?? '';
    const ofToken = this.#perToken.get(key) ?? 0;
    const isTokenFull = caller.tokenId !== undefined && ofToken >= this.#limits.mostPerToken;
    if (this.#count >= this.#limits.most || isTokenFull) throw oneTooMany(this.#limits);
    this.#count += 1;
    this.#perToken.set(key, ofToken + 1);
    return key;
  }

  #leave(key: string): void {
    this.#count -= 1;
    const left = (this.#perToken.get(key) ?? 1) - 1;
    if (left === 0) this.#perToken.delete(key);
    else this.#perToken.set(key, left);
  }
}

function drained(): LeaseError {
  return new LeaseError('SHUTTING_DOWN', 'this server is shutting down: ask another one, or again in a moment');
}

function oneTooMany({ most, mostPerToken }: WaitLimits): LeaseError {
  const text = `${mostPerToken} of one token, or ${most} in all, wait here already: try again later`;
  return new LeaseError('RATE_LIMITED', text, { details: { retryAfterMs: 1_000 } });
}
