// Governing over HTTP (A7, O4): leases taken away, settings read and changed, what has expired written down. The actor of what
// is done here is the token that did it.
import type { RevokeInput } from '../../manager/governing.js';
import type { RevokeTarget } from '../../domain/requests.js';
import { LIMITS } from '../../domain/limits.js';
import { SETTING_NOTES } from '../../domain/setting-notes.js';
import { SETTING_RULES, type SettingKey } from '../../domain/settings.js';
import { actorOf, requireRevoke, requireWhole, visibleLeases } from '../access/index.js';
import { route, type Route } from '../route.js';
import { revokeBody, revokedSchema } from '../schemas/leases.js';
import { settingRulesSchema, settingsBody, settingsSchema, sweptSchema } from '../schemas/looking.js';
import { defined } from './answers.js';

const tag = 'governing';

const revoke = route(
  {
    method: 'post',
    path: '/v1/revocations',
    operationId: 'revokeLeases',
    tag,
    summary: 'End what matches and was there at the call; an empty list is an answer',
    role: 'admin',
    body: revokeBody,
    answers: { 200: { description: 'What was ended: its number, and at most 1,000 records', schema: revokedSchema } },
  },
  async (asked, { desk, leases }) => {
    const { body, caller, request } = asked;
    const { reason, keepOut, upToEpoch, ...target } = defined(body);
    const aim = target as unknown as RevokeTarget;
    const named = 'leaseId' in aim ? await desk.ask('get', (store) => store.get([aim.leaseId])) : undefined;
    requireRevoke(caller, aim, named?.items[0]);
    const order = { ...target, reason, actor: actorOf(caller), ...defined({ keepOut, upToEpoch }) };
    const ended = await leases.revoke(order as RevokeInput);
    asked.note({ data: { ...target, reason, ended: ended.length } });
    return request.json({ count: ended.length, items: visibleLeases(caller, ended.slice(0, LIMITS.rowsPerStep)) });
  },
);

const getConfig = route(
  {
    method: 'get',
    path: '/v1/config',
    operationId: 'readSettings',
    tag,
    summary: 'The settings kept in the store',
    role: 'read',
    answers: { 200: { description: 'All of them', schema: settingsSchema } },
  },
  async ({ request }, { leases }) => request.json(await leases.config.all()),
);

const SETTINGS_TOLD = (Object.keys(SETTING_RULES) as SettingKey[]).map((key) => {
  const { default: usual, allowed, choices } = SETTING_RULES[key];
  return { key, about: SETTING_NOTES[key], default: usual, allowed, ...defined({ choices }) };
});

const rules = route(
  {
    method: 'get',
    path: '/v1/config/rules',
    operationId: 'describeSettings',
    tag,
    summary: 'Every setting: what it does, what it takes, what it is by default',
    role: 'read',
    answers: { 200: { description: 'In the order they are shown', schema: settingRulesSchema } },
  },
  ({ request }) => request.json({ items: SETTINGS_TOLD }),
);

const setConfig = route(
  {
    method: 'patch',
    path: '/v1/config',
    operationId: 'changeSettings',
    tag,
    summary: 'Change settings: all that are named, or none',
    role: 'admin',
    body: settingsBody,
    answers: { 200: { description: 'All settings as they are now', schema: settingsSchema } },
  },
  async (asked, { desk }) => {
    requireWhole(asked.caller);
    asked.note({ data: { keys: Object.keys(asked.body).slice(0, 50) } });
    const { settings } = await desk.ask('settings', (store) => store.setSettings(asked.body));
    return asked.request.json(settings);
  },
);

const sweep = route(
  {
    method: 'post',
    path: '/v1/sweep',
    operationId: 'sweep',
    tag,
    summary: 'Write down what has expired, for the sake of the history',
    role: 'write',
    answers: { 200: { description: 'How many leases', schema: sweptSchema } },
  },
  async (asked, { leases }) => {
    requireWhole(asked.caller);
    const swept = await leases.sweep();
    asked.note({ data: { expired: swept.expired } });
    return asked.request.json(swept);
  },
);

export const governingRoutes: readonly Route[] = [revoke, getConfig, rules, setConfig, sweep];
