// Tokens in the store: the stream `tokens` of an internal namespace. Making and revoking are one `append` each, which is one
// step, ordered and stored once under its operation id, so asking again after a lost answer is safe (S15). Whoever reads the
// stream from the start knows every token. Only hashes are written.
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import type { AppendRequest } from '../../domain/sequence-requests.js';
import { answerWithin } from '../../manager/store-link.js';
import type { ReadReply, SequenceStore } from '../../stores/sequence-store.js';
import type { Store } from '../../stores/store.js';
import { makeSecret, type NewToken, type Secret, type Token, type TokenOperation } from './token.js';

/** Begins as the product's own namespaces do, which no request may name (store/permits.ts). */
const TOKEN_NAMESPACE = '_holdfast-server';
const STREAM = 'tokens';
const KIND = 'token';
const CALL_MS = 3_000;
const TRIES = 3;

export class TokenStream {
  readonly #store: Store;
  readonly #clock: Clock;
  #ready: Promise<unknown> | undefined;

  constructor(store: Store, clock: Clock) {
    this.#store = store.within(TOKEN_NAMESPACE);
    this.#clock = clock;
  }

  get isThere(): boolean {
    return this.#store.sequences !== undefined;
  }

  async read(from: number): Promise<ReadReply> {
    const sequences = await this.#open();
    const order = { stream: STREAM, from, limit: LIMITS.rowsPerStep, seal: false, watch: false };
    return this.#within('read', sequences.read(order));
  }

  /** It ends by `endsBy` of the store's clock, whatever is wanted. */
  async create(
    wanted: NewToken,
    by: string,
    endsBy?: number,
  ): Promise<{ readonly token: Token; readonly secret: Secret }> {
    const secret = makeSecret(this.#clock);
    const { now } = await this.#within('time', this.#store.time());
    const { name, role, prefix, owner, expiresInMs } = wanted;
    const expiresAt = Math.min(now + (expiresInMs ?? Infinity), endsBy ?? Infinity);
    const token: Token = {
      id: secret.id,
      name,
      role,
      ...(prefix === undefined ? {} : { prefix }),
      ...(owner === undefined ? {} : { owner }),
      ...(expiresAt === Infinity ? {} : { expiresAt }),
      createdBy: by,
      at: now,
    };
    await this.#append({ act: 'create', ...token, hash: secret.hash }, by);
    return { token, secret };
  }

  async revoke(id: string, by: string): Promise<void> {
    const { now } = await this.#within('time', this.#store.time());
    await this.#append({ act: 'revoke', id, by, at: now }, by);
  }

  subscribe(settled: () => void): () => void {
    return this.#store.sequences?.subscribe({ settled }) ?? (() => undefined);
  }

  async #append(operation: TokenOperation, by: string): Promise<void> {
    const sequences = await this.#open();
    const operationId = `${operation.act}-${operation.id}`;
    const request: AppendRequest = {
      stream: STREAM,
      operationId,
      kind: KIND,
      operations: [operation],
      owner: by,
      type: 'recommitted',
    };
    for (let tries = 1; ; tries += 1) {
      try {
        const { results } = await this.#within('append', sequences.append([request]));
        const [result] = results;
        if (result?.outcome === 'failed') throw result.error;
        // The same id revoked by two at once: the first of them is stored, and that is what was wanted.
        if (result?.outcome === 'stored' || (result?.outcome === 'mismatch' && operation.act === 'revoke')) return;
        throw new LeaseError('STORE_UNAVAILABLE', 'the token could not be written down: try again');
      } catch (error) {
        if (!(error instanceof LeaseError) || !error.retryable || tries >= TRIES) throw error;
      }
    }
  }

  async #open(): Promise<SequenceStore> {
    const { sequences, kind } = this.#store;
    if (!sequences) {
      throw new LeaseError(
        'STORE_INCOMPATIBLE',
        `a ${kind} store keeps no sequences, and tokens are kept in one: serve it on loopback without tokens, or use sqlite:`,
      );
    }
    // N6: on Redis a crash may take the last changes of tokens with it; that is said in docs/guide/tokens.md.
    this.#ready ??= sequences.ready({ acceptLoss: kind === 'redis' });
    try {
      await this.#within('ready', this.#ready);
    } catch (error) {
      this.#ready = undefined; // asked again by the next
      throw error;
    }
    return sequences;
  }

  #within<T>(what: string, answer: Promise<T>): Promise<T> {
    return answerWithin(this.#clock, CALL_MS, `tokens: ${what}`, answer);
  }
}
