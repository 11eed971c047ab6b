// What a call of the sequence port must look like on the wire (contract, sections 7 and 14): see lease-schemas.ts, whose
// rules hold here too. Operations and partial work are any JSON; the store looks into them.
import { z } from 'zod';
import type * as requests from '../../domain/sequence-requests.js';

const name = { stream: z.string(), operationId: z.string() };
const operations = z.array(z.unknown());
const method = z.enum(['partial_work', 'recommitted', 'gap', 'manual', 'failed', 'spool']);

export const leaseNumbers = z.strictObject({
  ...name,
  kind: z.string(),
  ttlMs: z.number(),
  count: z.number(),
  owner: z.string(),
}) satisfies z.ZodType<requests.LeaseNumbers>;

const progress = z.discriminatedUnion('what', [
  z.strictObject({ what: z.literal('look') }),
  z.strictObject({ what: z.literal('renew'), ttlMs: z.number() }),
  z.strictObject({ what: z.literal('partial'), work: z.unknown() }),
  z.strictObject({ what: z.literal('finished'), operations }),
]) satisfies z.ZodType<requests.Progress>;
export const progressItem = z.strictObject({
  ...name,
  epoch: z.number(),
  progress,
}) satisfies z.ZodType<requests.ProgressRequest>;

export const commitItem = z.strictObject({
  ...name,
  epoch: z.number(),
  operations,
}) satisfies z.ZodType<requests.CommitRequest>;

export const releaseNumbers = z.strictObject({
  ...name,
  epoch: z.number(),
  reason: z.string(),
}) satisfies z.ZodType<requests.ReleaseNumbers>;

export const appendItem = z.strictObject({
  ...name,
  kind: z.string(),
  operations,
  owner: z.string(),
  epoch: z.number().optional(),
  type: method,
}) satisfies z.ZodType<requests.AppendRequest>;

export const fillItem = z.strictObject({
  ...name,
  number: z.number(),
  operations,
  owner: z.string(),
}) satisfies z.ZodType<requests.FillRequest>;

export const claimRenewal = z.strictObject({
  ...name,
  claimEpoch: z.number(),
  ttlMs: z.number(),
}) satisfies z.ZodType<requests.ClaimRenewal>;

const settlement = z.discriminatedUnion('to', [
  z.strictObject({ to: z.literal('commit') }),
  z.strictObject({ to: z.literal('move'), operations, type: method }),
  z.strictObject({ to: z.literal('gap'), reason: z.string(), againAfterMs: z.number().optional() }),
  z.strictObject({ to: z.literal('retry'), error: z.string(), afterMs: z.number() }),
  z.strictObject({ to: z.literal('manual'), reason: z.string(), error: z.string() }),
]) satisfies z.ZodType<requests.Settlement>;
export const settleItem = z.strictObject({
  ...name,
  claimEpoch: z.number(),
  settlement,
}) satisfies z.ZodType<requests.SettleRequest>;

const claimOrder = z.strictObject({
  stream: z.string().optional(),
  limit: z.number(),
  owner: z.string(),
  ttlMs: z.number(),
  gapsToo: z.boolean(),
}) satisfies z.ZodType<requests.ClaimOrder>;

const readOrder = z.strictObject({
  stream: z.string(),
  from: z.number(),
  limit: z.number(),
  seal: z.boolean(),
  watch: z.boolean(),
}) satisfies z.ZodType<requests.ReadOrder>;

const barrierOrder = z.strictObject({
  stream: z.string(),
  number: z.number(),
  watch: z.boolean(),
}) satisfies z.ZodType<requests.BarrierOrder>;

const reader = { stream: z.string(), reader: z.string() };
const cursorOrder = z.discriminatedUnion('act', [
  z.strictObject({ ...reader, act: z.literal('open') }),
  z.strictObject({ ...reader, act: z.literal('done'), number: z.number(), epoch: z.number() }),
  z.strictObject({ ...reader, act: z.literal('forget') }),
]) satisfies z.ZodType<requests.CursorOrder>;

const trimOrder = z.strictObject({
  stream: z.string(),
  before: z.number(),
  limit: z.number(),
}) satisfies z.ZodType<requests.TrimOrder>;

const gapQuery = z.strictObject({
  stream: z.string(),
  after: z.number(),
  limit: z.number(),
}) satisfies z.ZodType<requests.GapQuery>;

const manualQuery = z.strictObject({
  stream: z.string().optional(),
  after: z.strictObject({ stream: z.string(), number: z.number() }).optional(),
  limit: z.number(),
}) satisfies z.ZodType<requests.ManualQuery>;

const manualOrder = z.strictObject({
  ...name,
  act: z.enum(['retry', 'discard']),
  actor: z.string(),
}) satisfies z.ZodType<requests.ManualOrder>;

const streamQuery = z.strictObject({
  stream: z.string().optional(),
  after: z.string().optional(),
  limit: z.number(),
}) satisfies z.ZodType<requests.StreamQuery>;

/** The arguments of the methods that take no list. */
export const sequenceArguments = {
  ready: z.tuple([z.strictObject({ acceptLoss: z.boolean() })]),
  claim: z.tuple([claimOrder]),
  read: z.tuple([readOrder]),
  barrier: z.tuple([barrierOrder]),
  cursor: z.tuple([cursorOrder]),
  trim: z.tuple([trimOrder]),
  gaps: z.tuple([gapQuery]),
  manualItems: z.tuple([manualQuery]),
  manual: z.tuple([manualOrder]),
  streams: z.tuple([streamQuery]),
} as const;
