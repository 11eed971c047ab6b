// Tokens as they are asked for and shown (W3). The secret is in one answer only, the one to its making.
import { z } from '@hono/zod-openapi';
import { duration, isoText, nameText, ownerText } from './common.js';

const role = z.enum(['read', 'write', 'admin']);

export const tokenBody = z
  .strictObject({
    name: z.string().max(256),
    role,
    prefix: nameText.optional(),
    owner: ownerText.optional(),
    expiresIn: duration.optional(),
  })
  .openapi('NewToken');

export const tokenSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    role,
    prefix: z.string().optional(),
    owner: z.string().optional(),
    createdAt: isoText,
    createdBy: z.string(),
    expiresAt: isoText.optional(),
  })
  .openapi('Token');
export const madeTokenSchema = tokenSchema
  .extend({ secret: z.string().openapi({ description: 'Shown once: `Authorization: Bearer` takes it' }) })
  .openapi('MadeToken');
export const tokenPage = z.object({ items: z.array(tokenSchema) }).openapi('TokenPage');
