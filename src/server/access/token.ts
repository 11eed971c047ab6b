// A token as the store keeps it (W3): an operation of a stream that makes it, later perhaps one that revokes it. The secret is
// 256 random bits, shown once when it is made; what is kept is its SHA-256, which needs no slow hash because nothing can be
// guessed. Everything read from the stream is checked here: the stream is data, not truth about its own shape.
import { createHash, timingSafeEqual } from 'node:crypto';
import { checkOwner, checkText } from '../../domain/check-request.js';
import type { Clock } from '../../domain/clock.js';
import { invalid, shown } from '../../domain/errors.js';
import { isoTime } from '../../domain/lease.js';
import { checkName } from '../../domain/resource-name.js';
import type { Role } from '../context.js';

export const ROLES: readonly Role[] = ['read', 'write', 'admin'];
/** With `token ` in front it is still a valid actor (LIMITS.ownerBytes). */
const NAME_BYTES = 100;
const SHORTEST_LIFE_MS = 1_000;
const LONGEST_LIFE_MS = 10 * 365 * 86_400_000;
const TOKEN = /^hf_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;
/** Finds a token, or what is left of one, in any text. */
export const TOKEN_ANYWHERE = /hf_[0-9a-f]{16}_[A-Za-z0-9_-]*/g;

/** What is known of a token besides its hash. Times are of the store clock, milliseconds. */
export interface Token {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly prefix?: string | undefined;
  readonly owner?: string | undefined;
  readonly expiresAt?: number | undefined;
  readonly createdBy: string;
  readonly at: number;
}

export interface NewToken {
  readonly name: string;
  readonly role: Role;
  readonly prefix?: string | undefined;
  readonly owner?: string | undefined;
  readonly expiresInMs?: number | undefined;
}

export type TokenOperation =
  | (Token & { readonly act: 'create'; readonly hash: string })
  | { readonly act: 'revoke'; readonly id: string; readonly by: string; readonly at: number };

export interface Secret {
  readonly id: string;
  /** The whole token, for its holder alone. */
  readonly text: string;
  readonly hash: string;
}

export function makeSecret(clock: Clock): Secret {
  const id = createHash('sha256').update(clock.randomText()).digest('hex').slice(0, 16);
  // Three draws of at least 100 bits each; the digest spreads them over 43 characters.
  const drawn = `${clock.randomText()}${clock.randomText()}${clock.randomText()}`;
  const secret = createHash('sha256').update(drawn).digest('base64url');
  return { id, text: `hf_${id}_${secret}`, hash: hashOf(secret).toString('hex') };
}

export function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

export function parseToken(text: string): { readonly id: string; readonly secret: string } | undefined {
  const [, id, secret] = TOKEN.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/** Takes as long for a wrong secret as for the right one, and for a token that is not there as for one that is. */
export function isSecretOf(secret: string, hash: Buffer | undefined): boolean {
  const isEqual = timingSafeEqual(hashOf(secret), hash ?? NOBODYS);
  return isEqual && hash !== undefined;
}
const NOBODYS = Buffer.alloc(32);

export function checkNewToken(given: NewToken): NewToken {
  const { name, role, prefix, owner, expiresInMs } = given;
  checkText(name, 'the name of a token', 1, NAME_BYTES);
  if (!ROLES.includes(role)) throw invalid(`a role is ${ROLES.join(', ')}, got ${shown(role)}`);
  if (prefix !== undefined) checkName(prefix);
  if (owner !== undefined) checkOwner(owner);
  const isLife =
    Number.isSafeInteger(expiresInMs) &&
    (expiresInMs as number) >= SHORTEST_LIFE_MS &&
    (expiresInMs as number) <= LONGEST_LIFE_MS;
  if (expiresInMs !== undefined && !isLife) throw invalid('a token lives from 1 s to 10 years: give another expiry');
  return { name, role, prefix, owner, expiresInMs };
}

/** `undefined` for what no version of this code has written. */
export function parseOperation(value: unknown): TokenOperation | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const given = value as Partial<Record<string, unknown>>;
  const { act, id, at } = given;
  if (typeof id !== 'string' || !/^[0-9a-f]{16}$/.test(id) || typeof at !== 'number') return undefined;
  if (act === 'revoke') return typeof given['by'] === 'string' ? { act, id, by: given['by'], at } : undefined;
  if (act !== 'create' || typeof given['hash'] !== 'string' || !/^[0-9a-f]{64}$/.test(given['hash'])) return undefined;
  const { name, role, prefix, owner, expiresAt, createdBy, hash } = given;
  const isText = [name, createdBy].every((one) => typeof one === 'string');
  const isMaybeText = [prefix, owner].every((one) => one === undefined || typeof one === 'string');
  const isTime = expiresAt === undefined || typeof expiresAt === 'number';
  if (!isText || !isMaybeText || !isTime || !ROLES.includes(role as Role)) return undefined;
  return { act, id, at, hash, name, role, prefix, owner, expiresAt, createdBy } as TokenOperation;
}

/** A token as people see it, over HTTP and from the command alike. */
export interface TokenView {
  id: string;
  name: string;
  role: Role;
  prefix?: string;
  owner?: string;
  expiresAt?: string;
  createdAt: string;
  createdBy: string;
}

export function tokenView({ id, name, role, prefix, owner, expiresAt, at, createdBy }: Token): TokenView {
  return {
    id,
    name,
    role,
    ...(prefix === undefined ? {} : { prefix }),
    ...(owner === undefined ? {} : { owner }),
    ...(expiresAt === undefined ? {} : { expiresAt: isoTime(expiresAt) }),
    createdAt: isoTime(at),
    createdBy,
  };
}

/** The actor of what a token did, in the log of events and in log lines. */
export function actorOf(caller: { readonly tokenId: string | undefined; readonly name: string }): string {
  return caller.tokenId === undefined ? caller.name : `token ${caller.name}`;
}
