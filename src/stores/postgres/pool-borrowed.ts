// One connection in the hands of one caller at a time, until it is given back. A statement is sent once. When the connection dies under
// it, or the server is silent for CALL_LIMIT_MS, its fate is unknown and the caller is told so (S15); the server is asked to
// cancel it and the connection is never used again, so that a black-holed one does not occupy the pool for ever.
import type { QueryResult } from 'pg';
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import { requestCancel } from './pool-cancel.js';
import { destroy, type PoolClient } from './pool-driver.js';
import { rowTypes } from './pool-types.js';
import { ReplyQuery, takesReplyQueries, type NamedCall } from './reply-query.js';
import { codeOf, isSqlState, translateError, type Place } from './translate-error.js';

/** Twice the longest default requestTimeout of a manager (5 s): by then nobody waits for the answer. */
const CALL_LIMIT_MS = 10_000;
/** How long the server has to answer a cancel before its connection is cut. */
const CANCEL_GRACE_MS = 1_000;

export interface Command {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly limitMs?: number;
}

/** Whose connections they are. */
export interface Lender {
  back(borrowed: Borrowed): void;
  died(borrowed: Borrowed): void;
}

export class Borrowed {
  readonly client: PoolClient;
  /** When it was given back last, on the monotonic clock. */
  usedAt = Infinity;
  readonly #clock: Clock;
  readonly #place: () => Place;
  readonly #owner: Lender;
  readonly #onError = (): void => {
    this.#isBroken = true;
    this.#owner.died(this);
  };
  #isBroken = false;
  #isBack = false;
  #abandon: ((error: LeaseError) => void) | undefined;

  constructor(client: PoolClient, clock: Clock, place: () => Place, owner: Lender) {
    this.client = client;
    this.#clock = clock;
    this.#place = place;
    this.#owner = owner;
    client.on('error', this.#onError); // the pool does not listen while it is lent
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** One statement, answered within its limit one way or the other. Rejects with what the driver said. */
  run({ name, text, values, limitMs = CALL_LIMIT_MS }: Command): Promise<QueryResult> {
    const config = { text, types: rowTypes, ...(name === undefined ? {} : { name }), ...(values ? { values } : {}) };
    return this.#answerWithin(limitMs, (answered) => this.client.query(config as unknown as string, answered));
  }

  /** The same for a call that answers one text. */
  reply(call: NamedCall): Promise<unknown> {
    if (!takesReplyQueries(this.client)) return this.#replyByQuery(call);
    return this.#answerWithin(CALL_LIMIT_MS, (answered) => this.client.query(new ReplyQuery(call, answered)));
  }

  async #replyByQuery({ name, ...rest }: NamedCall): Promise<unknown> {
    const { rows } = await this.run(name === '' ? rest : { name, ...rest });
    return (rows[0] as { readonly reply?: unknown } | undefined)?.reply;
  }

  #answerWithin<T>(
    limitMs: number,
    send: (answered: (error: Error | null | undefined, result: T) => void) => void,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = (): boolean => {
        timer.cancel();
        const isFirst = this.#abandon !== undefined;
        this.#abandon = undefined;
        return isFirst;
      };
      this.#abandon = (error) => {
        if (end()) reject(error);
      };
      let timer = this.#clock.after(
        limitMs,
        () => {
          this.#cancel();
          timer = this.#clock.after(CANCEL_GRACE_MS, () => this.cut(silence(limitMs, this.#place())), true);
        },
        true,
      );
      try {
        send((error, result) => {
          if (!end()) return;
          if (error === null || error === undefined) resolve(result);
          else reject(this.#judge(error));
        });
      } catch (error) {
        this.cut(translateError(error, this.#place()));
      }
    });
  }

  /** The call under way fails with `error`, and the connection is closed without a word. */
  cut(error: LeaseError): void {
    if (this.#abandon) this.#cancel();
    destroy(this.client);
    this.#abandon?.(error);
  }

  /** Once. It may arrive late and must not meet another statement: this connection sees no other. */
  #cancel(): void {
    if (!this.#isBroken) requestCancel(this.client, this.#clock);
    this.#isBroken = true;
  }

  /** Not to be used again. */
  spoil(): void {
    this.#isBroken = true;
  }

  giveBack(): void {
    this.#owner.back(this);
  }

  /** From here on it is the pool's. */
  toPool(): void {
    if (this.#isBack) return;
    this.#isBack = true;
    if (this.#isBroken) destroy(this.client);
    this.client.release(this.#isBroken);
    this.client.off('error', this.#onError);
  }

  /** After most errors a connection is as good as before. Not after these. */
  #judge(error: Error): Error {
    const code = codeOf(error);
    const isFatal = (error as { readonly severity?: unknown }).severity === 'FATAL';
    if (isFatal || !isSqlState(code) || /^(?:08|57P|25006|0A000)/.test(code)) this.#isBroken = true;
    return error;
  }
}

function silence(limitMs: number, { server }: Place): LeaseError {
  const message = `no answer from PostgreSQL at ${server} for ${limitMs} ms: what was asked may or may not be done; look at the server, its locks and the network`;
  return new LeaseError('STORE_UNAVAILABLE', message, { details: { server, timedOut: true, waitedMs: limitMs } });
}
