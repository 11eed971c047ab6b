// Who has a token, as of the operations read so far: a fold over the stream, without I/O.
//
//   (nothing) --create--> live --revoke--> gone         an id is created once: the stream stores an operation once
//                          └──(expiresAt)--> expired    kept, so that it can be listed and its holder told
//
// `isEmpty` is true only while no token was ever made: with the last one revoked the door stays shut (W4).
import type { Caller } from '../context.js';
import { isSecretOf, parseToken, type Token, type TokenOperation } from './token.js';

/** Expired this long ago, a token is forgotten. */
const KEEP_EXPIRED_MS = 30 * 86_400_000;
/** Tokens that stand at once; a further one is refused. */
export const MOST_TOKENS = 10_000;

interface Entry {
  readonly token: Token;
  readonly hash: Buffer;
  readonly caller: Caller;
}

export type Found = { readonly caller: Caller } | { readonly why: 'unknown' | 'expired' };

export class TokenBook {
  readonly #entries = new Map<string, Entry>();
  #isEmpty = true;

  get isEmpty(): boolean {
    return this.#isEmpty;
  }
  get size(): number {
    return this.#entries.size;
  }

  /** For a stream that begins anew (another incarnation of the store): empty, but that there were tokens is not forgotten. */
  anew(): TokenBook {
    const book = new TokenBook();
    book.#isEmpty = this.#isEmpty;
    return book;
  }

  apply(operation: TokenOperation): void {
    this.#isEmpty = false;
    if (operation.act === 'revoke') {
      this.#entries.delete(operation.id);
      return;
    }
    const { act: _, hash, ...token } = operation;
    if (this.#entries.size >= MOST_TOKENS) this.#forgetExpired(operation.at);
    const { id, name, role, prefix, owner } = token;
    const caller: Caller = Object.freeze({ tokenId: id, name, role, prefix, owner });
    this.#entries.set(id, { token, hash: Buffer.from(hash, 'hex'), caller });
  }

  find(text: string, now: number): Found {
    const parsed = parseToken(text);
    const entry = parsed && this.#entries.get(parsed.id);
    const isRight = isSecretOf(parsed?.secret ?? '', entry?.hash);
    if (!entry || !isRight) return { why: 'unknown' };
    return isOver(entry.token, now) ? { why: 'expired' } : { caller: entry.caller };
  }

  isLive(id: string, now: number): boolean {
    const entry = this.#entries.get(id);
    return entry !== undefined && !isOver(entry.token, now);
  }

  get(id: string): Token | undefined {
    return this.#entries.get(id)?.token;
  }

  /** In the order they were made. */
  list(): Token[] {
    return Array.from(this.#entries.values(), ({ token }) => token);
  }

  #forgetExpired(now: number): void {
    for (const [id, { token }] of this.#entries) {
      if (token.expiresAt !== undefined && token.expiresAt + KEEP_EXPIRED_MS <= now) this.#entries.delete(id);
    }
  }
}

export function isOver({ expiresAt }: Token, now: number): boolean {
  return expiresAt !== undefined && now >= expiresAt;
}
