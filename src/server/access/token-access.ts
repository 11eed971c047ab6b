// Who asks (W3): the tokens of the store as this server knows them, followed from the start of their stream.
//
//   opening --first read of everything--> following --a look every 500 ms, or at a hint--> following --stop--> stopped
//                                           └--the data was replaced--> read anew beside what is known --to the end--^
//
// No request is let in on a view older than a second: `isFresh` says whether it is newer, `refresh` makes it so or fails with
// the store's own error. Expiry is judged by the store's clock, carried on with the monotonic one, so that a wall clock that
// steps changes nothing. When a token ends, whatever waits or streams under it is told once, by `onEnd`.
import type { Clock, TimerHandle } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import type { Logger } from '../../observe/logger.js';
import type { Store } from '../../stores/store.js';
import type { Access, Caller } from '../context.js';
import { withStatus } from '../problem.js';
import { actorOf, checkNewToken, parseOperation, type NewToken, type Token } from './token.js';
import { MOST_TOKENS, TokenBook } from './token-book.js';
import { TokenStream } from './token-stream.js';
import { grantFor, mayManage } from './rules.js';

const LOOK_MS = 500;
/** The oldest view a request is judged by: this long after a token was made or revoked every server goes by it (W3). */
export const KNOWN_WITHIN_MS = 1_000;
/** Reads of 1,000 operations each: more than tokens that were ever made. */
const MOST_PAGES = 10_000;

const ENDED = 'the token of this request was revoked or has expired';
const FIRST_MADE = 'a token was made meanwhile: send one, Authorization: Bearer hf_…';
/** Who came without one. */
const NO_TOKEN = '';

/** Everybody on this machine, while no token was made. */
const EVERYBODY: Caller = Object.freeze({
  tokenId: undefined,
  name: 'loopback',
  role: 'admin',
  prefix: undefined,
  owner: undefined,
});

export interface AccessOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface MadeToken {
  readonly token: Token;
  /** `hf_…`: shown once, kept nowhere. */
  readonly secret: string;
}

/** The tokens as of the operations before `nextNumber`, in one life of the data. */
interface Reading {
  readonly book: TokenBook;
  nextNumber: number;
  incarnation: string | undefined;
}

type Ended = (why: LeaseError) => void;

export class TokenAccess implements Access {
  readonly #stream: TokenStream;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #listeners = new Map<string, Set<Ended>>();
  #reading: Reading = { book: new TokenBook(), nextNumber: 1, incarnation: undefined };
  /** What the store's clock said, and when that was asked by ours. */
  #seen = { storeNow: 0, sentAt: -Infinity };
  #looking: Promise<void> | undefined;
  #timer: TimerHandle | undefined;
  #unsubscribe: (() => void) | undefined;
  #isStopped = false;

