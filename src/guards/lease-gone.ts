// The word of a guard that asks the lease row itself: there is no such lease any more, whoever has the resource now.
import { LeaseError } from '../domain/errors.js';
import type { HeldLease } from '../manager/face.js';

export function leaseGone(lease: HeldLease, status: string, since?: string): LeaseError {
  const { id: leaseId, epoch, owner, resources } = lease;
  const more = resources.length > 1 ? ` and ${resources.length - 1} more` : '';
  const said = `the lease for ${resources[0] ?? ''}${more}, epoch ${epoch}, is ${status}`;
  return new LeaseError(
    'LEASE_LOST',
    `Write rejected: ${said}${since === undefined ? '' : ` since ${since}`}; roll back and acquire again`,
    { details: { leaseId, epoch, owner, resource: resources[0], status, how: status } },
  );
}
