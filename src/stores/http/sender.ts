// Calls on their way to the server. Most ride in batches (S21): what is asked in one turn of the loop leaves together, up to
// MOST_BATCHES requests are under way at once, and what is asked meanwhile waits for the next. A call that may take long
// (a page of a list, a migration) never rides with others: a renewal must not wait for it.
//
//   asked ──▶ in the line ──room──▶ under way ──▶ answered | failed (its batch had no answer: unknown to all in it, S15)
//                 └─ its time is over, or the store is closed ──▶ failed, never sent
//
// A batch without an answer for PATIENCE_MS is not waited for: the next leaves beside it, over another connection.
import type { Clock, TimerHandle } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import { bodyOf, decodeBatch, encodeAlone, encodeCall } from './codec.js';
import { closed, late } from './translate-error.js';
import type { Transport } from './transport.js';

const MOST_BATCHES = 4;
/** A batch that has no answer after this long no longer keeps others from leaving: its connection may be dead. */
const PATIENCE_MS = 500;
const MOST_UNDER_WAY = 12;
const MOST_ALONE = 8;
/** As the server takes them. */
const MOST_CALLS = 64;
/** A batch is closed when it is this long; a call that is longer goes by itself. */
const BATCH_CHARACTERS = 256 * 1024;
const MOST_WAITING = 10_000;
const QUICK_MS = 5_000;
const LONG_MS = 30_000;

interface Waiting {
  readonly text: string;
  readonly method: string;
  readonly isRepeatable: boolean;
  readonly isAlone: boolean;
  readonly resolve: (answer: object) => void;
  readonly reject: (error: Error) => void;
  readonly timer: TimerHandle;
}

export interface HowToSend {
  /** May take long, or must not hold up others. */
  readonly isAlone: boolean;
  /** Doing it twice is doing it once: by id, or because it only looks. */
  readonly isRepeatable: boolean;
}

export class Sender {
  readonly #transport: Transport;
  readonly #clock: Clock;
  #quick: Waiting[] = [];
  #alone: Waiting[] = [];
  /** Batches under way that are still expected soon, and all of them. */
  #batches = 0;
  #underWay = 0;
  #alones = 0;
  #isFlushing = false;
  #isClosed = false;

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  /** `args` is JSON text. */
  call(method: string, namespace: string, args: string, how: HowToSend): Promise<object> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw closed();
      if (this.#quick.length + this.#alone.length >= MOST_WAITING) throw tooMany(this.#transport.where);
      const text = how.isAlone ? encodeAlone(namespace, args) : encodeCall(method, namespace, args);
      const withinMs = how.isAlone ? LONG_MS : QUICK_MS;
      const timer = this.#clock.after(withinMs, () => this.#giveUp(waiting, withinMs), true);
      const waiting: Waiting = { text, method, ...how, resolve, reject, timer };
      (how.isAlone ? this.#alone : this.#quick).push(waiting);
      this.#flushSoon();
    });
  }

  close(): void {
    this.#isClosed = true;
    for (const waiting of [...this.#quick, ...this.#alone]) {
      waiting.timer.cancel();
      waiting.reject(closed());
    }
    this.#quick = [];
    this.#alone = [];
    this.#transport.close();
  }

  /** Never sent: it had no effect. */
  #giveUp(waiting: Waiting, ms: number): void {
    this.#quick = this.#quick.filter((other) => other !== waiting);
    this.#alone = this.#alone.filter((other) => other !== waiting);
    waiting.reject(late(this.#transport.where, ms));
  }

  /** At the end of this turn of promises: callers that were answered together ask again together. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#quick.length > 0 && this.#batches < MOST_BATCHES && this.#underWay < MOST_UNDER_WAY)
      this.#leave(this.#takeBatch());
    while (this.#alone.length > 0 && this.#alones < MOST_ALONE) {
      this.#alones += 1;
      const arrived = (): void => {
        this.#alones -= 1;
        this.#flushSoon();
      };
      this.#sendAlone(this.#alone.shift() as Waiting).then(arrived, arrived);
    }
  }

  #leave(batch: readonly Waiting[]): void {
    let isExpected = true;
    const expectNoMore = (): void => {
      if (isExpected) this.#batches -= 1;
      isExpected = false;
      this.#flushSoon();
    };
    this.#batches += 1;
    this.#underWay += 1;
    const patience = this.#clock.after(PATIENCE_MS, expectNoMore);
    const arrived = (): void => {
      patience.cancel();
      this.#underWay -= 1;
      expectNoMore();
    };
    this.#sendBatch(batch).then(arrived, arrived);
  }

  #takeBatch(): Waiting[] {
    let characters = 0;
    const over = this.#quick.findIndex(({ text }, i) => {
      characters += text.length;
      return i >= MOST_CALLS || (characters > BATCH_CHARACTERS && i > 0);
    });
    return this.#quick.splice(0, over === -1 ? this.#quick.length : over);
  }

  /** Settles every call of it; never rejects. */
  async #sendBatch(batch: readonly Waiting[]): Promise<void> {
    for (const { timer } of batch) timer.cancel();
    try {
      const answered = await this.#transport.send({
        method: 'POST',
        path: '/v1/batch',
        body: `{"calls":[${batch.map(({ text }) => text).join()}]}`,
        withinMs: QUICK_MS,
        isRepeatable: batch.every(({ isRepeatable }) => isRepeatable),
      });
      const answers = decodeBatch(answered, batch.length, this.#transport.where);
      for (const [i, { resolve, reject }] of batch.entries()) {
        const answer = answers[i] as object;
        if (answer instanceof LeaseError) reject(answer);
        else resolve(answer);
      }
    } catch (error) {
      for (const { reject } of batch) reject(asError(error));
    }
  }

  async #sendAlone({ text, method, isRepeatable, resolve, reject, timer }: Waiting): Promise<void> {
    timer.cancel();
    try {
      const path = `/v1/store/${method}`;
      const ask = { method: 'POST', path, body: text, withinMs: LONG_MS, isRepeatable } as const;
      resolve(bodyOf(await this.#transport.send(ask), this.#transport.where));
    } catch (error) {
      reject(asError(error));
    }
  }
}

function tooMany(where: string): LeaseError {
  const message = `${MOST_WAITING} calls wait for ${where}: it is too slow for what is asked of it`;
  return new LeaseError('STORE_UNAVAILABLE', message, { details: { executed: false } });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
