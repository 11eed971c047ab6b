// Streams over HTTP (contract, section 7): what is leased, settled, read and kept for a person.
import { z } from '@hono/zod-openapi';
import { LIMITS } from '../../domain/limits.js';
import {
  countText,
  duration,
  epochNumber,
  isoText,
  nameText,
  numberText,
  operationIdText,
  ownerText,
} from './common.js';

const number = z.int().min(1);
const operationId = operationIdText.min(1);
/** N6: where the store may lose what it answered, that has to be accepted. */
const durability = z.literal('accept-loss');
const kind = z.string().max(2 * LIMITS.kindBytes);
const operations = z.array(z.unknown()).min(1).max(LIMITS.numbersPerLease).openapi({
  description: 'One operation for each number of the lease, as plain JSON',
});

export const streamParams = z.strictObject({ stream: nameText });
export const readerParams = z.strictObject({ stream: nameText, reader: z.string().max(256) });
export const streamsQuery = z.strictObject({ after: nameText.optional(), limit: countText.optional() });

const openNumber = z.object({
  number,
  state: z.enum(['leased', 'recovering']),
  operationId: z.string(),
  kind: z.string(),
  owner: z.string(),
  leasedAt: isoText,
  expiresAt: isoText,
  dueAt: isoText,
});
const readerFigures = z.object({ name: z.string(), done: z.int(), distance: z.int(), movedAt: isoText });
export const streamSchema = z
  .object({
    name: z.string(),
    leased: z.int(),
    open: z.int(),
    watermark: z.int(),
    seal: z.int(),
    trimmedBefore: z.int(),
    gaps: z.int(),
    moved: z.int(),
    manual: z.int(),
    oldestOpen: openNumber.optional(),
    readers: z.array(readerFigures),
  })
  .openapi('Stream');
export const streamPage = z.object({ items: z.array(streamSchema), more: z.boolean() }).openapi('StreamPage');
export const readerPage = z.object({ items: z.array(readerFigures) }).openapi('ReaderPage');

export const leaseNumbersBody = z
  .strictObject({
    operationId,
    kind,
    ttl: duration.optional(),
    count: z.int().min(1).max(LIMITS.numbersPerLease).optional(),
    owner: ownerText.optional(),
    durability: durability.optional(),
  })
  .openapi('LeaseNumbers');
export const leasedNumbersSchema = z
  .object({
    first: number,
    count: z.int(),
    numbers: z.array(number),
    operationId: z.string(),
    epoch: z.int(),
    leasedAt: isoText,
    expiresAt: isoText,
    remainingMs: z.number(),
    again: z.boolean(),
  })
  .openapi('LeasedNumbers');

export const commitBody = z.strictObject({ operationId, epoch: epochNumber, operations }).openapi('Commit');
export const committedSchema = z.object({ number, repeated: z.boolean() }).openapi('Committed');
export const releaseNumbersBody = z
  .strictObject({ operationId, epoch: epochNumber, reason: z.string().max(LIMITS.reasonBytes).optional() })
  .openapi('ReleaseNumbers');
export const releasedNumbersSchema = z.object({ released: z.boolean(), again: z.boolean() }).openapi('ReleasedNumbers');

export const readQuery = z.strictObject({
  from: numberText.optional(),
  limit: countText.optional(),
  peek: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
});
const settled = z
  .object({
    number,
    state: z.enum(['committed', 'gap', 'filled', 'moved']),
    operationId: z.string(),
    kind: z.string(),
    operation: z.unknown().optional(),
    movedTo: number.optional(),
    recovery: z
      .object({ originalNumber: number, originalOperationId: z.string(), recoveredAt: isoText, type: z.string() })
      .optional(),
  })
  .openapi('SettledNumber');
export const readSchema = z
  .object({ items: z.array(settled), watermark: z.int(), trimmedBefore: z.int(), next: z.int() })
  .openapi('ReadNumbers');

export const gapsQuery = z.strictObject({ after: numberText.optional(), limit: countText.optional() });
export const gapPage = z
  .object({
    items: z.array(
      z.object({
        number,
        count: z.int(),
        operationId: z.string(),
        kind: z.string(),
        reason: z.string(),
        createdAt: isoText,
        originalExpiry: isoText,
        fillable: z.boolean(),
        sealed: z.boolean(),
        movedTo: number.optional(),
        hasResult: z.boolean(),
      }),
    ),
    more: z.boolean(),
  })
  .openapi('GapPage');
export const fillBody = z
  .strictObject({ number, operationId, operations, owner: ownerText.optional(), durability: durability.optional() })
  .openapi('FillGap');
export const filledSchema = z.object({ number, how: z.string() }).openapi('FilledGap');

export const trimBody = z.strictObject({ before: number }).openapi('Trim');
export const trimmedSchema = z.object({ removed: z.int(), trimmedBefore: z.int() }).openapi('Trimmed');

export const manualPage = z
  .object({
    items: z.array(
      z.object({
        stream: z.string(),
        number,
        count: z.int(),
        operationId: z.string(),
        kind: z.string(),
        reason: z.string(),
        attempts: z.int(),
        lastError: z.string(),
        createdAt: isoText,
        partial: z.unknown().optional(),
        finished: z.array(z.unknown()).optional(),
        isRetryOrdered: z.boolean(),
      }),
    ),
    more: z.boolean(),
  })
  .openapi('ManualPage');
export const manualBody = z.strictObject({ operationId, act: z.enum(['retry', 'discard']) }).openapi('ManualOrder');
export const manualSchema = z.object({ outcome: z.string(), number: number.optional() }).openapi('ManualOutcome');
