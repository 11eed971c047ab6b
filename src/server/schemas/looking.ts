// What the routes that look and govern take and answer: resources, history, settings, time, the wait graph, who asks.
import { z } from '@hono/zod-openapi';
import { DEFAULT_SETTINGS, SETTING_RULES } from '../../domain/settings.js';
import {
  countOrNoneText,
  countText,
  cursorText,
  eventSchema,
  idText,
  isoText,
  nameText,
  ownerText,
  recordSchema,
} from './common.js';

/** `history=0`: none of its events is looked for. */
export const resourceQuery = z.strictObject({ name: nameText, history: countOrNoneText.optional() });
export const resourceSchema = z
  .object({
    holders: z.array(recordSchema),
    queue: z.array(recordSchema),
    holderCount: z.int().openapi({ description: 'With those the token may not see' }),
    queueLength: z.int().openapi({ description: 'With those the token may not see' }),
    blockedMs: z.number(),
    history: z.array(eventSchema),
  })
  .openapi('ResourceView');

/** As many as a screen shows. */
const MOST_IDS = 100;
export const lookupQuery = z.strictObject({
  ids: z
    .string()
    .max(MOST_IDS * 129)
    .transform((text) => [...new Set(text.split(','))])
    .refine((ids) => ids.length <= MOST_IDS && ids.every((id) => /^[\w-]{1,128}$/.test(id)), {
      error: `ids of leases with commas between them, at most ${MOST_IDS}`,
    })
    .openapi({ example: '0mhzvk3a1bXgP0JH3kqU2v8w' }),
});
export const lookupSchema = z.object({ items: z.array(recordSchema) }).openapi('LeaseRecords');

export const historyQuery = z.strictObject({
  prefix: nameText.optional(),
  resource: nameText.optional(),
  owner: ownerText.optional(),
  leaseId: idText.optional(),
  type: z.string().max(64).optional(),
  since: isoText.optional(),
  until: isoText.optional(),
  limit: countText.optional(),
  cursor: cursorText.optional(),
  format: z.enum(['json', 'csv']).optional(),
});
export const historyPage = z
  .object({ items: z.array(eventSchema), cursor: z.string().optional() })
  .openapi('HistoryPage');

const setting = (value: unknown): z.ZodType => {
  if (typeof value === 'boolean') return z.boolean();
  return typeof value === 'number' ? z.number() : z.string().max(4_096);
};
const settings = Object.entries(DEFAULT_SETTINGS).map(([key, value]) => {
  const { allowed } = SETTING_RULES[key as keyof typeof SETTING_RULES];
  return [key, setting(value).openapi({ description: allowed, example: value })] as const;
});
export const settingsSchema = z.object(Object.fromEntries(settings)).openapi('Settings');
/** Unknown keys are the store's to refuse: it says which are known. */
export const settingsBody = z.record(z.string().max(128), z.unknown()).openapi('SettingsChanges', {
  description: 'Settings by name; all of them are taken or none',
});

const settingValue = z.union([z.boolean(), z.number(), z.string()]);
export const settingRulesSchema = z
  .object({
    items: z.array(
      z.object({
        key: z.string(),
        about: z.string(),
        default: settingValue,
        allowed: z.string(),
        choices: z.array(settingValue).optional(),
      }),
    ),
  })
  .openapi('SettingRules');

export const sweptSchema = z.object({ expired: z.int(), overrunMaxMs: z.number() }).openapi('Swept');
export const timeSchema = z
  .object({ storeNow: isoText, skewMs: z.number(), roundTripMs: z.number() })
  .openapi('StoreTime');

const waitedLease = z.object({ id: z.string(), owner: z.string(), resource: z.string() });
export const waitGraphSchema = z
  .object({
    tickets: z.array(
      z.object({
        id: z.string(),
        owner: z.string(),
        resource: z.string(),
        arrival: z.number(),
        holding: z.array(z.string()),
        waitsForLeases: z.array(waitedLease),
        waitsForTickets: z.array(z.string()),
        waitsForOneOf: z.object({ leases: z.array(waitedLease), tickets: z.array(z.string()) }).optional(),
      }),
    ),
  })
  .openapi('WaitGraph');

export const whoamiSchema = z
  .object({
    name: z.string(),
    role: z.enum(['read', 'write', 'admin']),
    tokenId: z.string().optional(),
    prefix: z.string().optional(),
    owner: z.string().optional(),
    namespace: z.string(),
    store: z.string(),
    version: z.string(),
  })
  .openapi('Whoami');

export const healthSchema = z.object({ ok: z.boolean() }).openapi('Health');
export const readySchema = z.object({ ready: z.boolean(), state: z.string() }).openapi('Readiness');
