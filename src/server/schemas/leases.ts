// What the lease routes take and answer (A4, A6, A10). The words are those of the library's options.
import { z } from '@hono/zod-openapi';
import { LIMITS } from '../../domain/limits.js';
import {
  countText,
  cursorText,
  duration,
  epochNumber,
  idText,
  isoText,
  nameText,
  operationIdText,
  ownerText,
  recordSchema,
  requestIdText,
  resourcesInput,
} from './common.js';

const wait = z
  .union([z.literal('forever'), duration])
  .openapi('Wait', { description: "How long to wait in the queue; 0 does not wait, 'forever' is allowed" });

const holding = z.array(idText).max(LIMITS.heldByOneRequest).openapi({
  description: 'Ids of leases this caller holds while it waits, so that deadlocks are found',
});

export const acquireBody = z
  .strictObject({
    resource: nameText.optional(),
    resources: resourcesInput.optional(),
    owner: ownerText.optional(),
    ttl: duration.optional(),
    wait: wait.optional(),
    mode: z.enum(['exclusive', 'shared']).optional(),
    limit: z.int().min(1).max(LIMITS.sharedLimit).optional(),
    scope: z.enum(['node', 'subtree']).optional(),
    priority: z.int().min(-LIMITS.priority).max(LIMITS.priority).optional(),
    maxRenewals: z.int().min(-1).optional(),
    maxHold: duration.optional(),
    minHold: duration.optional(),
    lockDelay: duration.optional(),
    reclaim: z.boolean().optional(),
    holding: holding.optional(),
    operationId: operationIdText.optional(),
    metadata: z.unknown().optional(),
  })
  .refine(({ resource, resources }) => (resource === undefined) !== (resources === undefined), {
    error: 'name the resource to lease: resource or resources, one of the two',
  })
  .openapi('Acquire');

/** `remainingMs` counts from when the store decided: trust it only from the time the request was sent. */
export const grantedSchema = recordSchema
  .extend({ remainingMs: z.number(), storeNow: isoText })
  .openapi('GrantedLease');

export const authorityBody = z.strictObject({ epoch: epochNumber, requestId: requestIdText.optional() });
export const renewBody = authorityBody.extend({ ttl: duration.optional() }).openapi('Renew');
export const releaseBody = authorityBody.openapi('Release');
export const downgradeBody = authorityBody.openapi('Downgrade');
export const delegateBody = authorityBody.extend({ toOwner: ownerText }).openapi('Delegate');
export const upgradeBody = z
  .strictObject({ epoch: epochNumber, wait: wait.optional(), holding: holding.optional() })
  .openapi('Upgrade');

export const renewedSchema = z
  .object({ expiresAt: isoText, storeNow: isoText, renewals: z.int(), remainingMs: z.number() })
  .openapi('Renewed');
export const releasedSchema = z
  .object({ outcome: z.enum(['released', 'already_ended', 'superseded', 'unknown']), blockedMs: z.number().optional() })
  .openapi('Released');

export const listQuery = z.strictObject({
  prefix: nameText.optional(),
  resource: nameText.optional(),
  owner: ownerText.optional(),
  status: z.enum(['pending', 'active']).optional(),
  olderThan: z.string().max(32).optional(),
  limit: countText.optional(),
  cursor: cursorText.optional(),
});
export const ticketQuery = listQuery.omit({ status: true });
export const recordPage = z
  .object({ items: z.array(recordSchema), cursor: z.string().optional() })
  .openapi('LeasePage');

export const revokeBody = z
  .strictObject({
    resource: nameText.optional(),
    under: nameText.optional(),
    leaseId: idText.optional(),
    owner: ownerText.optional(),
    reason: z.string().max(2 * LIMITS.reasonBytes),
    keepOut: duration.optional(),
    upToEpoch: epochNumber.optional().openapi({
      description: 'Ends only what has an epoch up to this one: what was handed on since you looked is spared',
    }),
  })
  .openapi('Revocation');
export const revokedSchema = z.object({ count: z.int(), items: z.array(recordSchema) }).openapi('Revoked');
