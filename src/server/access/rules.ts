// What a caller may do (W3), as pure questions. A role is a rank: `read` looks, `write` holds as its own owner, `admin` governs.
// A prefix bounds every name; a lease may be touched by the token that took it, by one bound to its owner, and by admins.
// `may…` answers, `require…` throws FORBIDDEN with a sentence that names nothing the caller could not know.
import { LeaseError } from '../../domain/errors.js';
import type { Part } from '../../domain/part.js';
import type { RevokeTarget } from '../../domain/requests.js';
import { isAbove } from '../../domain/resource-name.js';
import type { Caller, Role } from '../context.js';
import { takenBy } from './lease-metadata.js';
import type { NewToken, Token } from './token.js';

const RANK: Readonly<Record<Role, number>> = { read: 0, write: 1, admin: 2 };

/** What touching a lease is judged by; metadata as the store keeps it. */
export interface TouchedLease {
  readonly owner: string;
  readonly parts: readonly Part[];
  readonly metadata?: unknown;
}

export function mayDo(caller: Caller, least: Role): boolean {
  return RANK[caller.role] >= RANK[least];
}
export function requireRole(caller: Caller, least: Role): void {
  if (mayDo(caller, least)) return;
  throw forbidden(`this needs the role ${least}, and token ${caller.name} has ${caller.role}: ask for another token`);
}

/** The name itself or one below it; never a longer spelling of its last segment. */
export function isWithin(prefix: string | undefined, name: string): boolean {
  return prefix === undefined || name === prefix || isAbove(prefix, name);
}
export function mayRead(caller: Caller, name: string): boolean {
  return isWithin(caller.prefix, name);
}
export function requireNames(caller: Caller, names: readonly string[]): void {
  if (names.every((name) => mayRead(caller, name))) return;
  throw forbidden(`token ${caller.name} is bound to ${caller.prefix ?? ''} and below: name only what is there`);
}

/** What concerns the whole namespace (settings, sweeping, recovery of everything) is not for a bounded token. */
export function requireWhole(caller: Caller): void {
  if (caller.prefix === undefined) return;
  throw forbidden(`this concerns every name, and token ${caller.name} is bound to ${caller.prefix} and below`);
}

/** The owner to act as: the bound one, or the one that was asked for. */
export function ownerFor(caller: Caller, asked: string | undefined): string | undefined {
  if (caller.owner === undefined || asked === undefined || asked === caller.owner) return caller.owner ?? asked;
  const how = '--owner, HOLDFAST_OWNER or connect({ owner })';
  throw forbidden(`token ${caller.name} may not act as another: leave owner out, or act as ${caller.owner}: ${how}`);
}

export function mayTouch(caller: Caller, lease: TouchedLease): boolean {
  if (!mayDo(caller, 'write') || !lease.parts.every(({ name }) => mayRead(caller, name))) return false;
  if (caller.role === 'admin') return true;
  const isTaker = caller.tokenId !== undefined && takenBy(lease.metadata) === caller.tokenId;
  return isTaker || (caller.owner !== undefined && caller.owner === lease.owner);
}
export function requireTouch(caller: Caller, lease: TouchedLease): void {
  if (mayTouch(caller, lease)) return;
  throw forbidden(
    'only the token that took a lease, one bound to its owner, or an admin may touch it or name it as held',
  );
}

/** Numbers remember no token: whose they are is known by their owner, and asked of a token that acts as one owner alone. */
export function isBoundToOwner(caller: Caller): boolean {
  return caller.owner !== undefined && caller.role !== 'admin';
}
export function refuseNumber(caller: Caller, owner: string): LeaseError | undefined {
  if (!isBoundToOwner(caller) || caller.owner === owner) return undefined;
  return forbidden(
    `token ${caller.name} acts as ${caller.owner ?? ''}, and these numbers were leased by another owner`,
  );
}

/** A reclaim replaces a lease by its owner's word alone: for a token that owner is bound to, and for admins. */
export function requireReclaim(caller: Caller): void {
  if (caller.role === 'admin' || caller.owner !== undefined) return;
  throw forbidden('reclaim takes over by the name of the owner: it needs a token bound to that owner');
}

/** A bounded admin revokes by name; `leaseId` is judged by the lease it names. */
export function requireRevoke(caller: Caller, target: RevokeTarget, lease?: TouchedLease): void {
  requireRole(caller, 'admin');
  if (caller.prefix === undefined) return;
  if ('resource' in target) requireNames(caller, [target.resource]);
  else if ('under' in target) requireNames(caller, [target.under]);
  else if ('owner' in target) requireWhole(caller);
  else if (lease) requireTouch(caller, lease);
}

/** The bounds of a list, of events or of history: what was asked for, never past the caller's prefix. */
export function boundFilter<F extends { prefix?: string | undefined; resource?: string | undefined }>(
  caller: Caller,
  filter: F,
): F {
  const { prefix: bound } = caller;
  if (bound === undefined) return filter;
  if (filter.resource !== undefined) requireNames(caller, [filter.resource]);
  if (filter.prefix !== undefined && isWithin(bound, filter.prefix)) return filter;
  if (filter.prefix !== undefined && !isAbove(filter.prefix, bound)) requireNames(caller, [filter.prefix]);
  return { ...filter, prefix: bound };
}

/** Nobody makes a token that may more than its maker, which has `leftMs` to live: a bound owner is passed on, and so is its end
 *  (by the stream, to the millisecond); what goes past either is refused. Answers what may be made. */
export function grantFor(caller: Caller, wanted: NewToken, leftMs = Infinity): NewToken {
  requireRole(caller, 'admin');
  const { name, prefix, owner } = caller;
  if (prefix !== undefined && (wanted.prefix === undefined || !isWithin(prefix, wanted.prefix)))
    throw forbidden(`token ${name} makes tokens for ${prefix} and below alone: give such a prefix`);
  if (owner !== undefined && wanted.owner !== undefined && wanted.owner !== owner)
    throw forbidden(`token ${name} makes tokens for the owner ${owner} alone: give that one, or none`);
  if (wanted.expiresInMs !== undefined && wanted.expiresInMs > leftMs)
    throw forbidden(`token ${name} ends before that, and no token outlives its maker: give a shorter life, or none`);
  return { ...wanted, owner: owner ?? wanted.owner };
}
export function mayManage(caller: Caller, token: Token): boolean {
  if (!mayDo(caller, 'admin')) return false;
  return caller.prefix === undefined || (token.prefix !== undefined && isWithin(caller.prefix, token.prefix));
}

function forbidden(message: string): LeaseError {
  return new LeaseError('FORBIDDEN', message);
}
