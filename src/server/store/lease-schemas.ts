// What a call of the lease port must look like on the wire (contract, section 14): its arguments, in order, every field
// named and typed, nothing else let in. Bounds and names are checked by the store itself, so that every store refuses the
// same request with the same words; here a value only gets the type it claims to have.
import { z } from 'zod';
import type * as requests from '../../domain/requests.js';
import type { PruneOrder } from '../../stores/store.js';

const part = z.strictObject({
  name: z.string(),
  scope: z.enum(['node', 'subtree']),
  mode: z.enum(['exclusive', 'shared']),
  limit: z.number().exactOptional(),
});

/** `metadata` is whatever JSON the caller keeps with its lease; the store looks into it. */
export const acquireItem = z.strictObject({
  id: z.string(),
  bornAt: z.number(),
  owner: z.string(),
  parts: z.array(part),
  ttlMs: z.number(),
  priority: z.number(),
  join: z.boolean(),
  holding: z.array(z.string()),
  upgrades: z.strictObject({ id: z.string(), epoch: z.number() }).optional(),
  reclaim: z.boolean(),
  maxRenewals: z.number(),
  maxHoldMs: z.number().optional(),
  minHoldMs: z.number(),
  lockDelayMs: z.number(),
  operationId: z.string().optional(),
  metadata: z.unknown().optional(),
  remote: z.boolean(),
  callerWall: z.number(),
}) satisfies z.ZodType<requests.AcquireRequest>;

export const renewItem = z.strictObject({
  id: z.string(),
  epoch: z.number(),
  requestId: z.string(),
  ttlMs: z.number().optional(),
  callerWall: z.number(),
}) satisfies z.ZodType<requests.RenewRequest>;

export const endItem = z.strictObject({
  id: z.string(),
  epoch: z.number().optional(),
  requestId: z.string(),
  why: z.enum(['released', 'timeout', 'cancelled']),
}) satisfies z.ZodType<requests.EndRequest>;

const authority = { id: z.string(), epoch: z.number(), requestId: z.string() };
export const changeItem = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('delegate'), ...authority, toOwner: z.string() }),
  z.strictObject({ kind: z.literal('resume'), ...authority, toOwner: z.string(), callerWall: z.number() }),
  z.strictObject({ kind: z.literal('downgrade'), ...authority }),
]) satisfies z.ZodType<requests.ChangeRequest>;

const target = z.union([
  z.strictObject({ resource: z.string() }),
  z.strictObject({ under: z.string() }),
  z.strictObject({ leaseId: z.string() }),
  z.strictObject({ owner: z.string() }),
]) satisfies z.ZodType<requests.RevokeTarget>;
const revokeOrder = z.strictObject({
  target,
  reason: z.string(),
  actor: z.string(),
  upToEpoch: z.number(),
  keepOutMs: z.number(),
}) satisfies z.ZodType<requests.RevokeOrder>;

const eventQuery = z.strictObject({
  after: z.string().optional(),
  backward: z.boolean().optional(),
  before: z.string().optional(),
  limit: z.number(),
  resource: z.string().optional(),
  prefix: z.string().optional(),
  leaseId: z.string().optional(),
  owner: z.string().optional(),
  type: z.string().optional(),
  since: z.number().optional(),
  until: z.number().optional(),
}) satisfies z.ZodType<requests.EventQuery>;

const listFilter = z.strictObject({
  prefix: z.string().optional(),
  resource: z.string().optional(),
  owner: z.string().optional(),
  status: z.enum(['pending', 'active']).optional(),
  olderThanMs: z.number().optional(),
  limit: z.number(),
  cursor: z.string().optional(),
}) satisfies z.ZodType<requests.ListFilter>;

const pruneOrder = z.strictObject({
  olderThanMs: z.number().min(0),
  upTo: z.string().optional(),
  limit: z.number(),
}) satisfies z.ZodType<PruneOrder>;

/** The arguments of the methods that take no list. */
export const leaseArguments = {
  none: z.tuple([]),
  revoke: z.tuple([revokeOrder]),
  failTicket: z.tuple([z.strictObject({ id: z.string(), cycle: z.array(z.string()) })]),
  sweep: z.tuple([z.strictObject({ limit: z.number() })]),
  events: z.tuple([eventQuery]),
  prune: z.tuple([pruneOrder]),
  setSettings: z.tuple([z.record(z.string(), z.unknown())]),
  get: z.tuple([z.array(z.string())]),
  list: z.tuple([listFilter]),
  show: z.tuple([z.string(), z.number()]),
  migrate: z.tuple([z.strictObject({ dryRun: z.boolean() })]),
} as const;
