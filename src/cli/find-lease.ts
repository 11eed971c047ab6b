// Which lease is meant (C3): an id, or a resource that `--owner` holds. What cannot be told apart is asked back.
import { LeaseError } from '../domain/errors.js';
import type { Holdfast, LeaseRecord } from '../index.js';
import { checkId } from '../domain/ids.js';
import { usage } from './exit-codes.js';
import { utc } from './times.js';

export async function findLease(leases: Holdfast, idOrResource: string): Promise<LeaseRecord> {
  const byId = isId(idOrResource) ? await leases.get(idOrResource) : undefined;
  if (byId) return byId;
  const { items } = await leases.list({ resource: idOrResource, status: 'active' });
  const own = items.filter(({ owner }) => owner === leases.owner);
  const [lease] = own;
  if (lease && own.length === 1) return lease;
  if (lease) {
    const ids = own.map(({ id, epoch }) => `${id} (epoch ${epoch})`).join(', ');
    throw usage(`${leases.owner} has ${own.length} leases on ${idOrResource}: name one by its id: ${ids}`);
  }
  throw notHeld(leases.owner, idOrResource, items[0]);
}

export function endedAlready({ id, status, reason, endedAt, expiresAt, parts }: LeaseRecord): LeaseError {
  const why = reason === undefined ? '' : ` (${reason})`;
  const name = parts[0]?.name ?? id;
  const message = `the lease on ${name} is over: ${status}${why} at ${utc(endedAt ?? expiresAt)}; acquire it again`;
  return new LeaseError('NOT_HELD', message);
}

function isId(text: string): boolean {
  try {
    return checkId(text) === text;
  } catch {
    return false;
  }
}

function notHeld(owner: string, resource: string, other: LeaseRecord | undefined): LeaseError {
  const by = other && `${other.owner} (epoch ${other.epoch}) until ${utc(other.expiresAt)}`;
  const next = other === undefined ? 'nobody does; acquire it first' : `held by ${by ?? ''}; is --owner right?`;
  return new LeaseError('NOT_HELD', `${owner} holds no lease on ${resource}: ${next}`);
}
