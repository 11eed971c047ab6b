// Why a lease is gone, as the `LeaseError` that `signal.reason` and `throwIfLost()` carry. One place for the words.
import { LeaseError } from '../domain/errors.js';
import { isoTime, type Lease } from '../domain/lease.js';
import type { NotHeld } from '../stores/store.js';
import { nameOf } from './refusals.js';

/** Why nobody renews a lease any more. */
export type StopCause = 'MAX_RENEWALS' | 'MAX_HOLD' | 'abandoned';

export type LossCause =
  'expired' | 'superseded' | 'revoked' | 'released' | 'failed' | 'pending' | 'unknown' | 'suspended';

export function lostByDeadline(lease: Lease, cause: StopCause | 'no_progress' | undefined): LeaseError {
  const until = isoTime(lease.expiresAt);
  const facts = factsOf(lease);
  if (cause === 'MAX_RENEWALS' || cause === 'MAX_HOLD') {
    const bound = cause === 'MAX_HOLD' ? 'its maxHold' : `its ${lease.maxRenewals} renewals`;
    return new LeaseError(cause, `Lost lease for ${nameOf(lease.parts)} (used up ${bound}, over at ${until})`, {
      details: { ...facts, how: 'expired' },
    });
  }
  const why = { abandoned: ', abandoned by its holder', no_progress: ', no progress was reported in time' };
  return new LeaseError(
    'LEASE_LOST',
    `Lost lease for ${nameOf(lease.parts)} (expired at ${until}${cause === undefined ? '' : why[cause]})`,
    { details: { ...facts, how: 'expired', ...(cause === undefined ? {} : { cause }) } },
  );
}

/** The store gave a definite no (S15). */
export function lostByAnswer(lease: Lease, { status, epoch }: NotHeld): LeaseError {
  const how: LossCause = epoch === undefined ? (status === 'active' ? 'unknown' : status) : 'superseded';
  const current = epoch === undefined ? {} : { current: epoch, attempted: lease.epoch };
  const said = epoch === undefined ? status : `superseded by epoch ${epoch}`;
  return new LeaseError('LEASE_LOST', `Lost lease for ${nameOf(lease.parts)} (the store says: ${said})`, {
    details: { ...factsOf(lease), how, status, ...current },
  });
}

/** Not lost, but not to be trusted either: let go by its holder, or in doubt after a suspend. */
export function noLongerHeld(lease: Lease, standing: 'left' | 'inDoubt'): LeaseError {
  if (standing === 'inDoubt') {
    return new LeaseError(
      'LEASE_LOST',
      `the lease for ${nameOf(lease.parts)} is in doubt: this machine slept; the store is being asked`,
      { details: { ...factsOf(lease), inDoubt: true }, retryable: true },
    );
  }
  return new LeaseError('NOT_HELD', `the lease for ${nameOf(lease.parts)} was let go by this process`, {
    details: factsOf(lease),
  });
}

function factsOf({ id, epoch, owner, parts, expiresAt }: Lease): Record<string, unknown> {
  return { leaseId: id, epoch, owner, resource: parts[0]?.name, expiresAt: isoTime(expiresAt) };
}
