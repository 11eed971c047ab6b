// The words of the server, as types: taken from the very schemas that check its answers, so the page cannot drift from them.
// Only types cross this border; nothing of the server is in the bundle.
import type { z } from '@hono/zod-openapi';
import type { eventSchema, partSchema, recordSchema } from '../../../src/server/schemas/common.js';
import type { recordPage, revokedSchema } from '../../../src/server/schemas/leases.js';
import type {
  historyPage,
  lookupSchema,
  resourceSchema,
  settingRulesSchema,
  settingsSchema,
  timeSchema,
  waitGraphSchema,
  whoamiSchema,
} from '../../../src/server/schemas/looking.js';
import type {
  gapPage,
  manualPage,
  manualSchema,
  streamPage,
  streamSchema,
} from '../../../src/server/schemas/streams.js';
import type { madeTokenSchema, tokenBody, tokenPage, tokenSchema } from '../../../src/server/schemas/tokens.js';
import type {
  alertSchema,
  alertsSchema,
  diagnosisSchema,
  figuresSchema,
} from '../../../src/server/schemas/watching.js';

export type Part = z.output<typeof partSchema>;
export type LeaseRecord = z.output<typeof recordSchema>;
export type LeaseEvent = z.output<typeof eventSchema>;
export type LeasePage = z.output<typeof recordPage>;
export type Lookup = z.output<typeof lookupSchema>;
export type Revoked = z.output<typeof revokedSchema>;
export type ResourceView = z.output<typeof resourceSchema>;
export type HistoryPage = z.output<typeof historyPage>;
export type StoreTime = z.output<typeof timeSchema>;
export type WaitGraph = z.output<typeof waitGraphSchema>;
export type Whoami = z.output<typeof whoamiSchema>;
export type StreamView = z.output<typeof streamSchema>;
export type StreamPage = z.output<typeof streamPage>;
export type GapPage = z.output<typeof gapPage>;
export type Gap = GapPage['items'][number];
export type ManualPage = z.output<typeof manualPage>;
export type ManualItem = ManualPage['items'][number];
export type ManualOutcome = z.output<typeof manualSchema>;
export type Alert = z.output<typeof alertSchema>;
export type Alerts = z.output<typeof alertsSchema>;
export type Diagnosis = z.output<typeof diagnosisSchema>;
export type Finding = Diagnosis['findings'][number];
export type Figures = z.output<typeof figuresSchema>;
export type FigureSample = Figures['items'][number];
export type Settings = z.output<typeof settingsSchema>;
export type SettingRules = z.output<typeof settingRulesSchema>;
export type SettingRule = SettingRules['items'][number];
export type Token = z.output<typeof tokenSchema>;
export type TokenPage = z.output<typeof tokenPage>;
export type NewToken = z.input<typeof tokenBody>;
export type MadeToken = z.output<typeof madeTokenSchema>;
export type Role = Whoami['role'];
