// Schemas that several topics share: words, times, durations, parts, records, pages, problems. A schema here bounds size and
// kind; what a name or a duration means is decided in the domain, whose sentence the client then reads.
import { z } from '@hono/zod-openapi';
import { LIMITS } from '../../domain/limits.js';

/** Longer than anything valid: the domain's own check says what is wrong with it. */
const text = (max: number): z.ZodString => z.string().max(max);

export const nameText = text(2 * LIMITS.nameBytes).openapi({ example: 'orders/0' });
export const ownerText = text(2 * LIMITS.ownerBytes).openapi({ example: 'worker-7' });
export const operationIdText = text(2 * LIMITS.reasonBytes);
export const idText = text(128).openapi({ example: '0mhzvk3a1bXgP0JH3kqU2v8w' });
export const cursorText = text(1_024);
export const requestIdText = text(64).openapi({
  description: 'Makes a repeat of this very request safe: the same id is answered again and acts once',
});
export const epochNumber = z.int().min(1).openapi({ example: 1794771000000000 });
export const isoText = text(40).openapi({ format: 'date-time', example: '2026-01-31T12:00:00.000Z' });
export const duration = z
  .union([z.number().min(0).max(LIMITS.maxHoldMs), text(32)])
  .openapi('Duration', { description: "Milliseconds, or text such as '30s', '5m', '1h'", example: '30s' });

/** Numbers of a query come as text. */
const countFrom = (least: number) =>
  z
    .string()
    .regex(/^\d{1,4}$/, 'a whole number, at most 1000')
    .transform(Number)
    .refine((count) => count >= least && count <= LIMITS.rowsPerStep, `from ${least} to 1000`);
export const countText = countFrom(1);
export const countOrNoneText = countFrom(0);
export const numberText = z
  .string()
  .regex(/^\d{1,16}$/, 'a whole number')
  .transform(Number)
  .refine(Number.isSafeInteger, 'a whole number below 2^53');

export const partInput = z
  .strictObject({
    name: nameText,
    scope: z.enum(['node', 'subtree']).optional(),
    mode: z.enum(['exclusive', 'shared']).optional(),
    limit: z.int().min(1).max(LIMITS.sharedLimit).optional(),
  })
  .openapi('PartInput');
export const resourcesInput = z
  .union([nameText, partInput, z.array(z.union([nameText, partInput])).max(LIMITS.partsPerLease)])
  .openapi('Resources', { description: 'A name, a part, or a list of them' });

export const partSchema = z
  .object({
    name: z.string(),
    scope: z.enum(['node', 'subtree']),
    mode: z.enum(['exclusive', 'shared']),
    limit: z.int().optional(),
  })
  .openapi('Part');

export const recordSchema = z
  .object({
    id: z.string(),
    parts: z.array(partSchema),
    owner: z.string(),
    epoch: z.int(),
    status: z.enum(['pending', 'active', 'released', 'expired', 'revoked', 'failed']),
    reason: z.string().optional(),
    ttlMs: z.int(),
    acquiredAt: isoText,
    renewedAt: isoText,
    expiresAt: isoText,
    endedAt: isoText.optional(),
    renewals: z.int(),
    maxRenewals: z.int(),
    skewMs: z.number(),
    operationId: z.string().optional(),
    metadata: z.unknown().optional(),
  })
  .openapi('LeaseRecord');

export const eventSchema = z
  .object({
    id: z.string(),
    type: z.string(),
    at: isoText,
    wallAt: isoText.optional(),
    namespace: z.string(),
    resource: z.string().optional(),
    resources: z.array(z.string()).optional(),
    leaseId: z.string().optional(),
    owner: z.string().optional(),
    epoch: z.int().optional(),
    from: z.string().optional(),
    to: z.string().optional(),
    actor: z.string(),
    reason: z.string().optional(),
    error: z.string().optional(),
    sentence: z.string(),
    data: z.record(z.string(), z.unknown()),
  })
  .openapi('LeaseEvent');

export const problemSchema = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string().openapi({ example: 'ACQUIRE_TIMEOUT' }),
    detail: z.string(),
    retryable: z.boolean(),
  })
  .openapi('Problem', { description: 'RFC 9457; further members are the facts of the error, such as `refusal`' });

export const idParams = z.strictObject({ id: idText });