  constructor({ store, clock, logger }: AccessOptions) {
    this.#stream = new TokenStream(store, clock);
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Reads every token, and follows from now on. Rejects when the store does not answer yet; it is followed all the same. */
  async start(): Promise<void> {
    if (!this.#stream.isThere) return;
    this.#unsubscribe ??= this.#stream.subscribe(() => this.#lookQuietly());
    if (!this.#timer) this.#wait();
    await this.refresh();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#unsubscribe?.();
  }

  /** False while no token was ever made: then the door is for this machine alone (W4). */
  get hasTokens(): boolean {
    return !this.#reading.book.isEmpty;
  }

  /** Whether tokens could be read at all. */
  get isKnown(): boolean {
    return !this.#stream.isThere || this.#seen.sentAt > -Infinity;
  }

  get isFresh(): boolean {
    return !this.#stream.isThere || this.#clock.monotonic() - this.#seen.sentAt < KNOWN_WITHIN_MS;
  }

  /** One look at a time; whoever comes meanwhile takes its answer, and looks again if that began too early. */
  async refresh(): Promise<void> {
    if (!this.#stream.isThere) return;
    const since = this.#clock.monotonic();
    for (let tries = 0; tries < 2; tries += 1) {
      this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
      await this.#looking;
      if (this.#seen.sentAt >= since) return;
    }
  }

  identify(authorization: string | undefined): Caller | LeaseError {
    if (authorization === undefined) {
      return this.hasTokens ? unauthorized('send a token: Authorization: Bearer hf_…') : EVERYBODY;
    }
    const [, text] = /^Bearer +([\x21-\x7e]{1,200}) *$/i.exec(authorization) ?? [];
    if (text === undefined) return unauthorized('the Authorization header is: Bearer hf_…');
    const found = this.#reading.book.find(text, this.#storeNow());
    if ('caller' in found) return found.caller;
    return found.why === 'expired'
      ? unauthorized('this token has expired: ask for a new one')
      : unauthorized('this token is not known here, or was revoked: see `holdfast token ls`');
  }

  /** Calls `ended` once when the token of this caller is revoked or expires; of one who came without, when the first is made (W4). Answers
   *  the function that stops it. */
  onEnd({ tokenId = NO_TOKEN }: Caller, ended: Ended): () => void {
    const here = this.#listeners.get(tokenId) ?? new Set();
    here.add(ended);
    this.#listeners.set(tokenId, here);
    return () => {
      here.delete(ended);
      if (here.size === 0 && this.#listeners.get(tokenId) === here) this.#listeners.delete(tokenId);
    };
  }

  async create(by: Caller, given: NewToken): Promise<MadeToken> {
    const asked = checkNewToken(given);
    grantFor(by, asked);
    await this.refresh();
    const now = this.#storeNow();
    const endsBy = this.#endOf(by);
    const wanted = grantFor(by, asked, endsBy === undefined ? undefined : endsBy - now);
    const isTaken = this.#reading.book
      .list()
      .some(({ id, name }) => name === wanted.name && this.#reading.book.isLive(id, now));
    if (isTaken)
      throw withStatus(409, 'INVALID_ARGUMENT', 'a token of this name stands: revoke it, or take another name');
    if (this.#reading.book.size >= MOST_TOKENS)
      throw new LeaseError('RATE_LIMITED', `${MOST_TOKENS} tokens stand, which is the limit: revoke some`);
    const { token, secret } = await this.#stream.create(wanted, actorOf(by), endsBy);
    await this.refresh().catch(() => undefined); // it is made: the secret is shown now or never
    return { token, secret: secret.text };
  }

  /** By id, or by a name that one token has. */
  async revoke(by: Caller, idOrName: string): Promise<Token> {
    await this.refresh();
    const mine = (await this.list(by)).filter(({ id, name }) => id === idOrName || name === idOrName);
    const [token] = mine;
    if (!token) throw withStatus(404, 'INVALID_ARGUMENT', 'there is no such token, or it was revoked: see the list');
    if (mine.length > 1)
      throw withStatus(409, 'INVALID_ARGUMENT', `${mine.length} tokens have this name: revoke them by id`);
    await this.#stream.revoke(token.id, actorOf(by));
    await this.refresh().catch(() => undefined); // it is written down: the next look finds it
    return token;
  }

  /** What stands or has expired, oldest first; of a bounded admin only those inside its prefix. */
  async list(by: Caller): Promise<Token[]> {
    if (!this.isFresh) await this.refresh();
    return this.#reading.book.list().filter((token) => mayManage(by, token));
  }

  /** By the store's clock; undefined for who has no end. */
  #endOf({ tokenId }: Caller): number | undefined {
    if (tokenId === undefined) return undefined;
    const token = this.#reading.book.get(tokenId);
    if (!token) throw unauthorized(ENDED);
    return token.expiresAt;
  }

  /** Store time never runs ahead of this by more than the answer took to come. */
  #storeNow(): number {
    return this.#seen.storeNow + Math.max(0, this.#clock.monotonic() - this.#seen.sentAt);
  }

  #wait(): void {
    if (this.#isStopped) return;
    this.#timer = this.#clock.after(LOOK_MS, () => {
      this.#lookQuietly();
      this.#wait();
    });
  }

  #lookQuietly(): void {
    if (this.#isStopped || this.#looking) return;
    this.refresh().catch((error: unknown) => {
      this.#logger.warn({ err: error }, 'tokens could not be looked at; requests wait until they can');
    });
  }

  /** Requests are judged by what was read to its end: until then what was known before counts, for its second. */
  async #look(): Promise<void> {
    let reading = this.#reading;
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const sentAt = this.#clock.monotonic();
      const page = await this.#stream.read(reading.nextNumber);
      if (isAnotherLife(reading, page)) {
        reading = { book: reading.book.anew(), nextNumber: 1, incarnation: page.incarnation };
        continue;
      }
      reading.incarnation = page.incarnation;
      for (const { number, operation } of page.items) {
        reading.nextNumber = number + 1;
        this.#apply(reading.book, operation, number);
      }
      if (reading.nextNumber <= page.watermark) continue;
      this.#reading = reading;
      this.#seen = { storeNow: page.now, sentAt };
      this.#tellEnded();
      return;
    }
    throw new LeaseError(
      'STORE_UNAVAILABLE',
      'the stream of tokens has no end: look at the store for what writes there',
    );
  }

  #apply(book: TokenBook, operation: unknown, number: number): void {
    const parsed = parseOperation(operation);
    if (parsed) book.apply(parsed);
    else this.#logger.warn({ number }, 'an operation of the token stream makes no sense: passed over');
  }

  #tellEnded(): void {
    const now = this.#storeNow();
    for (const [id, listeners] of [...this.#listeners]) {
      if (id === NO_TOKEN ? !this.hasTokens : this.#reading.book.isLive(id, now)) continue;
      this.#listeners.delete(id);
      const why = unauthorized(id === NO_TOKEN ? FIRST_MADE : ENDED);
      for (const ended of [...listeners]) ended(why);
    }
  }
}

/** The data was replaced under us: what was read before is worth nothing. */
function isAnotherLife(
  { nextNumber, incarnation }: Reading,
  page: { readonly incarnation: string; readonly watermark: number },
): boolean {
  if (nextNumber === 1) return false;
  return page.incarnation !== incarnation || page.watermark < nextNumber - 1;
}

function unauthorized(message: string): LeaseError {
  return new LeaseError('UNAUTHORIZED', message);
}
