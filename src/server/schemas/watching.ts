// What the routes that keep watch answer: alerts, figures of the last hour, what the doctor found.
import { z } from '@hono/zod-openapi';
import { isoText } from './common.js';

export const alertSchema = z
  .object({
    alert: z.string(),
    severity: z.string(),
    state: z.string(),
    since: isoText.optional(),
    value: z.number(),
    threshold: z.number(),
    summary: z.string(),
    runbook: z.string(),
  })
  .openapi('Alert');
export const alertsSchema = z.object({ items: z.array(alertSchema) });

/** A moment, as the server itself writes it: it is compared with others. */
export const figuresQuery = z.strictObject({
  after: isoText
    .refine((text) => !Number.isNaN(Date.parse(text)), 'a time such as 2026-01-31T12:00:00.000Z')
    .optional(),
});

const sum = z.int();
const sampleSchema = z
  .object({
    at: isoText,
    acquired: sum,
    refused: sum.openapi({ description: 'By this server: a refusal leaves nothing in the log' }),
    failed: sum.openapi({ description: 'Waits that ended in a timeout or a deadlock; errors of this server' }),
    waiting: z.int().openapi({ description: 'At that moment' }),
    held: z.int().openapi({ description: 'At that moment' }),
    renewed: sum.openapi({ description: 'Through this server' }),
    renewalsFailed: sum.openapi({ description: 'Through this server' }),
    expired: sum.openapi({ description: 'Leases and leased numbers' }),
    overrunMs: sum.openapi({ description: 'How long after their end the expired ones were written down, in all' }),
  })
  .openapi('FigureSample', { description: 'Sums only grow: the difference of two is what happened between them' });
export const figuresSchema = z
  .object({
    server: z.string().openapi({ description: 'Whose samples these are: those of another do not go on from them' }),
    everyMs: z.int(),
    items: z.array(sampleSchema),
  })
  .openapi('Figures');

const findingSchema = z.object({
  check: z.string(),
  severity: z.enum(['wrong', 'warning', 'note']),
  what: z.string(),
  evidence: z.array(z.string()),
  next: z.string(),
  runbook: z.string(),
});
export const diagnosisSchema = z
  .looseObject({ verdict: z.enum(['wrong', 'warning', 'well']), findings: z.array(findingSchema) })
  .openapi('Diagnosis');
